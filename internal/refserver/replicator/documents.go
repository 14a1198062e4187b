package replicator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Store writes into replication documents.
type Store interface {
	// SetMembers changes members of a document, and removes those without a
	// value. That the document is gone is no error.
	SetMembers(database, id string, change []Member) error
}

// Member is one member of a JSON object.
type Member struct {
	Name  string
	Value any // nil: no such member
}

// The members that the replicator writes into a document (CouchDB
// documentation, "Replicator Database").
const (
	memberState  = "_replication_state"
	memberTime   = "_replication_state_time"
	memberReason = "_replication_state_reason"
	memberStats  = "_replication_stats"
)

// State is the state of a replication document.
type State string

// The states of a document. All but the last two are told by _scheduler/docs
// only: they are not written into the document.
const (
	Initializing State = "initializing" // it was seen
	Errored      State = "error"        // it could not be made a job, which will be tried again
	Running      State = "running"
	Pending      State = "pending"
	Crashing     State = "crashing"
	Completed    State = "completed"
	Failed       State = "failed"
)

// States are all of them, in the order in which CouchDB lists them.
var States = []State{Initializing, Errored, Running, Pending, Crashing, Completed, Failed}

// Documents turns replication documents into jobs and keeps the two in step.
type Documents struct {
	s     *Scheduler
	store Store

	mu   sync.Mutex
	rows map[docKey]*row
}

type docKey struct{ database, id string }

// row is a document that is not at its end.
type row struct {
	job     Job
	jobID   string // "" until it is in the scheduler
	state   State  // Initializing, Errored; Running stands for all of the scheduler's
	info    string // why it could not be made a job
	errors  int    // how often, in a row
	updated time.Time
	cancel  context.CancelFunc
}

// NewDocuments is for the documents that store writes to.
func NewDocuments(s *Scheduler, store Store) *Documents {
	d := &Documents{s: s, store: store, rows: map[docKey]*row{}}
	s.completed = d.completed
	return d
}

// docState is what a document says of its own state.
type docState struct {
	State  State           `json:"_replication_state"`
	Time   *string         `json:"_replication_state_time"`
	Reason json.RawMessage `json:"_replication_state_reason"`
	Stats  json.RawMessage `json:"_replication_stats"`
}

// Changed is told of every change of a replication document; body is nil when
// it was deleted. The error is that of writing the document.
func (d *Documents) Changed(database, id string, body json.RawMessage) error {
	key := docKey{database, id}
	if body == nil {
		d.forget(key)
		d.s.removeOf(database, id)
		return nil
	}
	var at docState
	if err := json.Unmarshal(body, &at); err != nil {
		return fmt.Errorf("read replication document %q of %q: %w", id, database, err)
	}
	switch at.State {
	case Completed:
		d.forget(key)
		return nil
	case Failed:
		return nil
	}
	r, invalid := Parse(body, d.s.set)
	if invalid != nil {
		return d.fail(key, invalid.Forbidden())
	}
	j := r.Job
	j.Database, j.DocID, j.Asked = database, id, d.s.clock.now()
	j.User = userContext(body)
	d.update(key, j)
	return nil
}

// userContext is the name in a document's user_ctx.
func userContext(body json.RawMessage) string {
	var doc struct {
		UserCtx struct{ Name string } `json:"user_ctx"`
	}
	_ = json.Unmarshal(body, &doc) // any other shape names nobody
	return doc.UserCtx.Name
}

// DatabaseGone is told that a replicator database was deleted.
func (d *Documents) DatabaseGone(database string) {
	d.mu.Lock()
	var keys []docKey
	for key := range d.rows {
		if key.database == database {
			keys = append(keys, key)
		}
	}
	d.mu.Unlock()
	for _, key := range keys {
		d.forget(key)
	}
	d.s.removeOf(database, "")
}

func (d *Documents) forget(key docKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if row := d.rows[key]; row != nil {
		row.cancel()
		delete(d.rows, key)
	}
}

// update makes a job of a document that asks for something new.
func (d *Documents) update(key docKey, j Job) {
	d.mu.Lock()
	old := d.rows[key]
	d.mu.Unlock()
	if old != nil && old.job.same(&j) {
		return
	}
	d.forget(key)
	d.s.removeOf(key.database, key.id)

	ctx, cancel := context.WithCancel(d.s.ctx)
	r := &row{job: j, state: Initializing, updated: d.s.clock.now(), cancel: cancel}
	d.mu.Lock()
	d.rows[key] = r
	d.mu.Unlock()
	d.s.work.Go(func() {
		defer cancel()
		d.schedule(ctx, key, r)
	})
}

const (
	errorBackoff       = 64 // s, doubled with every error
	mostErrorDoublings = 12 // about three days
)

// schedule tries to put a document's job into the scheduler until it is there.
func (d *Documents) schedule(ctx context.Context, key docKey, r *row) {
	for errorsSoFar := 0; ; {
		err := d.submit(ctx, key, r)
		if err == nil || ctx.Err() != nil {
			return
		}
		if taken := (*duplicate)(nil); errors.As(err, &taken) && !taken.transient {
			d.forget(key)
			_ = d.fail(key, err.Error()) // the document is the only place to say it
			return
		}
		errorsSoFar++
		d.mu.Lock()
		r.state, r.info, r.errors, r.updated = Errored, err.Error(), errorsSoFar, d.s.clock.now()
		d.mu.Unlock()
		wait := d.s.clock.random(errorBackoff << min(errorsSoFar, mostErrorDoublings))
		if d.s.clock.sleep(ctx, time.Duration(wait)*time.Second) != nil {
			return
		}
	}
}

// duplicate says that somebody else asked for the same job before.
type duplicate struct {
	text      string
	transient bool // a job of _replicate, which will end
}

func (e *duplicate) Error() string { return e.text }

// submit puts a document's job into the scheduler, unless the same job is there
// for somebody else.
func (d *Documents) submit(ctx context.Context, key docKey, r *row) error {
	j := r.job
	if err := d.s.prepare(ctx, &j); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rows[key] != r {
		return nil // the document was changed meanwhile
	}
	if other, found := d.s.find(j.ID); found && (other.Database != j.Database || other.DocID != j.DocID) {
		text := fmt.Sprintf("Replication `%s` specified by document `%s` already ", j.ID, j.DocID)
		if other.transient() {
			return &duplicate{text + "running as a transient replication, started via `_replicate` API endpoint", true}
		}
		return &duplicate{text + fmt.Sprintf("started, triggered by document `%s` from db `%s`", other.DocID, other.Database), false}
	}
	if _, err := d.s.add(j); err != nil {
		return err
	}
	r.job.ID, r.jobID, r.state, r.info, r.errors, r.updated = j.ID, j.ID, Running, "", 0, d.s.clock.now()
	return nil
}

// fail writes into a document why it cannot be replicated.
func (d *Documents) fail(key docKey, reason string) error {
	return d.store.SetMembers(key.database, key.id, []Member{
		{memberState, Failed},
		{memberTime, timestamp(d.s.clock.now())},
		{memberStats, nil},
		{memberReason, reason},
	})
}

// completed writes the end of a job into its document. Where that cannot be
// written, the document asks for the same again when the server is next
// started, as it does in CouchDB.
func (d *Documents) completed(j *Job, stats Stats) {
	_ = d.store.SetMembers(j.Database, j.DocID, []Member{
		{memberState, Completed},
		{memberTime, timestamp(d.s.clock.now())},
		{memberReason, nil},
		{memberStats, stats},
	})
}
