package refserver

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
)

// postForm serves POST /{db}/{doc}, which takes what a browser's form sends: the
// document in a field _doc, or its revision in _rev, and files in _attachments
// (fact 6).
func (x *exchange) postForm(db *database, id string) error {
	if err := x.checkReferer(); err != nil {
		return err
	}
	if err := checkDocID(id); err != nil {
		return err
	}
	if err := x.wantType("multipart/form-data"); err != nil {
		return err
	}
	if x.r.ContentLength > x.limits.requestSize {
		return errRequestTooLarge
	}
	e := &edit{id: id}
	if x.s.opts.Discard {
		if err := discard(x.r.Body); err != nil {
			return err
		}
	} else {
		form, err := x.readForm(db)
		if err == nil {
			e, err = form.edit(db, id)
		}
		if err == nil && form.doc != nil {
			err = x.settleRev(form.doc)
			e.pos, e.ids = form.doc.pos, form.doc.ids
		}
		if err != nil {
			form.discard()
			return err
		}
	}
	r, err := x.commit(db, e)
	if err != nil {
		return err
	}
	x.setHeader("ETag", `"`+r.String()+`"`)
	return x.json(http.StatusCreated, object{{"ok", true}, {"id", id}, {"rev", r.String()}})
}

func (x *exchange) checkReferer() error {
	ref := x.r.Header.Get("Referer")
	if ref == "" {
		return badRequest("Referer header required.")
	}
	if u, err := url.Parse(ref); err != nil || u.Host != x.r.Host {
		return badRequest("Referer header must match host.")
	}
	return nil
}

// uploadForm is what came in a form.
type uploadForm struct {
	doc   *parsedDoc // from _doc
	rev   string     // from _rev
	files []newAttachment
}

func (f *uploadForm) discard() {
	if f.doc != nil {
		f.doc.discard()
	}
	for i := range f.files {
		f.files[i].data.discard()
	}
}

// maxFormField is how long a form's _rev may be.
const maxFormField = 4 << 10

func (x *exchange) readForm(db *database) (*uploadForm, error) {
	f := &uploadForm{}
	m, err := newPartReader(x.r.Body, x.r.Header.Get("Content-Type"))
	if err != nil {
		return f, err
	}
	defer m.release()
	for {
		h, err := m.nextPart()
		if err == io.EOF {
			return f, discard(x.r.Body)
		}
		if err != nil {
			return f, err
		}
		_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
		if err != nil {
			return f, errMultipart
		}
		switch params["name"] {
		case "_doc":
			err = x.formDoc(db, m, f)
		case "_rev":
			var buf bytes.Buffer
			_, err = io.Copy(&buf, io.LimitReader(m, maxFormField))
			f.rev = buf.String()
		case "_attachments":
			err = x.formFile(db, m, f, h, params["filename"])
		}
		if err != nil {
			return f, err
		}
	}
}

func (x *exchange) formDoc(db *database, m *partReader, f *uploadForm) error {
	j := newJSONReader(m)
	defer j.release()
	d := docReader{db: db, limits: *x.limits, json: j}
	p, err := d.document()
	f.doc = p
	if err == nil {
		err = j.finish()
	}
	if errors.Is(err, errSyntax) {
		return errBadJSON
	}
	if err == nil {
		err = p.err
	}
	return err
}

// formFile reads a file. CouchDB holds forms to the limit of requests only.
func (x *exchange) formFile(db *database, m *partReader, f *uploadForm, h textproto.MIMEHeader, name string) error {
	if err := checkAttachmentName(name); err != nil {
		return err
	}
	a := newAttachment{attachment: attachment{name: name, contentType: h.Get("Content-Type")}}
	if a.contentType == "" {
		a.contentType = "text/plain" // of a form's field that names none
	}
	blob, err := newBlobWriter(db.blobDir(), db.fsync, name, x.limits.requestSize, x.limits.compressible.MatchString(a.contentType))
	if err != nil {
		return err
	}
	if err = m.copyTo(blob); err == nil {
		err = blob.finish()
	}
	if err != nil {
		blob.discard()
		return err
	}
	blob.describe(&a.attachment)
	a.data = blob
	f.files = append(f.files, a)
	return nil
}

// edit puts the files before the attachments that the document or revision has,
// in place of those of the same names.
func (f *uploadForm) edit(db *database, id string) (*edit, error) {
	var e *edit
	if f.doc != nil {
		e = &f.doc.edit
		e.id = id
	} else {
		r, err := parseRev(f.rev)
		if err != nil {
			return nil, err
		}
		if e, err = db.editOnto(id, r, ""); err != nil {
			return nil, err
		}
	}
	old := slices.DeleteFunc(e.atts, func(a newAttachment) bool {
		replaced := hasAttachment(f.files, a.name)
		if replaced {
			a.data.discard()
		}
		return replaced
	})
	e.atts = append(f.files, old...)
	return e, nil
}
