package replicator

import (
	"testing"
	"time"
)

func second(n int) time.Time { return time.Unix(int64(n), 0) }

func TestCrashesInARow(t *testing.T) {
	at := func(kind eventKind, seconds int) event { return event{kind: kind, at: second(seconds)} }
	for name, c := range map[string]struct {
		history history // the newest first
		want    int
	}{
		"nothing":                        {nil, 0},
		"added":                          {history{at(added, 0)}, 0},
		"started":                        {history{at(started, 1), at(added, 0)}, 0},
		"crashed at the start":           {history{at(crashed, 1), at(started, 0), at(added, 0)}, 1},
		"twice":                          {history{at(crashed, 3), at(started, 2), at(crashed, 1), at(started, 0)}, 2},
		"running after a crash":          {history{at(started, 2), at(crashed, 1), at(started, 0)}, 1},
		"stopped after it ran":           {history{at(stopped, 3), at(started, 2), at(crashed, 1), at(started, 0)}, 0},
		"crashed after it was stopped":   {history{at(crashed, 3), at(started, 2), at(stopped, 1), at(started, 0)}, 1},
		"ran as long as the threshold":   {history{at(crashed, 120), at(started, 0)}, 1},
		"ran longer":                     {history{at(crashed, 121), at(started, 0)}, 0},
		"ran longer before the last":     {history{at(crashed, 300), at(started, 299), at(crashed, 298), at(started, 0)}, 1},
		"crash whose start is forgotten": {history{at(crashed, 1)}, 0},
	} {
		if got := c.history.crashes(120 * time.Second); got != c.want {
			t.Errorf("%s: %d crashes, want %d", name, got, c.want)
		}
	}
}

func TestBackoffDoublesToAnEnd(t *testing.T) {
	for crashes, want := range map[int]time.Duration{
		1: 30 * time.Second, 2: time.Minute, 5: 8 * time.Minute, 11: 512 * time.Minute, 50: 512 * time.Minute,
	} {
		if got := backoff(crashes); got != want {
			t.Errorf("after %d crashes: %v, want %v", crashes, got, want)
		}
	}
}

func TestHistoryForgetsTheOldest(t *testing.T) {
	var h history
	for i := range 30 {
		h = h.note(event{kind: started, at: second(i)}, 20)
	}
	if len(h) != 20 || !h[0].at.Equal(second(29)) || !h[19].at.Equal(second(10)) {
		t.Errorf("%d events, from %v to %v", len(h), h[len(h)-1].at, h[0].at)
	}
}
