package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// part is an attachment and where its content comes from.
type part struct {
	attachment
	content io.Reader
}

// put sends one document with new_edits=false. Attachments follow as
// multipart/related in the order of the document's keys, with a length known
// beforehand (facts 4 and 5).
func (e *endpoint) put(ctx context.Context, id string, doc []byte, atts []part, expect bool) error {
	m := request{method: http.MethodPut, path: docPath(id), query: url.Values{"new_edits": {"false"}}, expect: expect, edits: true}
	if len(atts) == 0 {
		m.body = doc
	} else {
		boundary := rand.Text()
		m.stream, m.streamLen = related(boundary, doc, atts)
		m.streamType = `multipart/related; boundary="` + boundary + `"`
	}
	return e.once(ctx, m, func(*http.Response) error { return nil })
}

// related is the message and its length.
func related(boundary string, doc []byte, atts []part) (io.Reader, int64) {
	var readers []io.Reader
	var length int64
	head := fmt.Appendf(nil, "--%s\r\nContent-Type: application/json\r\n\r\n%s", boundary, doc)
	for _, a := range atts {
		head = fmt.Appendf(head, "\r\n--%s\r\nContent-Disposition: attachment; filename=%s\r\n", boundary, filename(a.name))
		if a.contentType != nil {
			head = fmt.Appendf(head, "Content-Type: %s\r\n", text(a.contentType))
		}
		head = fmt.Appendf(head, "Content-Length: %d\r\n", a.size())
		if a.encoding != "" {
			head = fmt.Appendf(head, "Content-Encoding: %s\r\n", a.encoding)
		}
		head = append(head, "\r\n"...)
		readers = append(readers, bytes.NewReader(head), &exactly{r: a.content, name: a.name, left: a.size()})
		length += int64(len(head)) + a.size()
		head = nil
	}
	tail := fmt.Appendf(nil, "\r\n--%s--", boundary)
	return io.MultiReader(append(readers, bytes.NewReader(tail))...), length + int64(len(tail))
}

// filename is a quoted string; header lines cannot hold line breaks, and the
// name that counts is the one in the JSON.
func filename(name string) string {
	return `"` + strings.NewReplacer("\\", "\\\\", `"`, `\"`, "\r", " ", "\n", " ").Replace(name) + `"`
}

// exactly reads left bytes of r, and fails when there are fewer or more.
type exactly struct {
	r    io.Reader
	name string
	left int64
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.left > 0 && int64(len(p)) > e.left {
		p = p[:e.left]
	}
	n, err := e.r.Read(p)
	e.left -= int64(n)
	switch {
	case e.left < 0:
		return 0, fmt.Errorf("attachment %q is longer than the source says", e.name)
	case err == io.EOF && e.left > 0:
		return n, fmt.Errorf("attachment %q ends %d bytes early: %w", e.name, e.left, io.ErrUnexpectedEOF)
	}
	return n, err
}

// quote is a JSON string.
func quote(s string) []byte {
	b, _ := json.Marshal(s) // strings always encode
	return b
}
