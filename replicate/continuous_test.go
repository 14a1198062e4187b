package replicate

import (
	"testing"
	"time"
)

func TestPaceDoesNotWait(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p := newPace(start, 200, 20*time.Second)
	if p.total != 4000 {
		t.Errorf("%d documents, want 4000", p.total)
	}
	if got := p.due(1); got != start.Add(5*time.Millisecond) {
		t.Errorf("document 1 is due at %v", got)
	}
	if got := p.due(3999).Sub(start); got < 19994*time.Millisecond || got > 19996*time.Millisecond {
		t.Errorf("document 3999 is due after %v", got)
	}
}

func TestLiveID(t *testing.T) {
	if k, ok := parseLiveID(liveID(3, 42)); k != 42 || !ok {
		t.Errorf("read %d, %v", k, ok)
	}
	for _, id := range []string{"doc-0000000001", "live-", "live-00-x", ""} {
		if _, ok := parseLiveID(id); ok {
			t.Errorf("%q is no live id", id)
		}
	}
}
