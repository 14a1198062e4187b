package upload

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"couchgauge/internal/couch"
)

// related is the method multipart: PUT /db/doc as multipart/related, the
// document first, then a part for each attachment in the order of the JSON's
// keys, which is how CouchDB matches them (fact 5; CouchDB docs, "Creating
// Multiple Attachments").
type related struct{}

func (related) Name() string     { return "multipart" }
func (related) Carries() Carries { return OneDocument }

// Supports refuses gzip: no server decodes a multipart body.
func (related) Supports(c Cell) error {
	if c.Encoding == Gzip {
		return errors.New("servers do not decode a gzip multipart body")
	}
	return nil
}

func (related) Build(u Upload) Request {
	doc := u.Docs[0]
	r := Request{
		Method:      http.MethodPut,
		Path:        couch.DocPath(u.DB, doc.ID),
		Query:       newEditsQuery(u.NewEdits),
		ContentType: `multipart/related; boundary="` + u.Boundary + `"`,
	}
	b := &r.Body
	b.text("--" + u.Boundary + "\r\nContent-Type: application/json\r\n\r\n")
	b.document(doc, u.NewEdits, func(a Attachment) {
		b.text(`"follows":true,"length":` + strconv.FormatInt(a.Size, 10))
	})
	for _, a := range doc.Attachments {
		// PouchDB Server needs the file name (fact 5).
		b.text("\r\n--" + u.Boundary +
			"\r\nContent-Disposition: attachment; filename=" + quoted(a.Name) +
			"\r\nContent-Type: " + a.Type +
			"\r\nContent-Length: " + strconv.FormatInt(a.Size, 10) + "\r\n\r\n")
		b.attachment(a.Attachment)
	}
	b.text("\r\n--" + u.Boundary + "--")
	return r
}

func (related) Answer(body []byte) ([]string, error) { return oneAnswer(body) }

// quoted makes a quoted-string (RFC 9110, section 5.6.4).
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
