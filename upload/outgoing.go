package upload

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"

	"couchgauge/internal/couch"
)

// outgoing is a request ready to be sent: encoded, and its length known.
type outgoing struct {
	upload  Upload        // what it stores, for errors
	request couch.Request // without body
	open    func() io.Reader
}

// prepare makes a method's request ready for a cell. A compressed body whose
// length has to be told is compressed once for its length: outside the timed
// part, as all of this is.
func (d *digests) prepare(ctx context.Context, r Request, c Cell) (outgoing, error) {
	o := outgoing{open: r.Body.Open, request: couch.Request{
		Method:        r.Method,
		Path:          r.Path,
		Header:        r.Header,
		ContentType:   r.ContentType,
		ContentLength: r.Body.Len(),
	}}
	if r.Query != "" {
		query, err := url.ParseQuery(r.Query)
		if err != nil {
			return o, fmt.Errorf("query %q of method %s: %w", r.Query, c.Method, err)
		}
		o.request.Query = query
	}
	if c.Encoding == Gzip {
		o.open = func() io.Reader { return newGzipped(r.Body.Open()) }
		o.setHeader("Content-Encoding", "gzip")
	}
	switch {
	case c.Transfer == Chunked:
		o.request.ContentLength = -1
	case c.Encoding == Gzip:
		n, err := d.compressedLength(ctx, r)
		if err != nil {
			return o, fmt.Errorf("compress a body for its length: %w", err)
		}
		o.request.ContentLength = n
	}
	if c.Expect {
		o.setHeader("Expect", "100-continue")
	}
	return o, nil
}

// compressedLength is the length of a body in gzip. A body that is nothing
// but an attachment is compressed once per run.
func (d *digests) compressedLength(ctx context.Context, r Request) (int64, error) {
	if r.AsSent && len(r.Body) == 1 {
		s, err := d.of(ctx, *r.Body[0].content, true)
		return s.length, err
	}
	s, err := sumOf(ctx, newGzipped(r.Body.Open()))
	return s.length, err
}

// setHeader leaves the method's header alone.
func (o *outgoing) setHeader(key, value string) {
	h := maps.Clone(o.request.Header)
	if h == nil {
		h = http.Header{}
	}
	h.Set(key, value)
	o.request.Header = h
}

// errorf makes an error of what was being done.
func (o *outgoing) errorf(format string, args ...any) error {
	return fmt.Errorf("%s %s: %w", o.upload.describe(), o.upload.DB, fmt.Errorf(format, args...))
}
