package refserver

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// Local documents are not replicated and have no history: their revision is
// 0-N, and N counts the writes that named the one before. CouchDB does not refuse
// a write that names a wrong N, or none; nor do we.

const localPrefix = "_local/"

func isLocal(id string) bool { return strings.HasPrefix(id, localPrefix) }

// applyLocal writes a local document. A deleted one is gone, and its revision
// is 0-0.
func (t *writeTx) applyLocal(e *edit) (rev, error) {
	local := t.tx.Bucket(bucketLocal)
	if e.deleted {
		return rev{0, "0"}, local.Delete([]byte(e.id))
	}
	n := uint64(1)
	if len(e.ids) > 0 {
		old, err := strconv.ParseUint(e.ids[0], 10, 63)
		if err != nil || e.pos != 0 {
			return rev{}, errRevFormat
		}
		n = old + 1
	}
	v := binary.AppendUvarint(nil, n)
	if err := local.Put([]byte(e.id), append(v, e.body...)); err != nil || e.replicated {
		return e.base(), err
	}
	return rev{0, strconv.FormatUint(n, 10)}, nil
}

// local is a local document, nil when there is none.
func (t *readTx) local(id string) *document {
	v := t.tx.Bucket(bucketLocal).Get([]byte(id))
	if v == nil {
		return nil
	}
	n, used := binary.Uvarint(v)
	return &document{
		id:   id,
		ids:  []string{strconv.FormatUint(n, 10)},
		body: append([]byte(nil), v[used:]...),
	}
}
