package gen

import "slices"

// Documents is an endless row of JSON documents that differ in their ids, and
// in the letters and digits of their leaves. Document n depends on nothing but
// the seed, the template and n.
type Documents struct {
	Seed     uint64
	Template *Template
}

const (
	idPrefix = "doc-"
	idZeros  = "0000000000" // the digits of id 0
)

// ID returns the id of document n, such as "doc-0000000042", for n below
// 10^10. Ids sort as their numbers do.
func (d Documents) ID(n int64) string {
	id := []byte(idPrefix + idZeros)
	putNumber(id[len(idPrefix):], n)
	return string(id)
}

// Append appends document n to dst, in Template.Size bytes. It begins with
//
//	{"_id":"doc-0000000042"
//
// so that members such as _rev or _attachments can be put behind the brace.
func (d Documents) Append(dst []byte, n int64) []byte {
	start := len(dst)
	dst = slices.Grow(dst, d.Template.size)[:start+d.Template.size]
	doc := dst[start:]
	d.Template.vary(doc, stream(keyOf(d.Seed, uint64(n))))
	putNumber(doc[len(documentHead):][:len(idZeros)], n)
	return dst
}

// putNumber writes the last digits of n that digits has room for.
func putNumber(digits []byte, n int64) {
	rest := uint64(n)
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = byte('0' + rest%10)
		rest /= 10
	}
}
