package engine

import (
	"context"
	"sync/atomic"
	"time"
)

// Timer is where the workers of a stage spent their time, summed over them:
// doing their work (most of it waiting for the server), waiting for the stage
// before, waiting for the stage after.
type Timer struct {
	Busy, WaitIn, WaitOut time.Duration
}

// Timers has one Timer per stage. Documents that come with the feed are read
// by Changes, and Read then has nothing to do.
type Timers struct {
	Changes, Diff, Read, Write Timer
}

// stage is a Timer that is running.
type stage struct {
	busy, in, out atomic.Int64
}

func (s *stage) timer() Timer {
	return Timer{
		Busy:    time.Duration(s.busy.Load()),
		WaitIn:  time.Duration(s.in.Load()),
		WaitOut: time.Duration(s.out.Load()),
	}
}

// lap follows one worker: each mark gives the time since the last one to one
// of the stage's sums.
type lap struct {
	*stage
	now  func() time.Time
	last time.Time
}

func (s *stage) lap(now func() time.Time) *lap { return &lap{stage: s, now: now, last: now()} }

func (l *lap) mark(sum *atomic.Int64) {
	t := l.now()
	sum.Add(int64(t.Sub(l.last)))
	l.last = t
}

// skip leaves the time since the last mark out: others counted it.
func (l *lap) skip() { l.last = l.now() }

// give sends v to the next stage.
func give[T any](ctx context.Context, l *lap, ch chan<- T, v T) error {
	l.mark(&l.busy)
	defer l.mark(&l.out)
	select {
	case ch <- v:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// take receives from the stage before; false when there is no more.
func take[T any](ctx context.Context, l *lap, ch <-chan T) (T, bool) {
	l.mark(&l.busy)
	defer l.mark(&l.in)
	select {
	case v, ok := <-ch:
		return v, ok
	case <-ctx.Done():
		var none T
		return none, false
	}
}
