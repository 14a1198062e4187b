package refserver

import (
	"crypto/md5"
	"encoding/binary"
	"errors"
)

// The records in a database's bbolt file. All numbers are unsigned varints,
// strings have their length before them.
//
//	docs:   id  -> alive (1) or deleted (0), seq, nodes (delta to parent, pos at roots, flags, id, body, …)
//	seqs:   seq -> id, leaves (pos, flags, id), the winner first
//	bodies: key -> attachments, then the JSON members
//	local:  id  -> revision number, then the JSON members

const (
	flagDeleted = 1 << iota
	flagHash    // the id is md5.Size bytes
	flagBody    // body, size and stored follow
)

var errRecord = errors.New("record of the database is damaged")

// docRecord is what the docs bucket knows of a document.
type docRecord struct {
	seq  uint64
	tree tree
}

func (d *docRecord) encode() []byte {
	b := make([]byte, 0, 16+len(d.tree.nodes)*22)
	b = append(b, 1)
	if d.tree.deleted() {
		b[0] = 0
	}
	b = binary.AppendUvarint(b, d.seq)
	b = binary.AppendUvarint(b, uint64(len(d.tree.nodes)))
	for i, n := range d.tree.nodes {
		if n.parent == noParent {
			b = binary.AppendUvarint(b, 0)
			b = binary.AppendUvarint(b, uint64(n.pos))
		} else {
			b = binary.AppendUvarint(b, uint64(i-n.parent))
		}
		var extra byte
		if n.body != 0 {
			extra = flagBody
		}
		b = appendRevID(b, n.id, n.deleted, extra)
		if n.body != 0 {
			b = binary.AppendUvarint(b, n.body)
			b = binary.AppendUvarint(b, uint64(n.size))
			b = binary.AppendUvarint(b, uint64(n.stored))
		}
	}
	return b
}

func appendRevID(b []byte, id string, deleted bool, flags byte) []byte {
	if deleted {
		flags |= flagDeleted
	}
	if len(id) == md5.Size {
		b = append(b, flags|flagHash)
		return append(b, id...)
	}
	b = append(b, flags)
	return appendString(b, id)
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func decodeDocRecord(v []byte) (*docRecord, error) {
	r := recordReader{s: string(v)}
	r.byte() // alive or deleted: for those who only ask that
	d := &docRecord{seq: r.number()}
	count := r.number()
	if count > uint64(len(v)) {
		return nil, errRecord
	}
	d.tree.nodes = make([]node, 0, count+1)
	for i := range int(count) {
		n := node{parent: noParent}
		if delta := int(r.number()); delta == 0 {
			n.pos = int(r.number())
		} else if n.parent = i - delta; n.parent < 0 {
			return nil, errRecord
		} else {
			n.pos = d.tree.nodes[n.parent].pos + 1
		}
		var flags byte
		n.id, flags = r.revID()
		n.deleted = flags&flagDeleted != 0
		if flags&flagBody != 0 {
			n.body = r.number()
			n.size, n.stored = int64(r.number()), int64(r.number())
		}
		d.tree.nodes = append(d.tree.nodes, n)
	}
	return d, r.err()
}

// leafRev is a leaf as the sequence index lists it.
type leafRev struct {
	rev
	deleted bool
}

// change is one row of the sequence index.
type change struct {
	seq    uint64
	id     string
	leaves []leafRev // the winner first
}

func (c *change) encode() []byte {
	b := appendString(nil, c.id)
	b = binary.AppendUvarint(b, uint64(len(c.leaves)))
	for _, l := range c.leaves {
		b = binary.AppendUvarint(b, uint64(l.pos))
		b = appendRevID(b, l.id, l.deleted, 0)
	}
	return b
}

func decodeChange(k, v []byte) (change, error) {
	r := recordReader{s: string(v)}
	c := change{seq: binary.BigEndian.Uint64(k), id: r.text()}
	count := r.number()
	if count == 0 || count > uint64(len(v)) {
		return c, errRecord
	}
	for range count {
		l := leafRev{rev: rev{pos: int(r.number())}}
		id, flags := r.revID()
		l.id, l.deleted = id, flags&flagDeleted != 0
		c.leaves = append(c.leaves, l)
	}
	return c, r.err()
}

// content is what the bodies bucket holds of a revision.
type content struct {
	atts []attachment
	body []byte // the members of the JSON object, without the braces
}

func (c *content) encode() []byte {
	b := make([]byte, 0, len(c.body)+2+len(c.atts)*96)
	b = binary.AppendUvarint(b, uint64(len(c.atts)))
	for _, a := range c.atts {
		b = appendString(b, a.name)
		b = appendString(b, a.contentType)
		b = binary.AppendUvarint(b, uint64(a.revpos))
		b = append(b, a.digest[:]...)
		b = binary.AppendUvarint(b, uint64(a.length))
		b = binary.AppendUvarint(b, uint64(a.stored))
		b = append(b, byte(a.encoding))
		b = binary.AppendUvarint(b, a.blob.key)
		b = appendString(b, a.blob.file)
	}
	return append(b, c.body...)
}

func decodeContent(v []byte) (*content, error) {
	c := &content{}
	r := recordReader{}
	if len(v) == 0 {
		return nil, errRecord
	}
	if v[0] != 0 { // the common record has no attachments: do not copy it twice
		r.s = string(v)
		count := r.number()
		if count > uint64(len(v)) {
			return nil, errRecord
		}
		for range count {
			a := attachment{name: r.text(), contentType: r.text(), revpos: int(r.number())}
			copy(a.digest[:], r.bytes(md5.Size))
			a.length, a.stored = int64(r.number()), int64(r.number())
			a.encoding = encoding(r.byte())
			a.blob = blobRef{key: r.number(), file: r.text()}
			c.atts = append(c.atts, a)
		}
		if err := r.err(); err != nil {
			return nil, err
		}
		c.body = []byte(r.s[r.pos:])
		return c, nil
	}
	c.body = append([]byte(nil), v[1:]...)
	return c, nil
}

// recordReader takes a record apart. After the first thing that does not fit it
// answers zero values, and err tells.
type recordReader struct {
	s   string
	pos int
	bad bool
}

func (r *recordReader) err() error {
	if r.bad {
		return errRecord
	}
	return nil
}

func (r *recordReader) byte() byte {
	if r.bad || r.pos >= len(r.s) {
		r.bad = true
		return 0
	}
	r.pos++
	return r.s[r.pos-1]
}

func (r *recordReader) number() uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	r.bad = true
	return 0
}

func (r *recordReader) bytes(n int) string {
	if r.bad || n < 0 || n > len(r.s)-r.pos {
		r.bad = true
		return ""
	}
	r.pos += n
	return r.s[r.pos-n : r.pos]
}

func (r *recordReader) text() string { return r.bytes(int(r.number())) }

func (r *recordReader) revID() (id string, flags byte) {
	flags = r.byte()
	if flags&flagHash != 0 {
		return r.bytes(md5.Size), flags
	}
	return r.text(), flags
}
