package upload

import (
	"errors"
	"net/http"
	"net/url"

	"couchgauge/internal/couch"
)

// raw is the standalone attachment API: PUT /db/doc/name, the body being the
// bytes (CouchDB docs, "/db/doc/attachment").
type raw struct{}

func (raw) Name() string     { return "raw" }
func (raw) Carries() Carries { return OneAttachment }

// Supports refuses new_edits=false: the attachment API of CouchDB does not
// look at it.
func (raw) Supports(c Cell) error {
	if !c.NewEdits {
		return errors.New("the attachment API takes no new_edits=false")
	}
	return nil
}

func (raw) Build(u Upload) Request {
	doc := u.Docs[0]
	a := doc.Attachments[0]
	r := Request{
		Method:      http.MethodPut,
		Path:        couch.AttachmentPath(u.DB, doc.ID, a.Name),
		ContentType: a.Type,
		AsSent:      true,
	}
	if doc.Rev != "" {
		r.Query = "rev=" + url.QueryEscape(doc.Rev)
	}
	if a.Size > 0 {
		r.Body.attachment(a.Attachment)
	}
	return r
}

func (raw) Answer(body []byte) ([]string, error) { return oneAnswer(body) }
