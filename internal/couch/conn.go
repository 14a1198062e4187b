package couch

import (
	"io"
	"sync"
)

// pieceSize is how much of a body reaches the socket in one write, in bytes.
// net/http alone would copy by 32 KiB, which costs a third of the speed.
const pieceSize = 256 << 10

var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// Conn is a connection to a server as HTTP sees it: inside TLS. It is what
// httptrace.GotConnInfo.Conn holds.
type Conn struct {
	*wire       // what HTTP writes and reads: TCP, or TLS on it
	tcp   *wire // the same without TLS

	interim interim // read by net/http's reader only

	hold bool   // the next Write is a head that waits for its body
	head []byte // one that waits

	broken error // of the last Write that failed
}

func newConn(http, tcp *wire) *Conn {
	return &Conn{wire: http, tcp: tcp}
}

// Written is how many bytes of HTTP were written so far, heads and bodies.
func (c *Conn) Written() int64 { return c.out.Load() }

// Received is how many bytes of HTTP were received so far.
func (c *Conn) Received() int64 { return c.in.Load() }

func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.wire.Read(p)
	c.interim.see(p[:n])
	return n, err
}

// longestHead is how long a head may be, in bytes, to wait for its body.
const longestHead = 16 << 10

// holdHead makes the next Write, which is a request's head, wait for ReadFrom,
// which sends it together with the first piece of the body: one packet in place
// of two for a small upload. It is for requests whose body follows at once.
func (c *Conn) holdHead() { c.hold = true }

// Write writes all of p.
func (c *Conn) Write(p []byte) (int, error) {
	if c.hold && len(p) <= longestHead {
		c.hold = false
		c.head = append(c.head[:0], p...)
		return len(p), nil
	}
	c.hold = false
	if len(c.head) > 0 {
		head := c.head
		c.head = nil
		if _, err := c.send(head); err != nil {
			return 0, err
		}
	}
	return c.send(p)
}

// send writes all of p.
func (c *Conn) send(p []byte) (int, error) {
	n, err := c.wire.Write(p)
	if err != nil {
		c.broken = err
	}
	return n, err
}

// ReadFrom writes a body in large pieces.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) {
	buf := pieces.Get().(*[pieceSize]byte)
	defer pieces.Put(buf)
	var total int64
	head := copy(buf[:], c.head)
	c.head = c.head[:0]
	for {
		n, err := r.Read(buf[head:])
		if n > 0 {
			m, werr := c.send(buf[:head+n])
			total += int64(max(0, m-head))
			head = 0
			if werr != nil {
				return total, werr
			}
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}
