package engine

import (
	"context"
	"time"
)

// SetSleep replaces the pauses between tries and between checkpoints.
func (r *Replication) SetSleep(sleep func(context.Context, time.Duration) error) {
	r.clock.sleep = sleep
}

// SetNow replaces the clock by which stages and ways of reading are timed.
func (r *Replication) SetNow(now func() time.Time) { r.clock.now = now }
