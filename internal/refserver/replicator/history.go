package replicator

import "time"

// event is one thing that happened to a job.
type event struct {
	kind   eventKind
	at     time.Time
	reason string // of a crash
}

type eventKind string

const (
	added   eventKind = "added"
	started eventKind = "started"
	stopped eventKind = "stopped"
	crashed eventKind = "crashed"
)

// history is what happened to a job, the newest first.
type history []event

// note adds what happened now and forgets what is older than the newest few.
func (h history) note(e event, keep int) history {
	h = append(history{e}, h...)
	return h[:min(len(h), max(1, keep))]
}

// lastStarted is when the job was last started, the zero time when it never was.
func (h history) lastStarted() time.Time { return h.last(started) }

func (h history) last(kind eventKind) time.Time {
	for _, e := range h {
		if e.kind == kind {
			return e.at
		}
	}
	return time.Time{}
}

// crashes counts the crashes in a row: those that came within the threshold of
// what happened before them. A job that was stopped after it ran begins anew.
func (h history) crashes(threshold time.Duration) int {
	n := 0
	for i := 0; i+1 < len(h); i++ {
		now, before := h[i], h[i+1]
		switch {
		case now.kind == crashed && now.at.Sub(before.at) > threshold:
			return n
		case now.kind == crashed:
			n++
		case now.kind == stopped && before.kind == started:
			return n
		}
	}
	return n
}

const (
	firstBackoff = 30 * time.Second
	mostDoubling = 10
)

// backoff is how long a job rests after so many crashes in a row.
func backoff(crashes int) time.Duration {
	if crashes < 1 {
		return firstBackoff / 2
	}
	return firstBackoff << min(crashes-1, mostDoubling)
}

// rested says whether a job that does not run may be started.
func (h history) rested(now time.Time, threshold time.Duration) bool {
	if len(h) == 0 || h[0].kind == stopped || len(h) == 1 && h[0].kind == added {
		return true
	}
	return now.Sub(h.last(crashed)) >= backoff(h.crashes(threshold))
}
