package couch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-kivik/kivik/v4/couchdb/chttp"
)

// ReferenceVendor is the vendor's name in the welcome of couchgauge's own
// reference server.
const ReferenceVendor = "couchgauge reference server"

// maxWelcome is how much of a welcome is read, in bytes.
const maxWelcome = 1 << 20

// Welcome is the answer to GET /.
type Welcome struct {
	Raw      json.RawMessage // verbatim
	Version  string
	Vendor   string
	Features []string
	Mode     string // of the reference server: "discard" stores nothing
	Server   string // the Server header
	Proxy    string // what answers in front of the server, "" = nothing that shows
}

// Reference tells whether this is couchgauge's own reference server.
func (w *Welcome) Reference() bool { return w.Vendor == ReferenceVendor }

// Discards tells whether the server is a sink, from which nothing comes back.
func (w *Welcome) Discards() bool { return w.Reference() && w.Mode == "discard" }

// Hello asks for the welcome in exactly one request, with the credentials, so
// that wrong ones are tried once only (case U14; CouchDB 3.4 and later lock
// out who fails repeatedly, fact 14). Errors: *RefusedError, the context's, and
// *UnreachableError for all else, whatever it wraps.
func (s *Server) Hello(ctx context.Context) (*Welcome, error) {
	resp, err := s.Control().Do(ctx, Request{Method: http.MethodGet, Path: "/"})
	if err != nil {
		return nil, s.unreachable(ctx, err)
	}
	defer chttp.CloseBody(resp.Body)
	if err := Check(resp, "", ""); err != nil {
		return nil, s.refusal(err)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxWelcome))
	if err != nil {
		return nil, s.unreachable(ctx, fmt.Errorf("read the welcome: %w", err))
	}
	w, err := parseWelcome(b)
	if err != nil {
		return nil, &UnreachableError{URL: s.URL(), Err: err}
	}
	w.Server = resp.Header.Get("Server")
	w.Proxy = proxyInFront(resp.Header, w.Version)
	return w, nil
}

// unreachable makes an *UnreachableError of whatever was in the way, but for
// the caller's own wish to stop.
func (s *Server) unreachable(ctx context.Context, err error) error {
	var already *UnreachableError
	if ctx.Err() != nil || errors.As(err, &already) {
		return err
	}
	return &UnreachableError{URL: s.URL(), Err: err}
}

// refusal makes a *RefusedError of a 401 or 403, and an *UnreachableError of
// any other answer.
func (s *Server) refusal(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden {
		return &RefusedError{URL: s.URL(), User: s.options.User, Err: e}
	}
	if e.Code == "not_found" && s.base.prefix != "" {
		err = fmt.Errorf("%w: give the URL of the server, without a database", err)
	}
	return &UnreachableError{URL: s.URL(), Err: err}
}

func parseWelcome(b []byte) (*Welcome, error) {
	var said struct {
		CouchDB  json.RawMessage `json:"couchdb"`
		PouchDB  json.RawMessage `json:"express-pouchdb"`
		DBName   string          `json:"db_name"`
		Version  string          `json:"version"`
		Features []string        `json:"features"`
		Vendor   struct {
			Name    string          `json:"name"`
			Version json.RawMessage `json:"version"`
			Mode    string          `json:"mode"`
		} `json:"vendor"`
	}
	if err := json.Unmarshal(b, &said); err != nil {
		return nil, fmt.Errorf("it answers, but not with a welcome in JSON: %q", shortText(string(b)))
	}
	if said.DBName != "" {
		return nil, fmt.Errorf("this is the database %s: give the URL of the server", said.DBName)
	}
	if said.CouchDB == nil && said.PouchDB == nil {
		return nil, fmt.Errorf("it answers, but not with a CouchDB welcome: %q", shortText(string(b)))
	}
	if said.Version == "" {
		said.Version = jsonText(said.Vendor.Version)
	}
	return &Welcome{Raw: b, Version: said.Version, Vendor: said.Vendor.Name, Mode: said.Vendor.Mode, Features: said.Features}, nil
}
