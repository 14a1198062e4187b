package couch

import "strings"

// EscapeSegment escapes a text so that it is one segment of a path: '/' is
// %2F, '+' is %2B (servers read a bare '+' as a space, fact 10), a space %20.
func EscapeSegment(s string) string {
	if s == "." || s == ".." { // servers and proxies would resolve them
		return strings.ReplaceAll(s, ".", "%2E")
	}
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(s)+16)
	for i := range len(s) {
		c := s[i]
		if unreserved(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(b)
}

// unreserved tells the bytes that need no escaping anywhere (RFC 3986, 2.3).
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '_' || c == '.' || c == '~'
}

// EscapeDocID escapes a document id. The prefixes "_design/" and "_local/"
// keep their slash: they are part of the path (CouchDB docs, "Design
// documents" and "Local documents").
func EscapeDocID(id string) string {
	for _, p := range []string{"_design/", "_local/"} {
		if rest, ok := strings.CutPrefix(id, p); ok {
			return p + EscapeSegment(rest)
		}
	}
	return EscapeSegment(id)
}

// DocPath is the escaped path of a document: "db/id".
func DocPath(db, id string) string { return EscapeSegment(db) + "/" + EscapeDocID(id) }

// AttachmentPath is the escaped path of an attachment: "db/id/name". Slashes
// in the name are escaped too.
func AttachmentPath(db, id, name string) string {
	return DocPath(db, id) + "/" + EscapeSegment(name)
}
