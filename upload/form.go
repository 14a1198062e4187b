package upload

import (
	"errors"
	"net/http"

	"couchgauge/internal/couch"
)

// form is POST /db/doc as multipart/form-data, as a browser's form sends it:
// fact 6, and db_doc_req in CouchDB's chttpd_db.erl.
type form struct{}

func (form) Name() string     { return "form" }
func (form) Carries() Carries { return OneDocument }

func (form) Supports(c Cell) error {
	switch {
	case c.Transfer == Chunked: // 3.2.3 and 3.5.0 answer 500 badarg
		return errors.New("CouchDB takes the length of a form from Content-Length")
	case c.Encoding == Gzip:
		return errors.New("servers do not decode a gzip form")
	case !c.NewEdits:
		return errors.New("a form takes no new_edits=false")
	}
	return nil
}

func (form) Build(u Upload) Request {
	doc := u.Docs[0]
	r := Request{
		Method:      http.MethodPost,
		Path:        couch.DocPath(u.DB, doc.ID),
		ContentType: `multipart/form-data; boundary=` + u.Boundary,
		Header:      http.Header{"Referer": {u.Origin}},
	}
	b := &r.Body
	b.text("--" + u.Boundary + "\r\n")
	if doc.Rev != "" {
		b.text("Content-Disposition: form-data; name=\"_rev\"\r\n\r\n" + doc.Rev)
	} else {
		b.text("Content-Disposition: form-data; name=\"_doc\"\r\n\r\n{}")
	}
	for _, a := range doc.Attachments {
		b.text("\r\n--" + u.Boundary +
			"\r\nContent-Disposition: form-data; name=\"_attachments\"; filename=" + quoted(a.Name) +
			"\r\nContent-Type: " + a.Type + "\r\n\r\n")
		b.attachment(a.Attachment)
	}
	b.text("\r\n--" + u.Boundary + "--\r\n")
	return r
}

func (form) Answer(body []byte) ([]string, error) { return oneAnswer(body) }
