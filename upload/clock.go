package upload

import (
	"context"
	"time"
)

// clock is the time between samples. Tests put their own in its place; what
// is measured is always the machine's.
type clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error // ends early, with an error, when ctx does
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
