package servertest

import (
	"net"
	"sync"
	"testing"
)

// listener hands each connection to a function of its own, until it is closed
// and all of them have returned.
type listener struct {
	net.Listener
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   []net.Conn
}

// listen listens on a free loopback port until the test ends.
func listen(t testing.TB) *listener {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{Listener: tcp}
	t.Cleanup(l.closeAll)
	return l
}

// serve accepts connections. Each is closed when its handler returns.
func (l *listener) serve(handle func(net.Conn)) {
	l.running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if l.keep(conn) {
				l.running.Go(func() {
					defer conn.Close()
					handle(conn)
				})
			}
		}
	})
}

// keep has conn closed with the listener, or now if that is closed already.
func (l *listener) keep(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		conn.Close()
		return false
	}
	l.open = append(l.open, conn)
	return true
}

// closeAll breaks all connections and waits for their handlers.
func (l *listener) closeAll() {
	l.Close()
	l.mu.Lock()
	l.closed = true
	for _, conn := range l.open {
		conn.Close()
	}
	l.mu.Unlock()
	l.running.Wait()
}
