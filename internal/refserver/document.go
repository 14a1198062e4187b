package refserver

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/gzip"
)

// document is one revision of a document, read to be sent.
type document struct {
	id      string
	pos     int
	ids     []string // the revision and its ancestors, newest first
	deleted bool
	body    []byte // members of the JSON object, without the braces
	atts    []attachment
	meta    []byte // further members, each with a comma before it (_conflicts …)

	// stubsUpTo is the generation up to which attachments are sent as stubs
	// although their bytes were asked for (atts_since).
	stubsUpTo int
}

func (d *document) rev() rev { return rev{d.pos, d.ids[0]} }

// load reads the revision at node i of a document. Its content must be here.
func (t *readTx) load(id string, d *docRecord, i int) (*document, error) {
	n := &d.tree.nodes[i]
	c, err := t.content(n.body)
	if err != nil {
		return nil, fmt.Errorf("read revision %s of document %q: %w", n.rev, id, err)
	}
	ids := d.tree.pathIDs(i)
	if limit := t.revsLimit(); len(ids) > limit {
		ids = ids[:limit]
	}
	return &document{id: id, pos: n.pos, ids: ids, deleted: n.deleted, body: c.body, atts: c.atts}, nil
}

// winner reads a document's winning revision with the metadata that o asks for.
// The error is the 404 of a document that is not there, or deleted.
func (t *readTx) winner(id string, o docOptions) (*document, error) {
	if isLocal(id) {
		if d := t.local(id); d != nil {
			return d, nil
		}
		return nil, errMissing
	}
	d, err := t.doc(id)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, errMissing
	}
	leaves := d.tree.leaves()
	if d.tree.nodes[leaves[0]].deleted && !o.deleted {
		return nil, errDeleted
	}
	doc, err := t.load(id, d, leaves[0])
	if err != nil {
		return nil, err
	}
	doc.meta = docMeta(d, leaves, o)
	doc.since(o.attsSince)
	return doc, nil
}

// since makes stubs of the attachments that a reader who has one of revs has.
func (d *document) since(revs []rev) {
	for k, id := range d.ids {
		if slices.Contains(revs, rev{d.pos - k, id}) {
			d.stubsUpTo = d.pos - k
			return
		}
	}
}

// openedRev is one answer to a request for revisions: a document, or the
// revision that is missing.
type openedRev struct {
	doc *document
	rev rev
}

// revisions reads the revisions named; all leaves when revs is nil and all is
// set. With o.latest a revision stands for the leaves that descend from it.
func (t *readTx) revisions(id string, revs []rev, all bool, o docOptions) ([]openedRev, error) {
	d, err := t.doc(id)
	if err != nil {
		return nil, err
	}
	var found []int
	var missing []openedRev
	switch {
	case d == nil && all:
		return nil, nil
	case all:
		found = d.tree.leaves()
	case d == nil:
		for _, r := range revs {
			missing = append(missing, openedRev{rev: r})
		}
		return missing, nil
	default:
		for _, r := range revs {
			i := d.tree.find(r)
			switch {
			case i == noParent:
				missing = append(missing, openedRev{rev: r})
			case o.latest:
				for _, leaf := range d.tree.below(i) {
					if !slices.Contains(found, leaf) {
						found = append(found, leaf)
					}
				}
			case !slices.Contains(found, i):
				found = append(found, i)
			}
		}
	}
	slices.SortFunc(found, func(a, b int) int { return d.tree.nodes[a].compare(d.tree.nodes[b].rev) })
	var opened []openedRev
	for _, i := range found {
		n := &d.tree.nodes[i]
		if n.body == 0 {
			missing = append(missing, openedRev{rev: n.rev})
			continue
		}
		doc, err := t.load(id, d, i)
		if err != nil {
			return nil, err
		}
		doc.since(o.attsSince)
		opened = append(opened, openedRev{doc: doc, rev: n.rev})
	}
	slices.SortFunc(missing, func(a, b openedRev) int { return a.rev.compare(b.rev) })
	return append(opened, missing...), nil
}

// openBlob opens the stored bytes of an attachment. A small one is copied, so
// that nothing of the database is held.
func (db *database) openBlob(a *attachment) (io.ReadCloser, error) {
	if a.blob.file != "" {
		f, err := os.Open(filepath.Join(db.blobDir(), a.blob.file))
		if err != nil {
			return nil, fmt.Errorf("read attachment %q: %w", a.name, err)
		}
		return f, nil
	}
	var small smallBytes
	if a.blob.key != 0 {
		err := db.view(func(t *readTx) error {
			v := t.tx.Bucket(bucketBlobs).Get(bodyKey(a.blob.key))
			if int64(len(v)) != a.stored {
				return fmt.Errorf("read attachment %q: %w", a.name, errRecord)
			}
			small.Reset(append([]byte(nil), v...))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return &small, nil
}

// openDecoded opens the bytes of an attachment without their compression.
func (db *database) openDecoded(a *attachment) (io.ReadCloser, error) {
	r, err := db.openBlob(a)
	if err != nil || a.encoding == identity {
		return r, err
	}
	gz, err := gzip.NewReader(r)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("decompress attachment %q: %w", a.name, err)
	}
	return &decodedBlob{gz, r}, nil
}

type decodedBlob struct {
	*gzip.Reader
	blob io.Closer
}

func (d *decodedBlob) Close() error { return d.blob.Close() }
