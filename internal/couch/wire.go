package couch

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// wire is a connection that counts what moves, also while a large Write is
// still under way.
type wire struct {
	net.Conn
	in, out atomic.Int64

	mu    sync.Mutex
	poked bool
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.in.Add(int64(n))
	return n, err
}

func (w *wire) Write(p []byte) (int, error) {
	n := 0
	for {
		m, err := w.Conn.Write(p[n:])
		n += m
		w.out.Add(int64(m))
		if errors.Is(err, os.ErrDeadlineExceeded) && w.wasPoked() {
			continue
		}
		return n, err
	}
}

// poke makes a Write that is under way count what it has written so far: its
// deadline passes, it takes note and goes on.
func (w *wire) poke() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.poked = true
	w.SetWriteDeadline(time.Unix(1, 0))
}

func (w *wire) wasPoked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	poked := w.poked
	w.poked = false
	w.SetWriteDeadline(time.Time{})
	return poked
}

// moved is a number that changes whenever bytes move: received, taken by the
// kernel, or, where the kernel tells, acknowledged by the peer.
func (w *wire) moved() int64 { return w.in.Load() + w.out.Load() - int64(unsent(w.Conn)) }
