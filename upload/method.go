package upload

import (
	"fmt"
	"net/http"
	"strings"

	"couchgauge/gen"
)

// Method is one upload API. It builds requests; it does not send, time, retry
// or print.
type Method interface {
	Name() string

	// Carries says what one request can hold.
	Carries() Carries

	// Supports returns why the method cannot do what the cell asks, or nil.
	Supports(Cell) error

	// Build returns the request that stores the attachments of u.
	Build(u Upload) Request

	// Answer reads the body of a 201 or 202: the new revisions, one for each
	// document as far as the server tells them, or why it refused one.
	Answer(body []byte) (revs []string, err error)
}

// methods lists all methods. A new one is a file and a line here.
var methods = []Method{
	raw{},
	inline{},
	related{},
	form{},
	bulk{},
}

// Methods returns the names of all methods.
func Methods() []string {
	var names []string
	for _, m := range methods {
		names = append(names, m.Name())
	}
	return names
}

func methodByName(name string) (Method, error) {
	for _, m := range methods {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("method %q is unknown: use one of %s", name, strings.Join(Methods(), ", "))
}

// Carries says what one request of a method can hold, and so how several
// attachments are uploaded.
type Carries int

const (
	OneAttachment Carries = iota // a request for each, one after another on one document
	OneDocument                  // one request with all attachments of a document
	ManyDocuments                // one request with a document for each attachment
)

// Upload is what a request has to store.
type Upload struct {
	DB       string
	Docs     []Document // exactly one unless the method carries ManyDocuments
	NewEdits bool
	Boundary string // of multipart bodies
	Origin   string // base URL of the server, for a Referer
}

// Document is one document to be written.
type Document struct {
	ID          string
	Rev         string       // "" = it is new
	Stubs       []byte       // JSON object: the _attachments that it has already; nil = none
	Attachments []Attachment // to be added
}

// Attachment is a named content.
type Attachment struct {
	gen.Attachment
	Name string
	Type string // content type
}

// Request is what a method sends.
type Request struct {
	Method      string
	Path        string // escaped, relative to the base URL
	Query       string // encoded, without "?"
	ContentType string
	Header      http.Header // more headers; may be nil
	Body        Body

	// AsSent: a Content-Encoding of the body becomes the stored attachment's.
	AsSent bool
}
