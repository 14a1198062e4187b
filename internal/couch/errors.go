package couch

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Error is an answer that says no.
type Error struct {
	Op, Target string        // what was done, to what: `put`, `/db/doc`
	Status     int           // HTTP status
	Code       string        // CouchDB's "error": "too_large"; "" where the answer has none
	Reason     string        // CouchDB's "reason", or a short text of what came instead
	HTML       bool          // the answer was a page: not CouchDB's own
	RetryAfter time.Duration // as the answer tells; 0 = it does not
}

func (e *Error) Error() string {
	s := e.summary()
	if a := e.Advice(); a != "" {
		s += ": " + a
	}
	if e.Op == "" {
		return s
	}
	return strings.TrimSpace(e.Op+" "+e.Target) + ": " + s
}

// summary is status, code and reason.
func (e *Error) summary() string {
	s := fmt.Sprint(e.Status)
	if e.Code != "" {
		s += " " + e.Code
	} else if t := http.StatusText(e.Status); t != "" {
		s += " " + t
	}
	if e.Reason != "" && !strings.EqualFold(e.Reason, http.StatusText(e.Status)) {
		s += " (" + e.Reason + ")"
	}
	return s
}

// Advice is what the answer means and what to do, "" where there is nothing to
// add. Codes and statuses are those of chttpd:error_info (fact 11).
func (e *Error) Advice() string {
	switch {
	case e.Status == 413 && (e.HTML || e.Code == ""):
		return "something in front of the server limits the size of a request (nginx: client_max_body_size)"
	case e.Code == "attachment_too_large":
		return "the server's max_attachment_size is smaller than the attachment"
	case e.Code == "document_too_large":
		return "the server's max_document_size is smaller than the document without its attachments"
	case e.Status == 413:
		return "the server's max_http_request_size is smaller than the request"
	case e.Code == "file_exists":
		return "a database of this name is there already"
	case e.Code == "missing_stub":
		return "the document names an attachment that this server does not have: send it whole"
	case e.Code == "nodedown":
		return "too few nodes of the cluster are up, or one is in maintenance mode"
	case e.Status == 401:
		return "user or password are wrong, or an admin is needed"
	case e.Status == 429 && e.RetryAfter > 0:
		return fmt.Sprintf("the server asks to wait %v", e.RetryAfter)
	case e.Status == 500 && e.Code == "timeout":
		return "the server gave up: [fabric] request_timeout is 60 s unless set"
	case e.Status >= 300 && e.Status < 400:
		return "give that URL instead; redirects are not followed"
	}
	return ""
}

// maxErrorBody is how much of an error's body is read, in bytes.
const maxErrorBody = 64 << 10

// Check returns nil for an answer below 300, and otherwise an *Error made of
// it, having read and closed its body. The body may be JSON under any
// Content-Type (case U12), or a proxy's page (fact 11).
func Check(resp *http.Response, op, target string) error {
	if resp.StatusCode < 300 {
		return nil
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what came before an error is all there is to tell
	resp.Body.Close()
	e := &Error{Op: op, Target: target, Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header, time.Now())}
	if resp.StatusCode < 400 {
		e.Reason = "redirects to " + Redact(resp.Header.Get("Location"))
		return e
	}
	e.read(b)
	return e
}

// read fills in what the body says.
func (e *Error) read(body []byte) {
	var said struct {
		Error  json.RawMessage `json:"error"`
		Reason json.RawMessage `json:"reason"`
	}
	if json.Unmarshal(body, &said) == nil && (said.Error != nil || said.Reason != nil) {
		e.Code, e.Reason = Redact(jsonText(said.Error)), Redact(jsonText(said.Reason))
		return
	}
	text := string(body)
	e.HTML = strings.Contains(strings.ToLower(text), "<html") || strings.HasPrefix(strings.TrimSpace(text), "<")
	e.Reason = Redact(shortText(text))
}

// jsonText is a JSON string's content, or other JSON as it is, on one line.
func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	return oneLine(s)
}

var (
	invisible = regexp.MustCompile(`(?is)<(style|script|head)\b.*?</(style|script|head)>`)
	tag       = regexp.MustCompile(`<[^>]*>`)
)

// shortText is the visible text of a page, on one line.
func shortText(s string) string {
	return oneLine(html.UnescapeString(tag.ReplaceAllString(invisible.ReplaceAllString(s, " "), " ")))
}

// longestText is how much of a server's text goes into a message, in bytes.
const longestText = 160

// oneLine joins lines, and cuts a text that is longer than a message should be.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) > longestText {
		s = strings.ToValidUTF8(s[:longestText], "") + "…"
	}
	return s
}
