package engine

import (
	"encoding/json"
	"sync/atomic"
	"time"
)

// Progress is how far a replication is. Counters only grow, from the start of
// Run.
type Progress struct {
	MissingChecked   int64 // revisions compared with the target
	MissingFound     int64 // of them those that it lacked
	DocsRead         int64 // leaves read from the source
	DocsWritten      int64 // leaves stored by the target
	DocWriteFailures int64 // leaves refused by the target, or gone from the source

	BulkGetAttempts int64 // revisions asked for by _bulk_get
	BulkGetDocs     int64 // of them those that it brought
	FeedDocs        int64 // leaves that came with the feed, without a request

	BytesRead    int64 // bodies received from the source
	BytesWritten int64 // bodies sent to the target
	Retries      int64 // requests sent again

	SourceSeq       json.RawMessage // of the last change read; nil at the beginning
	ThroughSeq      json.RawMessage // up to which all is written
	CheckpointedSeq json.RawMessage // up to which a checkpoint says so
	Pending         int64           // changes not yet written; -1 when the source does not tell

	Timers Timers
}

// counters are the running sums behind Progress.
type counters struct {
	checked, found                atomic.Int64
	docsRead, docsWritten, failed atomic.Int64
	bulkAttempts, bulkDocs        atomic.Int64
	feedDocs                      atomic.Int64
	rows                          atomic.Int64 // changes read
	pendingAtStart                atomic.Int64
}

// Progress may be called at any time, by any goroutine.
func (r *Replication) Progress() Progress {
	c := &r.count
	p := Progress{
		MissingChecked:   c.checked.Load(),
		MissingFound:     c.found.Load(),
		DocsRead:         c.docsRead.Load(),
		DocsWritten:      c.docsWritten.Load(),
		DocWriteFailures: c.failed.Load(),
		BulkGetAttempts:  c.bulkAttempts.Load(),
		BulkGetDocs:      c.bulkDocs.Load(),
		FeedDocs:         c.feedDocs.Load(),
		Pending:          -1,
		Timers: Timers{
			Changes: r.stages.changes.timer(),
			Diff:    r.stages.diff.timer(),
			Read:    r.stages.read.timer(),
			Write:   r.stages.write.timer(),
		},
	}
	r.mu.Lock()
	p.SourceSeq, p.CheckpointedSeq = r.sourceSeq, r.checkpointed
	source, target := r.source, r.target
	r.mu.Unlock()
	p.ThroughSeq = r.tracker.through()
	if n := c.pendingAtStart.Load(); n >= 0 {
		// Changes made meanwhile are seen when the feed brings them.
		p.Pending = max(0, max(n, c.rows.Load())-r.tracker.finished())
	}
	if source != nil {
		p.BytesRead = source.read.Load()
		p.BytesWritten = target.wrote.Load()
		p.Retries = source.retried.Load() + target.retried.Load()
	}
	return p
}

// Result is what a replication did.
type Result struct {
	SessionID     string
	ReplicationID string
	StartSeq      json.RawMessage // where it began; nil is the beginning
	EndSeq        json.RawMessage // up to which all is written
	NoChanges     bool            // there was nothing after StartSeq
	Started       time.Time
	Ended         time.Time

	Progress

	// Failures are the first failedNamed of DocWriteFailures.
	Failures []Failure
	// History is this session and those before it, as the checkpoint has it.
	History []History
}

// failedNamed bounds the failures that are kept by name.
const failedNamed = 100

// fail counts a document that is not copied.
func (r *Replication) fail(f Failure) {
	r.count.failed.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failures) < failedNamed {
		r.failures = append(r.failures, f)
	}
}

func (r *Replication) result() Result {
	p := r.Progress()
	res := Result{
		SessionID: r.session, Started: r.started, Ended: r.clock.now(),
		Progress: p, EndSeq: p.ThroughSeq,
	}
	r.mu.Lock()
	res.Failures = r.failures
	r.mu.Unlock()
	if r.log != nil {
		res.ReplicationID = r.log.id
		res.StartSeq = r.log.start
		res.NoChanges = r.count.rows.Load() == 0
		res.History = append([]History{r.history(p.ThroughSeq)}, r.log.before...)
	}
	return res
}
