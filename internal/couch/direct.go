package couch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// smallBody is a body that fits the buffers of any connection, in bytes:
	// writing it never waits for the server, so nothing need be read meanwhile.
	smallBody = 16 << 10

	// idleTooLong is when a kept connection is not used any more.
	idleTooLong = 90 * time.Second

	// lingerForAnswer bounds how long an answer is waited for when the request
	// could not be written: it may be on its way in.
	lingerForAnswer = time.Second

	// lingerForWrite bounds how long an answer that came early waits for its
	// request to be written, before the connection is given up.
	lingerForWrite = 50 * time.Millisecond
)

// direct sends requests over HTTP/1.1 and reads their answers in the caller's
// goroutine. http.Transport hands each request to two goroutines of the
// connection and back, which costs a small upload a third of its time, and
// puts the scheduler's delays into what is measured.
type direct struct {
	connect func(ctx context.Context, scheme, address string) (*Conn, error)
	options TransportOptions
	places  chan struct{} // MaxConns of them; nil: no limit

	mu   sync.Mutex
	idle []*line // the one used last at the end
}

// line is a connection with its buffers.
type line struct {
	*Conn
	in    *bufio.Reader
	out   *bufio.Writer
	since time.Time // idle
}

// RoundTrip implements http.RoundTripper.
func (d *direct) RoundTrip(req *http.Request) (*http.Response, error) {
	for {
		l, reused, err := d.line(req)
		if err != nil {
			closeBody(req)
			return nil, err
		}
		x := &roundTrip{direct: d, line: l, req: req, trace: httptrace.ContextClientTrace(req.Context())}
		resp, err := x.do(reused)
		if err != nil && reused && !x.answered && repeatable(req) && req.Context().Err() == nil {
			continue // the server closed it while it was idle
		}
		return resp, err
	}
}

// repeatable tells whether a request can be sent again: it changes nothing and
// has no body that would be gone.
func repeatable(req *http.Request) bool {
	return (req.Method == http.MethodGet || req.Method == http.MethodHead) && (req.Body == nil || req.Body == http.NoBody)
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// line returns a connection that was kept, or a new one.
func (d *direct) line(req *http.Request) (l *line, reused bool, err error) {
	ctx := req.Context()
	if d.places != nil {
		select {
		case d.places <- struct{}{}:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	if l := d.kept(); l != nil {
		return l, true, nil
	}
	c, err := d.connect(ctx, req.URL.Scheme, address(req.URL))
	if err != nil {
		d.leave()
		return nil, false, err
	}
	return &line{Conn: c, in: bufio.NewReader(c), out: bufio.NewWriter(c)}, false, nil
}

// address is where a URL's server listens.
func address(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Host
	case u.Scheme == "https":
		return u.Host + ":443"
	}
	return u.Host + ":80"
}

// kept takes a connection that is still open from those that are idle.
func (d *direct) kept() *line {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.idle) > 0 {
		l := d.idle[len(d.idle)-1]
		d.idle = d.idle[:len(d.idle)-1]
		if time.Since(l.since) < idleTooLong && quiet(l.tcp.Conn) {
			return l
		}
		l.Close()
	}
	return nil
}

// leave gives a place among MaxConns back.
func (d *direct) leave() {
	if d.places != nil {
		<-d.places
	}
}

// CloseIdleConnections drops all connections that are not in use.
func (d *direct) CloseIdleConnections() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.idle {
		l.Close()
	}
	d.idle = nil
}

// roundTrip is one request on its connection.
type roundTrip struct {
	direct *direct
	line   *line
	req    *http.Request
	trace  *httptrace.ClientTrace
	body   requestBody

	answered bool        // a byte of the answer was read
	stop     func() bool // the watch over the context
	wrote    chan error  // how a write in the background ended; nil: it is over
	goAhead  chan bool   // with Expect: whether the body is to be sent
	expect   bool        // no final answer and no 100 Continue came yet
	over     atomic.Bool
}

func (x *roundTrip) do(reused bool) (*http.Response, error) {
	ctx := x.req.Context()
	if t := x.trace; t != nil && t.GotConn != nil {
		t.GotConn(httptrace.GotConnInfo{Conn: x.line.Conn, Reused: reused})
	}
	x.stop = context.AfterFunc(ctx, func() { x.line.Close() })
	r := *x.req
	r.Close = r.Close || !x.direct.options.KeepAlive
	if r.Body != nil && r.Body != http.NoBody {
		x.body = requestBody{ReadCloser: r.Body, trip: x}
		r.Body = &x.body
	}
	x.expect = r.Header.Get("Expect") == "100-continue" && r.Body != nil && x.direct.options.ExpectContinueTimeout > 0
	switch {
	case x.expect:
		x.goAhead = make(chan bool, 1)
		x.body.waits = true
		x.writeAside(&r)
	case r.ContentLength > smallBody || r.ContentLength < 0:
		x.writeAside(&r)
	default:
		if err := x.write(&r); err != nil {
			return x.lastWords(&r, err)
		}
	}
	resp, err := x.read(&r)
	if err != nil {
		if w := x.written(0); w != nil {
			err = w
		}
		x.finish(false)
		return nil, err
	}
	if resp.Body == http.NoBody {
		x.finish(!resp.Close && !r.Close)
		return resp, nil
	}
	resp.Body = &answerBody{ReadCloser: resp.Body, trip: x, keep: !resp.Close && !r.Close}
	return resp, nil
}

// lastWords reads what the server may have said before it cut the connection
// that err was met on.
func (x *roundTrip) lastWords(r *http.Request, err error) (*http.Response, error) {
	if cut(err) {
		x.line.SetReadDeadline(time.Now().Add(lingerForAnswer))
		if resp, readErr := x.read(r); readErr == nil {
			resp.Body = &answerBody{ReadCloser: resp.Body, trip: x}
			return resp, nil
		}
	}
	x.finish(false)
	return nil, err
}

// write writes the whole request.
func (x *roundTrip) write(r *http.Request) error {
	err := r.Write(x.line.out)
	if err == nil {
		err = x.line.out.Flush()
	}
	switch { // what net/http makes of an error cannot be unwrapped
	case err == nil:
	case x.body.err != nil:
		err = x.body.err
	case x.line.broken != nil:
		err = x.line.broken
	}
	if t := x.trace; t != nil && t.WroteRequest != nil {
		t.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
	return err
}

// writeAside writes the request while its answer is waited for: it may come
// early, and the rest of the body is then written, or not, while it is read.
func (x *roundTrip) writeAside(r *http.Request) {
	x.wrote = make(chan error, 1)
	wrote := x.wrote
	go func() {
		err := x.write(r)
		wrote <- err
		switch {
		case err == nil || errors.Is(err, errNotWanted):
		case cut(err): // what the server said before may still be on its way
			x.line.SetReadDeadline(time.Now().Add(lingerForAnswer))
		default: // our own body failed: no answer will come
			x.line.Close()
		}
	}()
}

// written waits at most so long for the request to be written.
func (x *roundTrip) written(wait time.Duration) error {
	if x.wrote == nil {
		return nil
	}
	select {
	case err := <-x.wrote:
		x.wrote = nil
		return err
	default:
	}
	if wait == 0 {
		return nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case err := <-x.wrote:
		x.wrote = nil
		return err
	case <-t.C:
		return errUnwritten
	}
}

var errUnwritten = errors.New("answered before the request was written")

// tlsAlert begins what a TLS server says to plain HTTP (RFC 8446, 5.1).
const tlsAlert = 21

var errTLS = errors.New("the server speaks TLS: is it https://?")

// read reads the answer's head, and informational ones before it.
func (x *roundTrip) read(r *http.Request) (*http.Response, error) {
	t := x.trace
	for {
		first, err := x.line.in.Peek(1)
		if err != nil {
			return nil, err
		}
		x.answered = true
		if first[0] == tlsAlert {
			return nil, errTLS
		}
		if t != nil && t.GotFirstResponseByte != nil {
			t.GotFirstResponseByte()
		}
		resp, err := http.ReadResponse(x.line.in, r)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			if x.expect {
				x.expect = false
				x.goAhead <- false // it did not want the body
			}
			return resp, nil
		}
		if resp.StatusCode == http.StatusContinue && x.expect {
			x.expect = false
			if t != nil && t.Got100Continue != nil {
				t.Got100Continue()
			}
			x.goAhead <- true
		}
		if t != nil && t.Got1xxResponse != nil {
			if err := t.Got1xxResponse(resp.StatusCode, textproto.MIMEHeader(resp.Header)); err != nil {
				return nil, err
			}
		}
	}
}

// finish ends the round trip: the connection is kept for the next one, or
// closed.
func (x *roundTrip) finish(keep bool) {
	if !x.over.CompareAndSwap(false, true) {
		return
	}
	keep = keep && x.written(lingerForWrite) == nil
	if !x.stop() || !keep || x.line.in.Buffered() > 0 {
		x.line.Close()
	} else {
		x.line.since = time.Now()
		x.direct.mu.Lock()
		x.direct.idle = append(x.direct.idle, x.line)
		x.direct.mu.Unlock()
	}
	x.direct.leave()
}

// answerBody is an answer's body. A connection whose answer is not read to the
// end is closed.
type answerBody struct {
	io.ReadCloser
	trip *roundTrip
	keep bool
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.trip.finish(b.keep && err == io.EOF)
	}
	return n, err
}

func (b *answerBody) Close() error {
	b.trip.finish(false)
	return nil
}

// requestBody is a request's body. With Expect it is read when the server has
// said 100 Continue, or has not said anything for a while: that holds the
// writer back, not the reader.
type requestBody struct {
	io.ReadCloser
	trip  *roundTrip
	waits bool
	err   error // other than io.EOF
}

var errNotWanted = errors.New("the server answered instead of 100 Continue")

func (b *requestBody) Read(p []byte) (int, error) {
	if b.waits {
		b.waits = false
		if b.err = b.trip.awaitContinue(); b.err != nil {
			return 0, b.err
		}
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// awaitContinue waits for what the server has to say before the body.
func (x *roundTrip) awaitContinue() error {
	if t := x.trace; t != nil && t.Wait100Continue != nil {
		t.Wait100Continue()
	}
	timer := time.NewTimer(x.direct.options.ExpectContinueTimeout)
	defer timer.Stop()
	select {
	case wanted := <-x.goAhead:
		if !wanted {
			return errNotWanted
		}
		return nil
	case <-x.req.Context().Done():
		return x.req.Context().Err()
	case <-timer.C:
		return nil
	}
}
