package engine

import (
	"context"
	"time"
)

// SetSleep replaces the pauses between tries and between checkpoints.
func (r *Replication) SetSleep(sleep func(context.Context, time.Duration) error) {
	r.clock.sleep = sleep
}
