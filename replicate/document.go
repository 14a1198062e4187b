package replicate

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"

	"couchgauge/gen"

	"github.com/segmentio/asm/base64"
)

// sourceDocs is how many ids a source has, and so the most documents.
const sourceDocs = 100_000_000

// docID is the id of document n of a source, such as "doc-0100000042". Ids of
// different sources differ, and ascend with n.
func docID(source int, n int64) string {
	return gen.Documents{}.ID(int64(source)*sourceDocs + n)
}

// leaf is one leaf revision of a document of a source: what filling writes.
type leaf struct {
	source int
	n      int64 // the document
	branch int   // from 0; each conflict is a branch
	update int   // rounds of updates it has seen; only a first branch has any
}

// generation is the leaf's revision number.
func (s shape) generation(l leaf) int {
	g := s.revs
	if s.isDeleted(l.n) {
		g++
	}
	return g
}

// number is what a leaf's body depends on: every leaf has its own. Those of
// the first branch are what couchgauge gen docs writes.
func (s shape) number(l leaf) int64 {
	const ids = 100 * sourceDocs
	return int64(l.source)*sourceDocs + l.n + ids*int64(l.branch+l.update*s.conflicts)
}

// appendHead appends an object's beginning: the id, the history, whether it is
// deleted, and the rank. The object is open, and has members.
func (s shape) appendHead(dst []byte, l leaf) []byte {
	dst = append(dst, `{"_id":"`...)
	dst = append(dst, docID(l.source, l.n)...)
	dst = append(dst, `","_revisions":`...)
	dst = s.appendRevisions(dst, l)
	if s.isDeleted(l.n) {
		dst = append(dst, `,"_deleted":true`...)
	}
	return s.appendRank(dst, l.n)
}

// appendRank appends the member for filters, if documents have it.
func (s shape) appendRank(dst []byte, n int64) []byte {
	if !s.ranked {
		return dst
	}
	dst = append(dst, `,"`+rankField+`":`...)
	return strconv.AppendInt(dst, rank(n), 10)
}

// appendRevisions appends the leaf's history, newest first, as new_edits=false
// takes it. Branches part at the last revision, or the last but a deletion.
func (s shape) appendRevisions(dst []byte, l leaf) []byte {
	last := s.generation(l)
	dst = append(dst, `{"start":`...)
	dst = strconv.AppendInt(dst, int64(last), 10)
	dst = append(dst, `,"ids":[`...)
	for g := last; g >= 1; g-- {
		if g < last {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = s.appendHash(dst, l, g)
		dst = append(dst, '"')
	}
	return append(dst, `]}`...)
}

// appendHash appends the 32 hexadecimal digits of the leaf's revision of that
// generation.
func (s shape) appendHash(dst []byte, l leaf, generation int) []byte {
	branch := 0
	if generation >= s.revs {
		branch = l.branch
	}
	x := mix(s.seed ^ uint64(l.source)<<40)
	x = mix(x ^ uint64(l.n))
	x = mix(x ^ uint64(branch)<<32 ^ uint64(generation))
	var b [16]byte
	for i, half := range []uint64{x, mix(x + 1)} {
		for j := range 8 {
			b[8*i+j] = byte(half >> (8 * j))
		}
	}
	return hex.AppendEncode(dst, b[:])
}

// generatedID is how a generated document begins; its other members follow.
const generatedID = `{"_id":"doc-0000000000"`

// appendBody appends the members of the generated document but its id, and
// closes the object. A deleted leaf has none.
func (s shape) appendBody(dst []byte, l leaf) []byte {
	if s.isDeleted(l.n) {
		return append(dst, '}')
	}
	at := len(dst)
	dst = gen.Documents{Seed: s.seed, Template: s.template}.Append(dst, s.number(l))
	return slices.Delete(dst, at, at+len(generatedID))
}

// appendInline appends the whole leaf, its attachments in base64.
func (s shape) appendInline(dst []byte, l leaf) []byte {
	return s.appendLeaf(dst, l, func(dst []byte, a gen.Attachment) []byte {
		dst = append(dst, `"data":"`...)
		raw := make([]byte, a.Size)
		if _, err := a.Open().ReadAt(raw, 0); err != nil && a.Size > 0 {
			panic("replicate: generated content is too short: " + err.Error())
		}
		size := base64.StdEncoding.EncodedLen(len(raw))
		dst = slices.Grow(dst, size+1)
		base64.StdEncoding.Encode(dst[len(dst):len(dst)+size], raw)
		return append(dst[:len(dst)+size], '"')
	})
}

// appendUpdate appends the leaf as an update of what is stored, whose
// attachments it keeps. The server makes its revision.
func (s shape) appendUpdate(dst []byte, l leaf, old stored) []byte {
	dst = append(dst, `{"_id":"`...)
	dst = append(dst, docID(l.source, l.n)...)
	dst = append(dst, `","_rev":"`...)
	dst = append(dst, old.Rev...)
	dst = append(dst, '"')
	dst = s.appendRank(dst, l.n)
	if old.Attachments != nil {
		dst = append(dst, `,"_attachments":`...)
		dst = append(dst, old.Attachments...)
	}
	return s.appendBody(dst, l)
}

// appendFollows appends the leaf as the first part of multipart/related has
// it: the attachments follow.
func (s shape) appendFollows(dst []byte, l leaf) []byte {
	return s.appendLeaf(dst, l, func(dst []byte, a gen.Attachment) []byte {
		dst = append(dst, `"follows":true,"length":`...)
		return strconv.AppendInt(dst, a.Size, 10)
	})
}

// appendLeaf appends the leaf; member says where an attachment's bytes are.
func (s shape) appendLeaf(dst []byte, l leaf, member func([]byte, gen.Attachment) []byte) []byte {
	dst = s.appendHead(dst, l)
	if s.count > 0 && !s.isDeleted(l.n) {
		dst = append(dst, `,"_attachments":{`...)
		for i := range s.count {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, '"')
			dst = append(dst, gen.AttachmentName(i)...)
			dst = append(dst, `":{"content_type":"`...)
			dst = append(dst, contentType(s.attachment.Content)...)
			dst = append(dst, `","revpos":`...)
			dst = strconv.AppendInt(dst, int64(s.revs), 10)
			dst = append(dst, ',')
			dst = member(dst, s.attachmentOf(l, i))
			dst = append(dst, '}')
		}
		dst = append(dst, '}')
	}
	return s.appendBody(dst, l)
}

// attachmentOf is attachment i of a leaf. Updates keep it.
func (s shape) attachmentOf(l leaf, i int) gen.Attachment {
	l.update = 0
	a := s.attachment
	a.Number = int(s.number(l))*s.count + i
	return a
}

// mix scatters the bits of x (the finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// appendLive appends document k of those that are written while continuous
// jobs run. The server makes its revision.
func (s shape) appendLive(dst []byte, source int, k int64) []byte {
	dst = append(dst, '{')
	if s.ranked {
		dst = append(dst, `"`+rankField+`":`...)
		dst = strconv.AppendInt(dst, rank(k), 10)
		dst = append(dst, ',')
	}
	at := len(dst)
	dst = gen.Documents{Seed: s.seed, Template: s.template}.Append(dst, int64(source)*sourceDocs+k)
	// The id is in the path; the members behind it follow after a comma.
	dst = slices.Delete(dst, at, min(at+len(generatedID)+1, len(dst)))
	if len(dst) == at { // there were none: the closing brace went
		return append(bytes.TrimSuffix(dst, []byte(",")), '}')
	}
	return dst
}
