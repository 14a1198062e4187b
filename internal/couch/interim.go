package couch

import "bytes"

// longestInterim is how much of the informational answers to a request is kept,
// in bytes.
const longestInterim = 4 << 10

// interim keeps the heads of informational answers (100 Continue) as they came.
// net/http takes "Connection: close" out of them and does not heed it, so that
// it would write the next request into a connection that is about to close
// (case U9).
type interim struct{ kept []byte }

var (
	interimStart = []byte("HTTP/1.1 1")
	headEnd      = []byte("\r\n\r\n")
)

// see looks at bytes that were read. A head begins where a read begins, and
// net/http tells of it before it reads on.
func (i *interim) see(p []byte) {
	switch {
	case bytes.HasPrefix(p, interimStart):
		i.kept = i.kept[:0]
	case len(i.kept) == 0 || bytes.Contains(i.kept, headEnd):
		return
	}
	i.kept = append(i.kept, p[:min(len(p), longestInterim-len(i.kept))]...)
}

// announcesClose tells whether one of the heads says "Connection: close".
func (i *interim) announcesClose() bool {
	rest := i.kept
	for bytes.HasPrefix(rest, interimStart) {
		var head []byte
		head, rest, _ = bytes.Cut(rest, headEnd)
		for line := range bytes.SplitSeq(head, []byte("\r\n")) {
			name, value, _ := bytes.Cut(line, []byte(":"))
			if bytes.EqualFold(name, []byte("Connection")) && hasOption(value, []byte("close")) {
				return true
			}
		}
	}
	return false
}

// hasOption tells whether a list with commas holds an option.
func hasOption(list, option []byte) bool {
	for o := range bytes.SplitSeq(list, []byte(",")) {
		if bytes.EqualFold(bytes.TrimSpace(o), option) {
			return true
		}
	}
	return false
}
