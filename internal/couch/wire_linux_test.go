package couch

import (
	"io"
	"net"
	"runtime"
	"testing"
)

// What the kernel holds back counts as moved only once the peer has it (U6).
func TestUnsent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	here, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	there, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	if err := there.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	w := &wire{Conn: here}
	const size = 8 << 20 // more than both sides buffer
	written := make(chan error)
	go func() {
		_, err := w.Write(make([]byte, size))
		written <- err
	}()
	buf := make([]byte, 1000)
	if _, err := io.ReadFull(there, buf); err != nil {
		t.Fatal(err)
	}
	for unsent(here) == 0 { // until the kernel holds what the peer has no room for
		runtime.Gosched()
	}
	before := w.moved()
	if _, err := io.CopyN(io.Discard, there, size-1000); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if _, err := there.Write(buf[:1]); err != nil { // acknowledges all of it
		t.Fatal(err)
	}
	if _, err := w.Read(buf); err != nil {
		t.Fatal(err)
	}
	if n := unsent(here); n != 0 {
		t.Errorf("%d bytes are unsent after all were read", n)
	}
	if got := w.moved(); got != size+1 || before >= got {
		t.Errorf("moved %d, then %d; want less, then %d", before, got, size+1)
	}
}
