package refserver

import (
	"fmt"
	"slices"
)

// edit is one document to be written.
type edit struct {
	id      string
	pos     int      // generation of the revision named, 0: none
	ids     []string // ids of that revision and its ancestors, newest first
	deleted bool
	body    []byte // members of the JSON object, without the braces
	atts    []newAttachment

	// replicated edits bring their own revision (new_edits=false); others make
	// one on top of the revision named.
	replicated bool
}

// newAttachment is an attachment of an edit: new bytes, or a stub that stands
// for what an earlier revision has.
type newAttachment struct {
	attachment
	data *blobWriter // the new bytes, finished
	stub bool
	// stubRevpos is the revpos a stub gives, which must be that of the
	// attachment it stands for; noRevpos when it gives none.
	stubRevpos int
}

const noRevpos = -1

// base is the revision that an edit names.
func (e *edit) base() rev {
	if len(e.ids) == 0 {
		return rev{}
	}
	return rev{e.pos, e.ids[0]}
}

// discard removes the bytes that came with an edit that failed.
func (e *edit) discard() {
	for i := range e.atts {
		e.atts[i].data.discard()
	}
}

// edited is the outcome of one edit: a revision, or why there is none.
type edited struct {
	rev rev
	err error // an *apiError of this document alone
}

// write applies the edits in one transaction and returns their outcomes. An
// error means that none was applied. A document that several of them change gets
// one sequence.
func (db *database) write(edits []*edit) ([]edited, error) {
	out := make([]edited, len(edits))
	err := db.update(func(t *writeTx) error {
		for _, e := range edits {
			if err := t.resolveStubs(e); err != nil {
				return err
			}
		}
		w := batch{writeTx: t, docs: make(map[string]*batchDoc, len(edits))}
		for i, e := range edits {
			out[i].rev, out[i].err = w.apply(e)
			if _, ok := out[i].err.(*apiError); out[i].err != nil && !ok {
				return fmt.Errorf("write document %q: %w", e.id, out[i].err)
			}
		}
		return w.finish()
	})
	for i, e := range edits {
		if err != nil || out[i].err != nil {
			e.discard()
		}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// batch is the documents that a list of edits touches.
type batch struct {
	*writeTx
	docs  map[string]*batchDoc
	order []*batchDoc
}

// batchDoc is one of them: its record with the edits so far.
type batchDoc struct {
	docRecord
	id      string
	fresh   bool // there was none before, and no edit has made one yet
	changed bool
	before  summary
}

func (w *batch) doc(id string) (*batchDoc, error) {
	if d := w.docs[id]; d != nil {
		return d, nil
	}
	record, err := w.writeTx.doc(id)
	if err != nil {
		return nil, err
	}
	d := &batchDoc{id: id, fresh: record == nil}
	if record != nil {
		d.docRecord = *record
	}
	d.before = summarize(&d.tree, d.fresh)
	w.docs[id] = d
	w.order = append(w.order, d)
	return d, nil
}

// finish stores the documents that were changed.
func (w *batch) finish() error {
	for _, d := range w.order {
		if d.changed {
			if err := w.putDoc(d.id, &d.docRecord, d.before); err != nil {
				return fmt.Errorf("write document %q: %w", d.id, err)
			}
		}
	}
	return nil
}

// resolveStubs replaces the stubs of e by the attachments of the revision it is
// based on. Where e is going to be refused as a conflict they are left.
func (t *writeTx) resolveStubs(e *edit) error {
	first := slices.IndexFunc(e.atts, func(a newAttachment) bool { return a.stub })
	if first < 0 || isLocal(e.id) {
		return nil
	}
	missing := func(name string) error {
		return missingStub("Invalid attachment stub in " + e.id + " for " + name)
	}
	d, err := t.doc(e.id)
	if err != nil {
		return err
	}
	if d == nil {
		return missing(e.atts[first].name)
	}
	source := noParent
	if e.replicated {
		if d.tree.find(e.base()) != noParent {
			return nil // it is here already
		}
		source = t.ancestorWithBody(d, e)
	} else if e.pos == 0 {
		if !d.tree.deleted() {
			return nil
		}
	} else if source = d.tree.find(e.base()); source == noParent || !d.tree.childless()[source] {
		return nil
	}
	if source == noParent {
		return missing(e.atts[first].name)
	}
	c, err := t.content(d.tree.nodes[source].body)
	if err != nil {
		return err
	}
	for i := range e.atts {
		a := &e.atts[i]
		if !a.stub {
			continue
		}
		old := findAttachment(c.atts, a.name)
		if old == nil || a.stubRevpos != noRevpos && a.stubRevpos != old.revpos {
			return missing(a.name)
		}
		a.attachment, a.stub = *old, false
	}
	return nil
}

// ancestorWithBody is the youngest ancestor of a replicated edit whose content
// is here.
func (t *writeTx) ancestorWithBody(d *docRecord, e *edit) int {
	for k, id := range e.ids[1:] {
		i := d.tree.find(rev{e.pos - 1 - k, id})
		if i == noParent {
			continue
		}
		for _, j := range d.tree.path(i) {
			if d.tree.nodes[j].body != 0 {
				return j
			}
		}
	}
	return noParent
}

// apply makes one edit whose stubs are resolved.
func (w *batch) apply(e *edit) (rev, error) {
	if isLocal(e.id) {
		return w.applyLocal(e)
	}
	d, err := w.doc(e.id)
	if err != nil {
		return rev{}, err
	}
	if e.replicated {
		return e.base(), w.replicate(e, d)
	}
	if d.fresh && e.pos > 0 && len(e.atts) == 0 {
		d.tree.merge(e.ids, node{rev: e.base()}) // see parentOf
	}
	parent, err := parentOf(d, e)
	if err != nil {
		return rev{}, err
	}
	var base rev
	if parent != noParent {
		base = d.tree.nodes[parent].rev
	}
	e.setRevpos()
	made := rev{base.pos + 1, newRevID(e.deleted, base, e.body, e.attachments())}
	leaf, err := w.putContent(e, made)
	if err != nil {
		return rev{}, err
	}
	leaf.parent = parent
	d.tree.nodes = append(d.tree.nodes, leaf)
	d.fresh, d.changed = false, true
	return made, nil
}

// replicate adds a revision that was made elsewhere, with its history. Of one
// that is here already only the history is taken over, as far as it is new.
func (w *batch) replicate(e *edit, d *batchDoc) error {
	if d.tree.find(e.base()) != noParent {
		known := tree{slices.Clone(d.tree.nodes)}
		if res, changed := known.merge(e.ids, node{rev: e.base()}); res == nothingNew && changed {
			d.tree, d.changed = known, true
		}
		return nil
	}
	leaf, err := w.putContent(e, e.base())
	if err != nil {
		return err
	}
	d.tree.merge(e.ids, leaf)
	d.fresh, d.changed = false, true
	return nil
}

// parentOf is the revision that an interactive edit extends, by CouchDB's rules:
// a leaf that is named, or the winner of a document that is deleted and is now
// made again. Anything else is a conflict, with one exception that is CouchDB's
// own: where a document never was, the revision named is believed, unless the
// edit has attachments.
func parentOf(d *batchDoc, e *edit) (int, error) {
	switch {
	case d.fresh && e.pos == 0:
		return noParent, nil
	case d.fresh:
		if i := d.tree.find(e.base()); i != noParent {
			return i, nil
		}
		return noParent, errConflict
	case e.pos == 0:
		if e.deleted || !d.tree.deleted() {
			return noParent, errConflict
		}
		return d.tree.leaves()[0], nil
	}
	i := d.tree.find(e.base())
	if i == noParent || !d.tree.childless()[i] || d.tree.deleted() {
		return noParent, errConflict
	}
	return i, nil
}

// setRevpos gives new bytes the generation they are attached in.
func (e *edit) setRevpos() {
	for i := range e.atts {
		if e.atts[i].data != nil {
			e.atts[i].revpos = e.pos + 1
		}
	}
}

func (e *edit) attachments() []attachment {
	out := make([]attachment, len(e.atts))
	for i := range e.atts {
		out[i] = e.atts[i].attachment
	}
	return out
}

// putContent stores the content of a revision and returns its node.
func (t *writeTx) putContent(e *edit, r rev) (node, error) {
	n := node{rev: r, parent: noParent, deleted: e.deleted, size: int64(len(e.body)) + 2}
	n.stored = n.size
	for i := range e.atts {
		a := &e.atts[i]
		if a.data != nil {
			if err := t.putBlob(a); err != nil {
				return n, err
			}
		}
		n.size += a.length
		n.stored += a.stored
	}
	t.count.nextBody++
	n.body = t.count.nextBody
	c := content{atts: e.attachments(), body: e.body}
	return n, t.put(bucketBodies, bodyKey(n.body), c.encode())
}

// putBlob refers to the bytes that came with an attachment.
func (t *writeTx) putBlob(a *newAttachment) error {
	if file := a.data.fileName(); file != "" {
		a.blob = blobRef{file: file}
		t.count.fileBytes += a.stored
		return t.put(bucketFiles, []byte(file), []byte{1})
	}
	if a.stored == 0 {
		return nil
	}
	t.count.nextBlob++
	a.blob = blobRef{key: t.count.nextBlob}
	return t.put(bucketBlobs, bodyKey(a.blob.key), a.data.small)
}

// summary is what the counters know of a document.
type summary struct {
	docs, deleted    int64 // one of them is 1, or none before the first revision
	external, active int64
}

func summarize(t *tree, none bool) (s summary) {
	if none {
		return s
	}
	s.deleted = 1
	for i, leaf := range t.childless() {
		if !leaf {
			continue
		}
		n := &t.nodes[i]
		s.external += n.size
		s.active += n.stored
		if !n.deleted {
			s.docs, s.deleted = 1, 0
		}
	}
	return s
}

// putDoc stores a document's tree under the next sequence.
func (t *writeTx) putDoc(id string, d *docRecord, before summary) error {
	if t.limit == 0 {
		t.limit = t.revsLimit()
	}
	for _, n := range d.tree.stem(t.limit) {
		if n.body != 0 {
			if err := t.tx.Bucket(bucketBodies).Delete(bodyKey(n.body)); err != nil {
				return err
			}
		}
	}
	seqs := t.tx.Bucket(bucketSeqs)
	if d.seq != 0 {
		if err := seqs.Delete(bodyKey(d.seq)); err != nil {
			return err
		}
	}
	after := summarize(&d.tree, false)
	t.count.docs += after.docs - before.docs
	t.count.deleted += after.deleted - before.deleted
	t.count.external += after.external - before.external
	t.count.active += after.active - before.active

	t.count.updateSeq++
	d.seq = t.count.updateSeq
	c := change{id: id}
	for _, i := range d.tree.leaves() {
		c.leaves = append(c.leaves, leafRev{d.tree.nodes[i].rev, d.tree.nodes[i].deleted})
	}
	if err := seqs.Put(bodyKey(d.seq), c.encode()); err != nil {
		return err
	}
	return t.put(bucketDocs, []byte(id), d.encode())
}
