package replicate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"couchgauge/internal/couch"
)

// lookEvery is the time between two looks at the state of a sample's jobs, one
// of them each time. Completion is not learnt from looking, so that it does not
// blur a time.
const lookEvery = time.Second

// schedulerPage is how many jobs are asked for at a time.
const schedulerPage = 100

// schedulerJob is an entry of _scheduler/jobs (CouchDB docs, "/_scheduler/jobs").
type schedulerJob struct {
	Database *string         `json:"database"` // null for a job of _replicate
	DocID    *string         `json:"doc_id"`
	ID       string          `json:"id"`
	Source   string          `json:"source"`
	Target   string          `json:"target"`
	Info     json.RawMessage `json:"info"`
	History  []struct {
		Type   string `json:"type"` // newest first: "started", "crashed", "stopped", "added"
		Reason string `json:"reason"`
	} `json:"history"`
}

// moves says whether the entry is about the job's databases.
func (s schedulerJob) moves(j job) bool {
	return sameDatabase(s.Source, j.source) && sameDatabase(s.Target, j.target)
}

// sameDatabase compares an address as the scheduler prints it, which may hide
// a password as "*****" and ends in a slash.
func sameDatabase(printed string, e endpoint) bool {
	return strings.HasSuffix(strings.TrimSuffix(printed, "/"), "/"+couch.EscapeSegment(e.db))
}

// lookAtJob finds a job among all of a server's, page by page. Of one that is
// not there, or on a server without a scheduler, nothing is known.
func lookAtJob(ctx context.Context, s *couch.Server, is func(schedulerJob) bool) watching {
	for skip := 0; ; skip += schedulerPage {
		var page struct {
			Jobs []schedulerJob `json:"jobs"`
		}
		path := fmt.Sprintf("_scheduler/jobs?limit=%d&skip=%d", schedulerPage, skip)
		if s.Control().JSON(ctx, http.MethodGet, path, nil, &page) != nil {
			return watching{}
		}
		for _, j := range page.Jobs {
			if is(j) {
				return j.watching()
			}
		}
		if len(page.Jobs) < schedulerPage {
			return watching{}
		}
	}
}

func (s schedulerJob) watching() watching {
	w := watching{state: "pending", counters: parseCounters(s.Info)}
	for i := len(s.History) - 1; i >= 0; i-- { // oldest first
		switch e := s.History[i]; e.Type {
		case "started":
			if w.state == stateCrashing {
				w.restarts++
			}
			w.state = "running"
		case "crashed":
			w.state, w.reason = stateCrashing, innermost(e.Reason)
		case "stopped":
			w.state = "pending"
		}
	}
	w.at = string(s.Info)
	return w
}

// tooManyRequests is the reason of a job that its server stops because the
// other side keeps answering 429; it will start it again.
const tooManyRequests = "max_backoff"

// hopeless says whether waiting on is vain: the server would try again and
// again, later and later, and the time would mean nothing.
func (w watching) hopeless() bool {
	return w.state == stateFailed || w.state == stateCrashing && !strings.Contains(w.reason, tooManyRequests)
}

func (w watching) outcome() outcome {
	return outcome{State: w.state, Reason: w.reason, Restarts: w.restarts, Counters: w.counters}
}
