package replicate

import (
	"couchgauge/gen"
)

// shape is the data of one source database. Two sources of equal shape differ
// only in the ids of their documents.
type shape struct {
	docs       int64
	template   *gen.Template
	attachment gen.Attachment
	count      int     // attachments per document, each of attachment.Size
	revs       int     // length of each leaf's history
	conflicts  int     // leaves per document; 1 = no conflict
	deleted    float64 // share of documents that are deleted, all leaves of them
	ranked     bool    // documents have a rank, which built-in filters ask for
	design     string  // the JSON of a design document; "" = none
	seed       uint64
}

// leaves is how many leaf revisions a source has, without a design document.
func (s shape) leaves() int64 { return s.docs * int64(s.conflicts) }

// live is how many documents are not deleted.
func (s shape) live() int64 { return s.docs - chosenOf(s.docs, s.deleted) }

func (s shape) isDeleted(n int64) bool { return chosen(n, s.deleted) }

// payload is the bytes of all leaves' JSON and attachments: what a full
// replication moves at least.
func (s shape) payload() int64 {
	perLeaf := s.size() + int64(s.count)*s.attachment.Size
	return s.live() * int64(s.conflicts) * perLeaf
}

// written is about what filling writes: the payload, and ids and histories.
func (s shape) written() int64 {
	const idAndBraces, hash = 120, 35
	return s.payload() + s.leaves()*(idAndBraces+hash*int64(s.revs))
}

// size is the length of a generated document in bytes.
func (s shape) size() int64 { return s.template.Size() }
