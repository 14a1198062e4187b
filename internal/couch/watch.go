package couch

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync"
	"time"
)

// watch is one request under way. It ends the request when no byte has moved
// for the idle timeout, or when the overall timeout is over; it never ends one
// whose bytes move (case U6).
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	client *Client
	length int64 // of the body; -1 = not known

	holdHead bool // see Conn.holdHead

	idle, whole time.Duration
	began       time.Time
	timer       *time.Timer

	mu       sync.Mutex
	conn     *Conn
	reused   bool
	from     int64 // conn's counters when it was got
	fromIn   int64
	moved    int64 // as of the last look
	movedAt  time.Time
	over     bool
	wrote    bool // the whole request
	retiring bool // an informational answer said that the connection will close
}

// looks is how often a request is looked at within its idle timeout: it ends at
// most one such part later than the timeout says, and never early.
const looks = 8

func (c *Client) watch(ctx context.Context, r *Request) *watch {
	x := &watch{client: c, length: r.ContentLength,
		holdHead: r.ContentLength > 0 && r.Header.Get("Expect") == "", idle: c.options.IdleTimeout, whole: c.server.options.Timeout}
	var trace httptrace.ClientTrace
	if r.Trace != nil {
		trace = *r.Trace
	}
	gotConn, wrote, got1xx := trace.GotConn, trace.WroteRequest, trace.Got1xxResponse
	trace.GotConn = func(info httptrace.GotConnInfo) {
		x.got(info)
		if gotConn != nil {
			gotConn(info)
		}
	}
	trace.WroteRequest = func(info httptrace.WroteRequestInfo) {
		x.mu.Lock()
		x.wrote = info.Err == nil
		x.mu.Unlock()
		if wrote != nil {
			wrote(info)
		}
	}
	trace.Got1xxResponse = func(code int, header textproto.MIMEHeader) error {
		x.sawInterim()
		if got1xx != nil {
			return got1xx(code, header)
		}
		return nil
	}
	x.ctx, x.cancel = context.WithCancelCause(httptrace.WithClientTrace(ctx, &trace))
	x.mu.Lock() // the timer may be faster than the assignment to it
	defer x.mu.Unlock()
	x.began = time.Now()
	x.movedAt = x.began
	if next := x.next(x.began); next > 0 {
		x.timer = time.AfterFunc(next, x.look)
	}
	return x
}

// next is the time until the next look; 0 = there is nothing to look for.
func (x *watch) next(now time.Time) time.Duration {
	next := x.idle / looks
	if x.whole > 0 {
		left := max(x.whole-now.Sub(x.began), 1)
		if next == 0 || left < next {
			next = left
		}
	}
	return next
}

func (x *watch) got(info httptrace.GotConnInfo) {
	c, ok := info.Conn.(*Conn)
	if !ok {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.conn, x.reused, x.wrote = c, info.Reused, false
	x.from, x.fromIn = c.Written(), c.Received()
	x.moved, x.movedAt = c.tcp.in.Load()+c.tcp.out.Load(), time.Now()
	if x.holdHead {
		c.holdHead()
	}
}

// look is run by the timer.
func (x *watch) look() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return
	}
	now := time.Now()
	if x.conn != nil {
		if m := x.conn.tcp.moved(); m != x.moved {
			x.moved, x.movedAt = m, now
		}
	}
	switch {
	case x.whole > 0 && now.Sub(x.began) >= x.whole:
		x.cancel(x.timeout(false, x.whole))
		return
	case x.idle > 0 && now.Sub(x.movedAt) >= x.idle:
		x.cancel(x.timeout(true, x.idle))
		return
	}
	if x.conn != nil {
		x.conn.tcp.poke()
	}
	x.timer.Reset(x.next(now))
}

// timeout describes how far the request was.
func (x *watch) timeout(idle bool, after time.Duration) *TimeoutError {
	e := &TimeoutError{Idle: idle, After: after, Of: x.length}
	e.Sent, e.Received = x.progress()
	return e
}

// progress is how many bytes of HTTP this request has sent, less those that
// the kernel still holds, and received.
func (x *watch) progress() (sent, received int64) {
	if x.conn == nil {
		return 0, 0
	}
	sent = x.conn.Written() - x.from - int64(unsent(x.conn.tcp.Conn))
	return max(sent, 0), x.conn.Received() - x.fromIn
}

// sawInterim is called by the connection's reader.
func (x *watch) sawInterim() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.retiring = x.retiring || x.conn != nil && x.conn.interim.announcesClose()
}

// attach lets the watch go on until the answer's body has been read.
func (x *watch) attach(resp *http.Response) {
	if resp.Body == http.NoBody {
		x.end()
		return
	}
	resp.Body = &watchedBody{body: resp.Body, watch: x}
}

// end stops watching. It may be called more than once.
func (x *watch) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return
	}
	x.over = true
	if x.timer != nil {
		x.timer.Stop()
	}
	x.cancel(nil)
	if x.retiring {
		// By now the connection waits for the next request.
		x.client.transport.CloseIdleConnections()
	}
}

// watchedBody is an answer's body: reading it is part of the request.
type watchedBody struct {
	body  io.ReadCloser
	watch *watch
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if err == io.EOF {
		b.watch.end()
	} else if err != nil {
		err = b.watch.explain(err)
		b.watch.end()
	}
	return n, err
}

func (b *watchedBody) Close() error {
	err := b.body.Close()
	b.watch.end()
	return err
}
