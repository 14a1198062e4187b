package refserver

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
)

// rev names a revision: its generation and its id. An id written as 32
// hexadecimal digits is held as its 16 bytes, any other id as it is: that is
// how CouchDB holds and therefore orders them (couch_doc:parse_revid).
type rev struct {
	pos int
	id  string
}

// compare orders revisions by generation, then by id: CouchDB's order of winners.
func (r rev) compare(o rev) int {
	if c := cmp.Compare(r.pos, o.pos); c != 0 {
		return c
	}
	return strings.Compare(r.id, o.id)
}

// String is the form on the wire, "3-917fa2…".
func (r rev) String() string {
	return strconv.Itoa(r.pos) + "-" + revIDText(r.pos, r.id)
}

// revIDText is the id alone, as `_revisions.ids` lists it.
func revIDText(pos int, id string) string {
	if pos != 0 && len(id) == md5.Size {
		return hex.EncodeToString([]byte(id))
	}
	return id
}

// parseRevID is the opposite of revIDText; ok is false for 32 characters that
// are not hexadecimal.
func parseRevID(pos int, text string) (id string, ok bool) {
	if pos == 0 || len(text) != hex.EncodedLen(md5.Size) {
		return text, true
	}
	raw, err := hex.DecodeString(text)
	return string(raw), err == nil
}

var errRevFormat = badRequest("Invalid rev format")

// parseRev reads a revision as it is written on the wire.
func parseRev(text string) (rev, error) {
	gen, id, found := strings.Cut(text, "-")
	pos, err := strconv.Atoi(gen)
	if !found || err != nil {
		return rev{}, errRevFormat
	}
	raw, ok := parseRevID(pos, id)
	if !ok {
		return rev{}, errRevFormat
	}
	return rev{pos: pos, id: raw}, nil
}

// newRevID is the id of the revision that an edit makes. It depends on nothing
// but the edit, so that the same edit on two servers makes the same revision.
func newRevID(deleted bool, base rev, body []byte, atts []attachment) string {
	h := md5.New()
	var n [8]byte
	part := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	flag := []byte{0}
	if deleted {
		flag[0] = 1
	}
	part(flag)
	part([]byte(strconv.Itoa(base.pos)))
	part([]byte(base.id))
	part(body)
	for _, a := range atts {
		part([]byte(a.name))
		part([]byte(a.contentType))
		part(a.digest[:])
	}
	return string(h.Sum(nil))
}
