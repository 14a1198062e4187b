package engine

import (
	"encoding/json"
	"sync"
	"sync/atomic"
)

// batch is a piece of the feed, and the unit of progress. It is done when
// everything in it is written or counted as failed.
type batch struct {
	seq  json.RawMessage // of its last change; nil when the source left it out
	left atomic.Int64    // pieces of work not yet done
	rows int
	t    *tracker
}

func (b *batch) add() { b.left.Add(1) }

func (b *batch) done() {
	if b.left.Add(-1) == 0 {
		b.t.advance()
	}
}

// tracker knows up to which sequence every batch is done.
type tracker struct {
	mu   sync.Mutex
	open []*batch // in the order of the feed
	seq  json.RawMessage
	rows int64 // changes in batches that are done
}

// from sets where the feed begins.
func (t *tracker) from(seq json.RawMessage) {
	t.mu.Lock()
	t.seq = seq
	t.mu.Unlock()
}

// start enters a batch, with one piece of work: its caller's.
func (t *tracker) start() *batch {
	b := &batch{t: t}
	b.left.Store(1)
	t.mu.Lock()
	t.open = append(t.open, b)
	t.mu.Unlock()
	return b
}

func (t *tracker) advance() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.open) > 0 && t.open[0].left.Load() == 0 {
		b := t.open[0]
		t.open[0] = nil
		t.open = t.open[1:]
		t.rows += int64(b.rows)
		if b.seq != nil {
			t.seq = b.seq
		}
	}
}

// through is the sequence before which all is done; nil at the beginning.
func (t *tracker) through() json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seq
}

// finished is the number of changes in batches that are done.
func (t *tracker) finished() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rows
}
