package replicate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"couchgauge/internal/couch"
)

// filed is a job submitted as a document of a replicator database (CouchDB
// docs, "Replicator Database").
type filed struct {
	job   job
	feed  *feed // of the job's database
	ended chan outcome
}

// replicationState is what the server writes into the document.
type replicationState struct {
	State  string          `json:"_replication_state"`
	Reason json.RawMessage `json:"_replication_state_reason"`
	Stats  json.RawMessage `json:"_replication_stats"`
}

func prepareReplicator(ctx context.Context, j job) (running, error) {
	feed, err := openFeed(ctx, j.at, j.database, feedOptions{since: "now", docs: true})
	if err != nil {
		return nil, fmt.Errorf("prepare %s: watch database %s: %w", j, j.database, err)
	}
	return &filed{job: j, feed: feed, ended: make(chan outcome, 1)}, nil
}

func (f *filed) submit(ctx context.Context) error {
	err := f.job.at.Control().JSON(ctx, http.MethodPut, couch.DocPath(f.job.database, f.job.id), f.job.document(), nil)
	if err != nil {
		return fmt.Errorf("submit %s: %w", f.job, err)
	}
	go func() { f.ended <- f.follow(ctx) }()
	return nil
}

// follow reads the database's feed until the document says that the job ended.
func (f *filed) follow(ctx context.Context) outcome {
	for {
		row, err := f.feed.next(ctx)
		if err != nil {
			return outcome{State: stateUnknown, err: fmt.Errorf("wait for %s: %w", f.job, err)}
		}
		if row.ID != f.job.id {
			continue
		}
		var s replicationState
		if json.Unmarshal(row.Doc, &s) != nil {
			continue
		}
		switch s.State {
		case stateCompleted:
			return outcome{State: stateCompleted, Counters: parseCounters(s.Stats)}
		case "failed", "error":
			var reason string
			if json.Unmarshal(s.Reason, &reason) != nil {
				reason = string(s.Reason)
			}
			return outcome{State: s.State, Reason: innermost(reason), Counters: parseCounters(s.Stats)}
		}
	}
}

func (f *filed) wait(ctx context.Context) outcome { return await(ctx, f, f.ended, f.job.look) }

// watch asks the scheduler about the document: its state is the truth, the
// job's history has the restarts (fact 27).
func (f *filed) watch(ctx context.Context) watching {
	w := lookAtJob(ctx, f.job.at, func(s schedulerJob) bool {
		return s.Database != nil && s.DocID != nil && *s.DocID == f.job.id && s.moves(f.job)
	})
	var doc struct {
		State string          `json:"state"`
		Info  json.RawMessage `json:"info"`
	}
	path := "_scheduler/docs/" + couch.DocPath(f.job.database, f.job.id)
	if f.job.at.Control().JSON(ctx, http.MethodGet, path, nil, &doc) != nil {
		return w
	}
	w.state = doc.State
	var info struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(doc.Info, &info) == nil && len(info.Error) > 0 {
		var reason string
		if json.Unmarshal(info.Error, &reason) != nil {
			reason = string(info.Error)
		}
		w.reason = innermost(reason)
	}
	if w.counters == (counters{}) {
		w.counters = parseCounters(doc.Info)
	}
	return w
}

// stop deletes the document, which ends the job.
func (f *filed) stop(ctx context.Context) error {
	f.feed.close()
	return deleteDocument(ctx, f.job.at, f.job.database, f.job.id)
}

// deleteDocument deletes the winning revision of a document that its server
// may be writing to. One that is not there is as good.
func deleteDocument(ctx context.Context, s *couch.Server, db, id string) error {
	const tries = 10
	var err error
	for range tries {
		var doc struct {
			Rev string `json:"_rev"`
		}
		path := couch.DocPath(db, id)
		if err = s.Control().JSON(ctx, http.MethodGet, path, nil, &doc); err == nil {
			err = s.Control().JSON(ctx, http.MethodDelete, path+"?rev="+doc.Rev, nil, nil)
		}
		var refused *couch.Error
		if err == nil || errors.As(err, &refused) && refused.Status == http.StatusNotFound {
			return nil
		}
		if refused == nil || refused.Status != http.StatusConflict {
			break
		}
	}
	return fmt.Errorf("delete %s from %s: %w", id, db, err)
}
