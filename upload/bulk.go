package upload

import (
	"encoding/json"
	"fmt"
	"net/http"

	"couchgauge/internal/couch"
)

// bulk is POST /db/_bulk_docs with a document for each attachment, inline in
// base64 (CouchDB docs, "/db/_bulk_docs").
type bulk struct{}

func (bulk) Name() string        { return "bulk" }
func (bulk) Carries() Carries    { return ManyDocuments }
func (bulk) Supports(Cell) error { return nil }

func (bulk) Build(u Upload) Request {
	r := Request{
		Method:      http.MethodPost,
		Path:        couch.EscapeSegment(u.DB) + "/_bulk_docs",
		ContentType: "application/json",
	}
	if !u.NewEdits {
		r.Body.text(`{"new_edits":false,"docs":[`)
	} else {
		r.Body.text(`{"docs":[`)
	}
	for i, doc := range u.Docs {
		if i > 0 {
			r.Body.text(",")
		}
		r.Body.inlineDocument(doc, u.NewEdits)
	}
	r.Body.text("]}")
	return r
}

// Answer finds the document that was refused inside a 201. With
// new_edits=false only those are listed.
func (bulk) Answer(body []byte) ([]string, error) {
	var lines []struct{ ID, Rev, Error, Reason string }
	if err := json.Unmarshal(body, &lines); err != nil {
		return nil, notUnderstood(body, err)
	}
	var revs []string
	for _, l := range lines {
		if l.Error != "" {
			return nil, fmt.Errorf("document %q: %s: %s", l.ID, l.Error, l.Reason)
		}
		revs = append(revs, l.Rev)
	}
	return revs, nil
}
