package couch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/go-kivik/kivik/v4"
	"github.com/go-kivik/kivik/v4/couchdb/chttp"
)

// Client sends requests to one server over connections of its own.
type Client struct {
	server    *Server
	options   TransportOptions
	transport *direct
	chttp     *chttp.Client
	patient   bool // JSON waits out a 429
}

// Client makes a client. Close it to drop its connections.
func (s *Server) Client(o TransportOptions) *Client {
	if o.IdleTimeout == 0 {
		o.IdleTimeout = s.options.IdleTimeout
	}
	t := newTransport(s.dial, s.roots, o)
	// A redirect is an answer, not an order: following it would measure another
	// server, and send it our credentials.
	hc := &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	var set chttpOptions
	set = append(set, chttp.OptionNoRequestCompression())
	if s.options.UserAgent != "" {
		set = append(set, chttp.OptionUserAgent(s.options.UserAgent))
	}
	if s.options.User != "" || s.options.Password != "" {
		// Userinfo in the DSN would mean cookies and a request of its own.
		set = append(set, chttp.BasicAuth(s.options.User, s.options.Password))
	}
	// The DSN has no prefix: chttp would lose the escapes of the path (it sets
	// RawPath without the prefix), so Do puts the prefix into the path.
	c, err := chttp.New(hc, s.base.root(), set)
	if err != nil {
		panic("couch: chttp refuses a URL that was parsed: " + Redact(err.Error()))
	}
	return &Client{server: s, options: o, transport: t, chttp: c}
}

// chttpOptions are several options in one.
type chttpOptions []kivik.Option

func (o chttpOptions) Apply(target any) {
	for _, x := range o {
		x.Apply(target)
	}
}

// Close drops the connections that are not in use.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Request is one request to a server.
type Request struct {
	Method        string
	Path          string // escaped, relative to the base URL: "db/doc/a%2Bb.bin"
	Query         url.Values
	Header        http.Header // "Accept" is application/json unless given
	ContentType   string      // application/json when empty
	Body          io.ReadCloser
	ContentLength int64 // of Body; -1 = chunked; 0 = there is no body

	// GetBody, if set, takes the place of Body and allows a second attempt on a
	// new connection where a kept one turns out to be dead before a byte was
	// written.
	GetBody func() (io.ReadCloser, error)

	// Trace sees what happens on the connection. It does what
	// httptrace.WithClientTrace does, and costs less.
	Trace *httptrace.ClientTrace
}

// Do sends a request and returns the answer, whatever its status (see [Check]).
// The caller reads and closes the answer's body. Do closes the request's body,
// possibly while it is still being read when the answer came early.
//
// Errors tell the connection's part only, what was being done is the caller's
// to say: *UnreachableError, *TimeoutError, *ResetError, or the context's.
func (c *Client) Do(ctx context.Context, r Request) (*http.Response, error) {
	if r.ContentLength == 0 && (r.Body != nil || r.GetBody != nil) {
		// chttp takes 0 for "unknown" and would send chunks.
		if r.Body != nil {
			r.Body.Close()
		}
		r.Body, r.GetBody = nil, nil
	}
	o := chttp.Options{
		Accept:        r.Header.Get("Accept"),
		ContentType:   r.ContentType,
		ContentLength: r.ContentLength,
		Body:          r.Body,
		GetBody:       r.GetBody,
		Query:         r.Query,
		Header:        r.Header,
		NoGzip:        true,
	}
	if r.ContentLength > 0 {
		o.Body, o.GetBody = wrapped(r.Body, r.GetBody)
	}
	if o.Accept != "" { // chttp adds its own beside it
		o.Header = r.Header.Clone()
		o.Header.Del("Accept")
	}
	x := c.watch(ctx, &r)
	resp, err := c.chttp.DoReq(x.ctx, r.Method, c.server.base.prefix+"/"+strings.TrimPrefix(r.Path, "/"), &o)
	if err != nil {
		err = x.explain(err)
		x.end()
		return nil, err
	}
	x.attach(resp)
	return resp, nil
}

// body hides what a reader is. net/http sends the readers that it knows to be
// in memory on another way than all others; here all take the same, which is
// Conn.ReadFrom.
type body struct{ io.ReadCloser }

func wrapped(b io.ReadCloser, get func() (io.ReadCloser, error)) (io.ReadCloser, func() (io.ReadCloser, error)) {
	if get == nil {
		return body{b}, nil
	}
	return nil, func() (io.ReadCloser, error) {
		b, err := get()
		if err != nil {
			return nil, err
		}
		return body{b}, nil
	}
}

// JSON sends in as JSON, unless it is nil, and reads the answer into out,
// unless that is nil, whatever Content-Type the answer carries (case U12). The
// path is escaped and may carry a query. An answer of 300 or more is an
// *Error.
func (c *Client) JSON(ctx context.Context, method, path string, in, out any) error {
	return c.ask(ctx, c.question(method, path, in, out))
}

// question is a request and its answer in JSON.
type question struct {
	op, target   string // what is done, to what, for errors
	method, path string
	in, out      any // see [Client.JSON]
}

func (q question) String() string { return strings.TrimSpace(q.op + " " + q.target) }

// question names a request by its method and path.
func (c *Client) question(method, path string, in, out any) question {
	return question{strings.ToLower(method), c.target(path), method, path, in, out}
}

// ask is JSON with errors in the question's own words.
func (c *Client) ask(ctx context.Context, q question) error {
	_, err := c.json(ctx, q)
	for tries := 1; c.patient && tries < maxTries; tries++ {
		wait, ok := askedToWait(err)
		if !ok {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
		_, err = c.json(ctx, q)
	}
	return err
}

// Bounds of waiting for a hosted service that limits requests (case U18).
const (
	maxTries = 10
	maxWait  = time.Minute
)

// askedToWait tells for how long an answer asks to wait, a second where it
// does not say, and whether that is bearable.
func askedToWait(err error) (time.Duration, bool) {
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusTooManyRequests {
		return 0, false
	}
	wait := e.RetryAfter
	if wait == 0 {
		wait = time.Second
	}
	return wait, wait <= maxWait
}

// json asks once, and returns the answer with its body read.
func (c *Client) json(ctx context.Context, q question) (*http.Response, error) {
	r := Request{Method: q.method, Path: q.path}
	if q.in != nil {
		b, err := json.Marshal(q.in)
		if err != nil {
			return nil, fmt.Errorf("%v: encode request: %w", q, err)
		}
		r.ContentLength = int64(len(b))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	}
	resp, err := c.Do(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", q, err)
	}
	defer chttp.CloseBody(resp.Body)
	if err := Check(resp, q.op, q.target); err != nil {
		return resp, err
	}
	if q.out == nil {
		return resp, nil
	}
	if err := json.NewDecoder(resp.Body).Decode(q.out); err != nil {
		return resp, fmt.Errorf("%v: read answer as JSON: %w", q, err)
	}
	return resp, nil
}

// target names a path for people: without its query, unescaped where that can
// be undone.
func (c *Client) target(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if p, err := url.PathUnescape(path); err == nil {
		path = p
	}
	return "/" + strings.TrimPrefix(path, "/")
}
