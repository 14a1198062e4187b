package upload

import (
	"io"
	"net/http/httptrace"
	"net/textproto"
	"sync/atomic"
	"time"

	"couchgauge/internal/couch"
)

// watch notes the moments of one request. net/http calls it from its own
// goroutines, and may do so after the answer is complete.
type watch struct {
	start time.Time
	hooks httptrace.ClientTrace
	body  meter

	connected, waiting, bodyWritten, firstByte stamp
	informed                                   atomic.Bool // a 1xx took the place of firstByte

	conn    atomic.Pointer[couch.Conn]
	written atomic.Int64 // by conn before this request
}

func newWatch() *watch {
	w := &watch{}
	w.body.watch = w
	w.hooks = httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			w.connected.set(w.start)
			if c, ok := info.Conn.(*couch.Conn); ok {
				w.written.Store(c.Written())
				w.conn.Store(c)
			}
		},
		Wait100Continue:      func() { w.waiting.set(w.start) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { w.bodyWritten.set(w.start) },
		GotFirstResponseByte: func() { w.firstByte.set(w.start) },
		Got1xxResponse: func(int, textproto.MIMEHeader) error {
			w.informed.Store(true)
			return nil
		},
	}
	return w
}

// reset makes w ready for another request. The one before must be over: its
// body written, its answer read.
func (w *watch) reset() {
	for _, s := range []*stamp{&w.connected, &w.waiting, &w.bodyWritten, &w.firstByte, &w.body.started} {
		s.Store(0)
	}
	w.informed.Store(false)
	w.conn.Store(nil)
	w.body.spent.Store(0)
	w.body.read.Store(0)
}

// stamp is a moment after a start; 0 = not reached.
type stamp struct{ atomic.Int64 }

func (s *stamp) set(start time.Time) { s.Store(int64(max(1, time.Since(start)))) }
func (s *stamp) get() time.Duration  { return time.Duration(s.Load()) }

// answered is called when the head of the final answer was read. net/http
// tells of the first byte only once; where that was a 1xx's, the head's end
// stands for the answer's first byte.
func (w *watch) answered() {
	if w.informed.Load() || w.firstByte.get() == 0 {
		w.firstByte.set(w.start)
	}
}

// moments takes stock when the last byte was read, or the request failed.
func (w *watch) moments() moments {
	m := moments{
		connected:   w.connected.get(),
		waiting:     w.waiting.get(),
		bodyWritten: w.bodyWritten.get(),
		firstByte:   w.firstByte.get(),
		lastByte:    time.Since(w.start),

		bodyStarted:  w.body.started.get(),
		inBodyReader: time.Duration(w.body.spent.Load()),
	}
	return m
}

// wire is how many bytes this request has written, head and body.
func (w *watch) wire() int64 {
	if c := w.conn.Load(); c != nil {
		return c.Written() - w.written.Load()
	}
	return 0
}

// meter measures the time that a body's reader takes, and counts its bytes.
type meter struct {
	io.Reader
	watch   *watch
	started stamp
	spent   atomic.Int64  // nanoseconds
	read    atomic.Int64  // bytes
	total   *atomic.Int64 // of the run
}

func (m *meter) Read(p []byte) (int, error) {
	before := time.Now()
	if m.started.get() == 0 {
		m.started.Store(int64(max(1, before.Sub(m.watch.start))))
	}
	n, err := m.Reader.Read(p)
	m.spent.Add(int64(time.Since(before)))
	m.read.Add(int64(n))
	m.total.Add(int64(n))
	return n, err
}

// Close does nothing: a body holds nothing that has to be given back.
func (m *meter) Close() error { return nil }
