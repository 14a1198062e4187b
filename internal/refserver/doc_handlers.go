package refserver

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// doc serves /{db}/{doc}.
func (x *exchange) doc(db *database, id string) error {
	switch x.method {
	case http.MethodGet:
		return x.getDoc(db, id)
	case http.MethodPut:
		return x.putDoc(db, id)
	case http.MethodDelete:
		return x.deleteDoc(db, id)
	case http.MethodPost:
		return x.postForm(db, id)
	case "COPY":
		return x.copyDoc(db, id)
	}
	return x.notAllowed("DELETE,GET,HEAD,POST,PUT,COPY")
}

// docOptions reads the query parameters of a document.
func (x *exchange) docOptions() (o docOptions, err error) {
	on := func(name string) bool { return x.query(name) == "true" }
	meta := on("meta")
	o = docOptions{
		attachments:      on("attachments"),
		attEncodingInfo:  on("att_encoding_info"),
		revs:             on("revs"),
		revsInfo:         on("revs_info") || meta,
		conflicts:        on("conflicts") || meta,
		deletedConflicts: on("deleted_conflicts") || meta,
		localSeq:         on("local_seq"),
		latest:           on("latest"),
		deleted:          on("deleted"),
	}
	if x.has("atts_since") {
		if o.attsSince, err = parseRevList(x.query("atts_since")); err != nil {
			return o, err
		}
		o.attachments = true
	}
	return o, nil
}

// parseRevList reads a JSON array of revisions.
func parseRevList(text string) ([]rev, error) {
	var list []json.RawMessage
	if !json.Valid([]byte(text)) {
		return nil, errBadJSON
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil, badRequest("Invalid list of revisions")
	}
	out := make([]rev, 0, len(list))
	for _, raw := range list {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return nil, errRevFormat
		}
		r, err := parseRev(s)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (x *exchange) getDoc(db *database, id string) error {
	o, err := x.docOptions()
	if err != nil {
		return err
	}
	if open := x.query("open_revs"); x.has("open_revs") && open != "[]" {
		return x.openRevs(db, id, open, o)
	}
	d, err := x.open(db, id, o)
	if err != nil {
		return err
	}
	if len(d.meta) == 0 {
		etag := d.etag()
		if x.notModified(etag) {
			return nil
		}
		x.setHeader("ETag", etag)
	}
	if len(d.atts) > 0 && o.attachments && x.accepts("multipart/related") {
		return x.sendRelated(db, d, o)
	}
	return x.sendDoc(db, d, o)
}

// open reads the revision that the request names, or the winner.
func (x *exchange) open(db *database, id string, o docOptions) (d *document, err error) {
	if !x.has("rev") || o.latest {
		err = db.view(func(t *readTx) error {
			d, err = t.winner(id, o)
			return err
		})
		return d, err
	}
	r, err := parseRev(x.query("rev"))
	if err != nil {
		return nil, err
	}
	return db.revision(id, r, o)
}

// revision reads one revision, deleted or not.
func (db *database) revision(id string, r rev, o docOptions) (d *document, err error) {
	err = db.view(func(t *readTx) error {
		if isLocal(id) {
			return errMissing
		}
		opened, err := t.revisions(id, []rev{r}, false, o)
		if err != nil {
			return err
		}
		if d = opened[0].doc; d == nil {
			return errMissing
		}
		return nil
	})
	return d, err
}

// etag is the revision; a local document, whose revision can be any, has a hash
// of what it says.
func (d *document) etag() string {
	if !isLocal(d.id) {
		return `"` + d.rev().String() + `"`
	}
	sum := md5.Sum(d.appendHead(nil, docOptions{}))
	return `"` + base64.RawStdEncoding.EncodeToString(sum[:]) + `"`
}

// buffered is up to which size an answer is made in memory, to have a length.
const buffered = 1 << 20

// sendDoc answers with a document in JSON. One with attachments inside may be of
// any size and is streamed.
func (x *exchange) sendDoc(db *database, d *document, o docOptions) error {
	size := int64(0)
	for i := range d.atts {
		if o.attachments {
			size += d.atts[i].length
		}
	}
	if size > buffered {
		w := x.stream(http.StatusOK)
		if err := db.writeJSON(w, d, o); err != nil {
			return err
		}
		w.WriteByte('\n')
		return w.Flush()
	}
	var buf bytes.Buffer
	w := bufio.NewWriter(&buf)
	if err := db.writeJSON(w, d, o); err != nil {
		return err
	}
	w.WriteByte('\n')
	w.Flush()
	return x.rawJSON(http.StatusOK, buf.Bytes())
}

// stream begins an answer in JSON whose length is not known.
func (x *exchange) stream(status int) *bufio.Writer {
	x.jsonHeaders()
	return x.begin(status)
}

// begin sends the headers that are set; the body follows through the writer.
func (x *exchange) begin(status int) *bufio.Writer {
	x.started = true
	x.w.WriteHeader(status)
	return bufio.NewWriterSize(x.w, 32<<10)
}

func (x *exchange) openRevs(db *database, id, list string, o docOptions) error {
	all := list == "all"
	var revs []rev
	if !all {
		var err error
		if revs, err = parseRevList(list); err != nil {
			return err
		}
	}
	var opened []openedRev
	if err := db.view(func(t *readTx) (err error) {
		opened, err = t.revisions(id, revs, all, o)
		return err
	}); err != nil {
		return err
	}
	if all && len(opened) == 0 {
		return errMissing
	}
	if x.accepts("multipart/mixed") {
		return x.sendMixed(db, opened, o)
	}
	w := x.stream(http.StatusOK)
	w.WriteByte('[')
	for i, r := range opened {
		if i > 0 {
			w.WriteByte(',')
		}
		if r.doc == nil {
			w.WriteString(`{"missing":"` + r.rev.String() + `"}`)
			continue
		}
		w.WriteString(`{"ok":`)
		if err := db.writeJSON(w, r.doc, o); err != nil {
			return err
		}
		w.WriteByte('}')
	}
	w.WriteString("]\n")
	return w.Flush()
}

// namedRev is the revision that a request names in its query or If-Match header;
// found is false when it names none.
func (x *exchange) namedRev() (r rev, found bool, err error) {
	if x.has("rev") {
		if r, err = parseRev(x.query("rev")); err != nil {
			return r, false, err
		}
		found = true
	}
	if match := x.r.Header.Get("If-Match"); match != "" {
		m, err := parseRev(strings.Trim(match, `"`))
		if err != nil {
			return r, false, err
		}
		if found && m != r {
			return r, false, errRevAndETag
		}
		r, found = m, true
	}
	return r, found, nil
}

var errRevAndETag = badRequest("Document rev and etag have different values")

// settleRev brings together the revision in a document and the one that the
// request names.
func (x *exchange) settleRev(p *parsedDoc) error {
	if len(p.ids) == 0 {
		r, found, err := x.namedRev()
		if found {
			p.pos, p.ids = r.pos, []string{r.id}
		}
		return err
	}
	if x.has("rev") {
		r, err := parseRev(x.query("rev"))
		if err != nil {
			return err
		}
		if r != p.base() {
			return badRequest("Document rev from request body and query string have different values")
		}
	}
	if match := x.r.Header.Get("If-Match"); match != "" {
		m, err := parseRev(strings.Trim(match, `"`))
		if err != nil {
			return err
		}
		if m != p.base() {
			return errRevAndETag
		}
	}
	return nil
}

var errNeedsRev = badRequest("When `new_edits: false`, the document needs `_rev` or `_revisions` specified")

func (x *exchange) putDoc(db *database, id string) error {
	if err := checkDocID(id); err != nil {
		return err
	}
	var p *parsedDoc
	var err error
	if strings.HasPrefix(x.r.Header.Get("Content-Type"), "multipart/related;") {
		p, err = x.readRelated(db)
	} else {
		p, err = x.readDoc(db)
	}
	if err == nil {
		p.id, p.replicated = id, x.query("new_edits") == "false"
		if err = x.settleRev(p); err == nil && p.replicated && len(p.ids) == 0 {
			err = errNeedsRev
		}
	}
	if err != nil {
		if p != nil {
			p.discard()
		}
		return err
	}
	return x.writeDoc(db, &p.edit)
}

// readDoc reads a body that is one document.
func (x *exchange) readDoc(db *database) (p *parsedDoc, err error) {
	err = x.readJSON(func(j *jsonReader) error {
		d := docReader{db: db, limits: *x.limits, json: j, sink: x.s.opts.Discard}
		p, err = d.document()
		return err
	})
	if err == nil {
		err = p.err
	}
	if err == nil && len(p.follows) > 0 {
		err = errShorter // nothing follows a JSON body
	}
	return p, err
}

// writeDoc writes one document and answers.
func (x *exchange) writeDoc(db *database, e *edit) error {
	r, err := x.commit(db, e)
	if err != nil {
		return err
	}
	status := http.StatusCreated
	etag := (&document{id: e.id, pos: r.pos, ids: []string{r.id}, body: e.body}).etag()
	x.setHeader("ETag", etag)
	if e.deleted {
		status = http.StatusOK
	}
	if x.method != http.MethodDelete {
		x.setHeader("Location", x.location(db.name, e.id))
	}
	return x.answerEdit(status, e.id, r)
}

// commit writes one edit; a sink only says so.
func (x *exchange) commit(db *database, e *edit) (rev, error) {
	if x.s.opts.Discard {
		return discarded(e), nil
	}
	if err := x.beforeWrite(db, []*edit{e}); err != nil {
		return rev{}, err
	}
	out, err := db.write([]*edit{e})
	if err != nil {
		return rev{}, err
	}
	return out[0].rev, out[0].err
}

// discarded is the revision that a sink makes up.
func discarded(e *edit) rev {
	if e.replicated {
		return e.base()
	}
	return rev{e.pos + 1, newRevID(e.deleted, e.base(), []byte(e.id), nil)}
}

func (x *exchange) answerEdit(status int, id string, r rev) error {
	if x.query("batch") == "ok" && x.method != http.MethodDelete {
		delete(x.w.Header(), "ETag")
		delete(x.w.Header(), "Location")
		return x.json(http.StatusAccepted, object{{"ok", true}, {"id", id}})
	}
	return x.json(status, object{{"ok", true}, {"id", id}, {"rev", r.String()}})
}

func (x *exchange) deleteDoc(db *database, id string) error {
	if err := db.view(func(t *readTx) error {
		_, err := t.winner(id, docOptions{})
		return err
	}); err != nil && !x.s.opts.Discard {
		return err
	}
	p := &parsedDoc{edit: edit{id: id, deleted: true}}
	if err := x.settleRev(p); err != nil {
		return err
	}
	return x.writeDoc(db, &p.edit)
}

// postDoc serves POST /{db}: a document that may have no id yet.
func (x *exchange) postDoc(db *database) error {
	if err := x.wantJSON(); err != nil {
		return err
	}
	p, err := x.readDoc(db)
	if err != nil {
		if p != nil {
			p.discard()
		}
		return err
	}
	if !p.hasID {
		p.id, p.pos, p.ids = randomHex(16), 0, nil
	}
	r, err := x.commit(db, &p.edit)
	if err != nil {
		return err
	}
	x.setHeader("Location", x.location(db.name, p.id))
	return x.answerEdit(http.StatusCreated, p.id, r)
}

// copyDoc serves COPY: the Destination header names the new document, and its
// revision when there is one already.
func (x *exchange) copyDoc(db *database, id string) error {
	dest := x.r.Header.Get("Destination")
	if dest == "" {
		return badRequest("Destination header is mandatory for COPY.")
	}
	dest, query, _ := strings.Cut(dest, "?")
	target, err := url.PathUnescape(strings.TrimPrefix(dest, "/"))
	if err != nil {
		return badRequest("Destination URL must be relative.")
	}
	if err := checkDocID(target); err != nil {
		return err
	}
	d, err := x.open(db, id, docOptions{})
	if err != nil {
		return err
	}
	e := &edit{id: target, deleted: d.deleted, body: d.body}
	for _, a := range d.atts {
		e.atts = append(e.atts, newAttachment{attachment: a})
	}
	if at, ok := strings.CutPrefix(query, "rev="); ok {
		r, err := parseRev(at)
		if err != nil {
			return err
		}
		e.pos, e.ids = r.pos, []string{r.id}
	}
	r, err := x.commit(db, e)
	if err != nil {
		return err
	}
	x.setHeader("Location", x.location(db.name, target))
	x.setHeader("ETag", `"`+r.String()+`"`)
	return x.answerEdit(http.StatusCreated, target, r)
}
