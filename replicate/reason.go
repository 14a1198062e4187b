package replicate

import (
	"regexp"
	"strings"

	"couchgauge/internal/couch"
)

// pid is an Erlang process in a reason: it tells nobody anything.
var pid = regexp.MustCompile(`<[0-9]+\.[0-9]+\.[0-9]+>,?`)

// quotedURL is a URL inside an Erlang term.
var quotedURL = regexp.MustCompile(`https?://[^"\s,}]+`)

// innermost makes one line of a server's reason. CouchDB's are often nested
// Erlang terms, of which only the innermost says what happened:
//
//	{session_request_failed,"http://h/_session","admin",{conn_failed,{error,econnrefused}}}
//
// becomes "econnrefused (http://h/_session)".
func innermost(reason string) string {
	reason = couch.Redact(strings.Join(strings.Fields(pid.ReplaceAllString(reason, "")), " "))
	head, term, ok := strings.Cut(reason, "{")
	if !ok {
		return reason
	}
	term = "{" + term
	deepest, depth, at, quoted := 0, 0, 0, false
	for i := 0; i < len(term); i++ {
		switch c := term[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			if depth++; depth > deepest {
				deepest, at = depth, i+1
			}
		case c == '}':
			depth--
		}
	}
	core, _, _ := strings.Cut(term[at:], "}")
	core = strings.TrimPrefix(strings.Trim(core, " ,"), "error,")
	core = strings.TrimSpace(strings.ReplaceAll(core, `"`, ""))
	if where := quotedURL.FindString(term); where != "" && !strings.Contains(core, where) {
		core += " (" + where + ")"
	}
	if head = strings.Trim(head, " :"); head != "" {
		core = head + ": " + core
	}
	return core
}
