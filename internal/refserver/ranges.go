package refserver

import (
	"fmt"
	"strconv"
	"strings"
)

// byteRange is a part of an attachment, both ends included.
type byteRange struct{ from, to int64 }

func (r byteRange) length() int64 { return r.to - r.from + 1 }

func (r byteRange) contentRange(size int64) string {
	return fmt.Sprintf("bytes %d-%d/%d", r.from, r.to, size)
}

// maxRanges and more are not served in parts: the whole is sent, as in CouchDB.
const maxRanges = 10

// parseRanges reads a Range header for size bytes. No ranges means that the whole
// is to be sent: there is no header, it is not understood, or it asks for the
// whole ("bytes=0-"). A range with nothing in it is errRange.
func parseRanges(header string, size int64) ([]byteRange, error) {
	list, ok := strings.CutPrefix(strings.TrimSpace(header), "bytes=")
	if !ok {
		return nil, nil
	}
	type bounds struct {
		from, to int64
		open     [2]bool // no first, no last byte
	}
	var asked []bounds
	for item := range strings.SplitSeq(list, ",") {
		first, last, ok := strings.Cut(strings.TrimSpace(item), "-")
		var b bounds
		var err1, err2 error
		if b.open[0] = first == ""; !b.open[0] {
			b.from, err1 = strconv.ParseInt(first, 10, 64)
		}
		if b.open[1] = last == ""; !b.open[1] {
			b.to, err2 = strconv.ParseInt(last, 10, 64)
		}
		if !ok || err1 != nil || err2 != nil || b.from < 0 || b.to < 0 || b.open[0] && b.open[1] {
			return nil, nil
		}
		asked = append(asked, b)
	}
	var out []byteRange
	for _, b := range asked {
		r := byteRange{b.from, min(b.to, size-1)}
		switch {
		case b.open[0]:
			r = byteRange{max(size-b.to, 0), size - 1}
		case b.open[1] && b.from == 0:
			return nil, nil
		case b.open[1]:
			r.to = size - 1
		}
		if r.to < r.from {
			return nil, errRange
		}
		out = append(out, r)
	}
	return out, nil
}
