package upload

import (
	"net/http"

	"couchgauge/internal/couch"
)

// inline is the method base64: PUT /db/doc, with the attachments inside the
// document's JSON (CouchDB docs, "Attachments", "Inline").
type inline struct{}

func (inline) Name() string        { return "base64" }
func (inline) Carries() Carries    { return OneDocument }
func (inline) Supports(Cell) error { return nil }

func (inline) Build(u Upload) Request {
	r := Request{
		Method:      http.MethodPut,
		Path:        couch.DocPath(u.DB, u.Docs[0].ID),
		Query:       newEditsQuery(u.NewEdits),
		ContentType: "application/json",
	}
	r.Body.inlineDocument(u.Docs[0], u.NewEdits)
	return r
}

func (inline) Answer(body []byte) ([]string, error) { return oneAnswer(body) }
