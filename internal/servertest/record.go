package servertest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
)

// Recorder is a server on plain TCP that does what a script says and keeps
// all that it received.
type Recorder struct {
	URL string // http://127.0.0.1:PORT/

	mu          sync.Mutex
	connections []*Conn
	requests    []Request
}

// Script is run for every connection that is accepted, several at a time. The
// connection is closed when it returns. Its error only ends it: clients may
// break connections.
type Script func(*Conn) error

// Record starts a recorder that lives as long as the test.
func Record(t testing.TB, script Script) *Recorder {
	t.Helper()
	l := listen(t)
	r := &Recorder{URL: "http://" + l.Addr().String() + "/"}
	l.serve(func(conn net.Conn) {
		c := &Conn{recorder: r, conn: conn}
		c.reader = newRequestReader(io.TeeReader(conn, &c.received))
		r.mu.Lock()
		r.connections = append(r.connections, c)
		r.mu.Unlock()
		script(c)
	})
	return r
}

// Answers is a script that reads requests whole and gives the n-th request of
// the connection the n-th answer, and the last answer to all further ones.
// Answers are HTTP as sent: status line, header, empty line, body.
func Answers(answers ...string) Script {
	return func(c *Conn) error {
		for i := 0; ; i++ {
			if _, err := c.Request(); err != nil {
				return err
			}
			if err := c.Answer(answers[min(i, len(answers)-1)]); err != nil {
				return err
			}
		}
	}
}

// Requests returns the requests of all connections so far, in the order in
// which their heads were read. One whose body was not read, or broke off, has
// as much of it as was.
func (r *Recorder) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Received returns what came over each connection, byte for byte, in the order
// in which they were accepted.
func (r *Recorder) Received() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all [][]byte
	for _, c := range r.connections {
		all = append(all, c.received.bytes())
	}
	return all
}

// Conn is one connection of a recorder, as its script sees it.
type Conn struct {
	recorder *Recorder
	conn     net.Conn
	reader   *requestReader
	current  int // index in recorder.requests of the request whose head was read last
	received record
}

// Request reads the next request whole. It returns io.EOF where the client
// closes the connection instead.
func (c *Conn) Request() (Request, error) {
	request, err := c.Head()
	if err != nil {
		return request, err
	}
	err = c.Body(&request)
	return request, err
}

// Head reads the next request up to its body.
func (c *Conn) Head() (Request, error) {
	request, err := c.reader.head()
	if err != nil {
		return request, err
	}
	c.recorder.mu.Lock()
	defer c.recorder.mu.Unlock()
	c.current = len(c.recorder.requests)
	c.recorder.requests = append(c.recorder.requests, request)
	return request, nil
}

// Body reads the body of the request whose head was read last.
func (c *Conn) Body(request *Request) error {
	var body bytes.Buffer
	err := c.reader.body(&body, request)
	request.Body = body.Bytes()
	c.recorder.mu.Lock()
	defer c.recorder.mu.Unlock()
	c.recorder.requests[c.current] = *request
	return err
}

// Discard reads n bytes of whatever comes next.
func (c *Conn) Discard(n int) error {
	_, err := c.reader.buffered.Discard(n)
	return err
}

// Answer sends text as it is.
func (c *Conn) Answer(text string) error {
	_, err := io.WriteString(c.conn, text)
	return err
}

// Reset breaks the connection: the client sees ECONNRESET, not an end.
func (c *Conn) Reset() error {
	tcp := c.conn.(*net.TCPConn)
	return errors.Join(tcp.SetLinger(0), tcp.Close())
}

// record keeps bytes while they are read and may be looked at meanwhile.
type record struct {
	mu   sync.Mutex
	kept []byte
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, p...)
	return len(p), nil
}

func (r *record) bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.kept)
}
