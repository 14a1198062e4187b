package servertest

import (
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy passes bytes on between clients and one server, and counts them. It
// keeps the heads of the requests but not their bodies, so that it takes
// uploads of any size.
//
// Bytes are counted, and requests kept, before they are passed on: whoever has
// an answer finds its request in full.
type Proxy struct {
	URL string // the target's, with the proxy's address for the server's

	target   string // host:port
	listener *listener
	sent     atomic.Int64
	received atomic.Int64

	mu       sync.Mutex
	requests []Request
}

// CountingProxy starts a proxy to target, a base URL, that lives as long as
// the test.
func CountingProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	address, err := url.Parse(target)
	if err != nil {
		t.Fatalf("the proxy's target: %v", err)
	}
	p := &Proxy{target: address.Host, listener: listen(t)}
	address.Host = p.listener.Addr().String()
	p.URL = address.String()
	p.listener.serve(p.pass)
	return p
}

// Sent is the number of bytes that went from clients to the server.
func (p *Proxy) Sent() int64 { return p.sent.Load() }

// Received is the number of bytes that went from the server to clients.
func (p *Proxy) Received() int64 { return p.received.Load() }

// Requests returns the requests so far, without bodies, in the order in which
// their last bytes came.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// pass serves one client until both sides have ended.
func (p *Proxy) pass(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil || !p.listener.keep(server) {
		return
	}
	defer server.Close()
	var both sync.WaitGroup
	both.Go(func() { p.up(client, server) })
	both.Go(func() { p.down(client, server) })
	both.Wait()
}

// up passes on what the client sends.
func (p *Proxy) up(client, server net.Conn) {
	from := &delayed{from: client, to: server, count: &p.sent}
	reader := newRequestReader(from)
	for {
		request, err := reader.head()
		if err != nil {
			break
		}
		err = reader.body(io.Discard, &request)
		p.mu.Lock()
		p.requests = append(p.requests, request)
		p.mu.Unlock()
		if err != nil {
			break
		}
	}
	io.Copy(io.Discard, from) // what is not HTTP is passed on all the same
	server.(*net.TCPConn).CloseWrite()
}

// down passes on what the server answers.
func (p *Proxy) down(client, server net.Conn) {
	io.Copy(io.Discard, &delayed{from: server, to: client, count: &p.received})
	client.(*net.TCPConn).CloseWrite()
}

// delayed is a reader that counts what it reads, and passes it on only when it
// is asked for more: its user has seen all bytes before the other side has
// seen any.
type delayed struct {
	from    net.Conn
	to      net.Conn
	count   *atomic.Int64
	pending []byte
}

func (d *delayed) Read(p []byte) (int, error) {
	if _, err := d.to.Write(d.pending); err != nil {
		return 0, err
	}
	n, err := d.from.Read(p)
	d.count.Add(int64(n))
	d.pending = append(d.pending[:0], p[:n]...)
	return n, err
}
