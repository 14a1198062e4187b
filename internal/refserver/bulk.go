package refserver

import (
	"encoding/json"
	"net/http"
)

// bulkDocs serves POST /{db}/_bulk_docs.
func (x *exchange) bulkDocs(db *database) error {
	if x.method != http.MethodPost {
		return x.notAllowed("POST")
	}
	if err := x.wantJSON(); err != nil {
		return err
	}
	b := bulk{newEdits: true}
	err := x.readJSON(func(j *jsonReader) error {
		return b.read(&docReader{db: db, limits: *x.limits, json: j, sink: x.s.opts.Discard})
	})
	if err == nil {
		err = b.check()
	}
	if err != nil {
		b.discard()
		return err
	}
	edits := make([]*edit, len(b.docs))
	for i, p := range b.docs {
		p.replicated = !b.newEdits
		edits[i] = &p.edit
	}
	var out []edited
	if x.s.opts.Discard {
		for _, e := range edits {
			out = append(out, edited{rev: discarded(e)})
		}
	} else if err := x.beforeWrite(db, edits); err != nil {
		return err
	} else if out, err = db.write(edits); err != nil {
		return err
	}
	answer := make([]object, 0, len(out))
	for i, o := range out {
		id := edits[i].id
		api, failed := o.err.(*apiError)
		switch {
		case failed && !b.newEdits:
			answer = append(answer, object{{"id", id}, {"rev", edits[i].base().String()}, {"error", api.error}, {"reason", api.reason}})
		case failed:
			answer = append(answer, object{{"id", id}, {"error", api.error}, {"reason", api.reason}})
		case b.newEdits:
			answer = append(answer, object{{"ok", true}, {"id", id}, {"rev", o.rev.String()}})
		}
	}
	return x.json(http.StatusCreated, answer)
}

// bulk is the body of a _bulk_docs request.
type bulk struct {
	docs     []*parsedDoc
	found    bool  // there was a docs member
	err      error // the first thing wrong with a member other than docs
	newEdits bool
}

func (b *bulk) read(d *docReader) error {
	if c, err := d.json.token(); err != nil {
		return err
	} else if c != '{' {
		_, err := d.json.value(nil)
		b.err = badRequest("Request body must be a JSON object")
		return err
	}
	return d.json.members(func(name string, _ []byte) error {
		c, err := d.json.token()
		if err != nil {
			return err
		}
		switch {
		case name == "docs" && c == '[':
			b.found = true
			return d.json.elements(func() error {
				p, err := d.document()
				b.docs = append(b.docs, p)
				return err
			})
		case name == "docs":
			b.found, b.err = true, badRequest("`docs` parameter must be an array.")
		}
		v, err := d.json.value(nil)
		if err == nil && name == "new_edits" && json.Unmarshal(v, &b.newEdits) != nil {
			b.err = badRequest("`new_edits` parameter must be a boolean.")
		}
		return err
	})
}

// check refuses the request for what is wrong with it or with one of its
// documents, and gives ids to documents that have none.
func (b *bulk) check() error {
	if b.err != nil {
		return b.err
	}
	if !b.found {
		return badRequest("POST body must include `docs` parameter.")
	}
	for _, p := range b.docs {
		if p.err != nil {
			return p.err
		}
		if !b.newEdits && len(p.ids) == 0 {
			return errNeedsRev
		}
		if len(p.follows) > 0 {
			return errShorter // nothing follows a JSON body
		}
		if !p.hasID {
			p.id = randomHex(16)
		}
	}
	return nil
}

func (b *bulk) discard() {
	for _, p := range b.docs {
		p.discard()
	}
}
