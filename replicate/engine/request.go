package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// endpoint sends requests to one database.
type endpoint struct {
	base    string // the database's URL, no credentials, no closing slash
	header  http.Header
	client  *http.Client
	slots   chan struct{} // one per request at a time
	retries int
	idle    time.Duration
	clock   clock
	born    json.RawMessage // instance_start_time when the replication began

	read, wrote atomic.Int64 // body bytes received and sent
	retried     atomic.Int64 // requests sent again
	server      atomic.Value // string: the Server header
}

// clock is what tests replace.
type clock struct {
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
}

func newEndpoint(p Peer, o Options, c clock) (*endpoint, error) {
	p, err := p.clean()
	if err != nil {
		return nil, err
	}
	if p.Client == nil {
		p.Client = newClient(o)
	}
	return &endpoint{
		base:    p.URL,
		header:  p.Header,
		client:  p.Client,
		slots:   make(chan struct{}, o.HTTPConnections),
		retries: o.RetriesPerRequest,
		idle:    o.ConnectionTimeout,
		clock:   c,
	}, nil
}

// newClient is a client that keeps every connection a job may use, moves
// large bodies in large pieces and leaves bodies as they are.
func newClient(o Options) *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: o.ConnectionTimeout}).DialContext,
		TLSHandshakeTimeout:   o.ConnectionTimeout,
		MaxIdleConns:          2 * o.HTTPConnections,
		MaxIdleConnsPerHost:   2 * o.HTTPConnections,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
		ReadBufferSize:        128 << 10,
		WriteBufferSize:       128 << 10,
	}}
}

// request is one request to a database. Without stream it can be sent again.
type request struct {
	method string
	path   string // below the database, escaped; "" is the database
	query  url.Values
	body   []byte // JSON
	accept string // "" is JSON
	expect bool   // wait for 100 Continue
	edits  bool   // it writes documents: they may reach the disk by the next commit
	urgent bool   // it may be one more than the peer is to have at a time

	// stream replaces body: streamLen bytes of streamType.
	stream     io.Reader
	streamLen  int64
	streamType string
}

// Error is an answer that is no success.
type Error struct {
	Method, URL  string // without credentials and query
	Status       int
	Name, Reason string // as the server says, such as not_found, missing

	retryAfter time.Duration
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s %s: %d", e.Method, e.URL, e.Status)
	if e.Name != "" {
		s += " " + e.Name
	}
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	return s
}

// lostError is a connection that failed before the answer was whole.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// status is the HTTP status of an Error, 0 of any other.
func status(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// temporary tells whether another try may succeed.
func temporary(err error) bool {
	var lost *lostError
	if errors.As(err, &lost) {
		return true
	}
	s := status(err)
	return s == http.StatusTooManyRequests || s == http.StatusRequestTimeout || s >= 500 && s != http.StatusNotImplemented
}

const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
	longestAsk = 5 * time.Minute // the longest Retry-After that is obeyed
)

// pause is how long to wait before try number n+1: what the server asks for,
// or an exponential with jitter.
func pause(err error, n int) time.Duration {
	var e *Error
	if errors.As(err, &e) && e.retryAfter > 0 {
		return min(e.retryAfter, longestAsk)
	}
	d := min(firstPause<<min(n, 10), lastPause)
	return d/2 + rand.N(d/2)
}

// again calls try until it succeeds, fails for good or has used up the
// retries. A try that returns progress starts the count anew.
func (e *endpoint) again(ctx context.Context, try func() (progress bool, err error)) error {
	for n := 0; ; n++ {
		progress, err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !temporary(err) {
			return err
		}
		if progress {
			n = 0
		}
		if n >= e.retries {
			return fmt.Errorf("after %d tries: %w", n+1, err)
		}
		e.retried.Add(1)
		if err := e.clock.sleep(ctx, pause(err, n)); err != nil {
			return err
		}
	}
}

// call sends a request, again where that may help, and lets handle read each
// successful answer from its start.
func (e *endpoint) call(ctx context.Context, q request, handle func(*http.Response) error) error {
	return e.again(ctx, func() (bool, error) { return false, e.once(ctx, q, handle) })
}

// json sends a request and decodes the answer into v, unless v is nil.
func (e *endpoint) json(ctx context.Context, q request, v any) error {
	return e.call(ctx, q, func(r *http.Response) error {
		if v == nil {
			return nil
		}
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, v); err != nil {
			return fmt.Errorf("read the answer to %s %s/%s: %w: is this the URL of a database?", q.method, e.base, q.path, err)
		}
		return nil
	})
}

// once sends a request once. Answers that are no 2xx are an *Error,
// connections that fail a *lostError.
func (e *endpoint) once(ctx context.Context, q request, handle func(*http.Response) error) error {
	if !q.urgent {
		select {
		case e.slots <- struct{}{}:
			defer func() { <-e.slots }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dog := time.AfterFunc(e.idle, func() {
		cancel(&lostError{fmt.Errorf("no byte moved for %v; connection_timeout sets how long to wait", e.idle)})
	})
	defer dog.Stop()

	req, err := e.build(ctx, q, dog)
	if err != nil {
		return err
	}
	where := req.Method + " " + e.base + "/" + q.path
	res, err := e.client.Do(req)
	if err != nil {
		return e.lost(ctx, where, err)
	}
	defer res.Body.Close()
	dog.Stop()
	if s := res.Header.Get("Server"); s != "" {
		e.server.Store(s)
	}
	body := &countedReader{r: res.Body, count: &e.read, dog: dog, idle: e.idle, stop: true}
	res.Body = struct {
		io.Reader
		io.Closer
	}{body, res.Body}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return e.refused(where, q, res)
	}
	if err := handle(res); err != nil {
		if body.err != nil && body.err != io.EOF {
			return e.lost(ctx, where, body.err)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return e.lost(ctx, where, err)
		}
		return err
	}
	// What is left is read so that the connection can be used again.
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10)
	return nil
}

func (e *endpoint) build(ctx context.Context, q request, dog *time.Timer) (*http.Request, error) {
	url := e.base
	if q.path != "" {
		url += "/" + q.path
	}
	if len(q.query) > 0 {
		url += "?" + q.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, q.method, url, nil)
	if err != nil {
		return nil, fmt.Errorf("make the request %s %s/%s: %w", q.method, e.base, q.path, err)
	}
	for k, v := range e.header {
		req.Header[k] = v
	}
	req.Header.Set("Accept", "application/json")
	if q.accept != "" {
		req.Header.Set("Accept", q.accept)
	}
	if q.expect {
		req.Header.Set("Expect", "100-continue")
	}
	if q.edits {
		req.Header.Set("X-Couch-Full-Commit", "false") // heeded before CouchDB 3
	}
	switch {
	case q.stream != nil:
		req.Body = io.NopCloser(&countedReader{r: q.stream, count: &e.wrote, dog: dog, idle: e.idle})
		req.ContentLength = q.streamLen
		req.Header.Set("Content-Type", q.streamType)
	case q.body != nil:
		req.GetBody = func() (io.ReadCloser, error) {
			return io.NopCloser(&countedReader{r: bytes.NewReader(q.body), count: &e.wrote, dog: dog, idle: e.idle}), nil
		}
		req.Body, _ = req.GetBody()
		req.ContentLength = int64(len(q.body))
		req.Header.Set("Content-Type", "application/json")
	case q.method == http.MethodPost:
		req.Header.Set("Content-Type", "application/json") // CouchDB wants it of an empty body too
	}
	return req, nil
}

// lost wraps a failed connection, unless the caller's context ended it.
func (e *endpoint) lost(ctx context.Context, where string, err error) error {
	var silent *lostError
	if cause := context.Cause(ctx); errors.As(cause, &silent) {
		return &lostError{fmt.Errorf("%s: %w", where, silent.err)}
	} else if cause != nil {
		return cause
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // it repeats the URL
	}
	return &lostError{fmt.Errorf("%s: %w", where, err)}
}

// refused reads an answer that is no success.
func (e *endpoint) refused(where string, q request, res *http.Response) error {
	var said struct{ Error, Reason string }
	b, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	_ = json.Unmarshal(b, &said) // a proxy may answer in HTML
	return &Error{
		Method: q.method, URL: strings.TrimSuffix(strings.TrimPrefix(where, q.method+" "), "/"),
		Status: res.StatusCode, Name: said.Error, Reason: said.Reason,
		retryAfter: retryAfter(res.Header.Get("Retry-After"), e.clock.now()),
	}
}

// retryAfter reads seconds or a date (RFC 9110, section 10.2.3).
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(s); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return t.Sub(now)
	}
	return 0
}

// countedReader counts the bytes of a body and keeps its error. The watchdog
// runs from the start of a Read; stop ends it with the Read, so that the time
// our own side takes is not the peer's.
type countedReader struct {
	r     io.Reader
	count *atomic.Int64
	dog   *time.Timer
	idle  time.Duration
	stop  bool
	err   error
}

func (c *countedReader) Read(p []byte) (int, error) {
	c.dog.Reset(c.idle)
	n, err := c.r.Read(p)
	if c.stop {
		c.dog.Stop()
	}
	c.count.Add(int64(n))
	if err != nil {
		c.err = err
	}
	return n, err
}

// docPath is a document's path below its database. The slash of _design/ and
// _local/ stays; "+" must travel as %2B (fact 10).
func docPath(id string) string {
	for _, prefix := range []string{"_design/", "_local/"} {
		if rest, ok := strings.CutPrefix(id, prefix); ok {
			return prefix + escape(rest)
		}
	}
	return escape(id)
}

func escape(s string) string {
	return strings.ReplaceAll(url.PathEscape(s), "+", "%2B")
}
