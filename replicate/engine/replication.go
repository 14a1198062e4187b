package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Replication copies a source database to a target, once.
type Replication struct {
	opt                    Options
	sourcePeer, targetPeer Peer
	invalid                error // what New could not say
	source, target         *endpoint
	clock                  clock

	session string
	started time.Time
	log     *log
	tracker tracker
	parcels parcels
	toWrite chan *parcel

	sourceDocs int64       // documents in the source, deleted ones too
	averageDoc int64       // bytes of JSON in a document of the source; 0: not known
	lacksAll   atomic.Bool // the target never held a document
	noBulkGet  atomic.Bool // the source has no _bulk_get, or it shall not be used

	count  counters
	stages struct{ changes, diff, read, write stage }

	mu                      sync.Mutex
	failures                []Failure
	sourceSeq, checkpointed json.RawMessage
}

// New prepares a replication. What is wrong with its arguments is said by Run.
func New(source, target Peer, o Options) *Replication {
	r := &Replication{
		opt:     o.withDefaults(),
		session: newSession(),
		clock:   clock{now: time.Now, sleep: sleep},
	}
	r.count.pendingAtStart.Store(-1)
	var errs [3]error
	r.sourcePeer, errs[0] = source.clean()
	r.targetPeer, errs[1] = target.clean()
	errs[2] = o.check()
	r.invalid = errors.Join(errs[:]...)
	r.noBulkGet.Store(!*r.opt.UseBulkGet)
	return r
}

func newSession() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Run copies everything that the source has now, or with Continuous follows
// it until ctx ends. It may be called once. The Result is that of what was
// done, with an error too. Documents that could not be copied are no error:
// see Result.DocWriteFailures.
func (r *Replication) Run(ctx context.Context) (Result, error) {
	r.started = r.clock.now()
	if r.invalid != nil {
		return r.result(), r.invalid
	}
	if err := r.open(ctx); err != nil {
		return r.result(), err
	}
	err := r.transfer(ctx)
	switch {
	case err == nil:
		err = r.record(ctx)
	case ctx.Err() != nil:
		err = errors.Join(context.Cause(ctx), r.recordLast(ctx))
	}
	return r.result(), err
}

// info is what the engine reads of GET /{db}.
type info struct {
	DocCount  int64           `json:"doc_count"`
	DelCount  int64           `json:"doc_del_count"`
	UpdateSeq json.RawMessage `json:"update_seq"`
	Born      json.RawMessage `json:"instance_start_time"`
	Sizes     struct{ External int64 }
	DBName    string `json:"db_name"`
}

// untouched tells whether the database never held a document.
func (i info) untouched() bool {
	seq := text(i.UpdateSeq)
	return i.DocCount == 0 && i.DelCount == 0 && (seq == "0" || strings.HasPrefix(seq, "0-"))
}

// open looks at both databases, creates the target and finds where to start.
func (r *Replication) open(ctx context.Context) error {
	source, err := newEndpoint(r.sourcePeer, r.opt, r.clock)
	if err != nil {
		return err
	}
	target, err := newEndpoint(r.targetPeer, r.opt, r.clock)
	if err != nil {
		return err
	}
	r.mu.Lock() // Progress may be asked for already
	r.source, r.target = source, target
	r.mu.Unlock()
	var s, t info
	if err := both(ctx,
		func(ctx context.Context) error { return r.look(ctx, r.source, "source", &s) },
		func(ctx context.Context) error {
			if err := r.create(ctx); err != nil {
				return err
			}
			return r.look(ctx, r.target, "target", &t)
		},
	); err != nil {
		return err
	}
	r.lacksAll.Store(t.untouched())
	if r.sourceDocs = s.DocCount + s.DelCount; r.sourceDocs > 0 {
		r.averageDoc = s.Sizes.External / r.sourceDocs
	}
	if r.log, err = r.openLog(ctx); err != nil {
		return err
	}
	r.tracker.from(r.log.start)
	r.setCheckpointed(r.log.start)
	return nil
}

func (r *Replication) look(ctx context.Context, e *endpoint, side string, i *info) error {
	if err := e.json(ctx, request{method: http.MethodGet}, i); err != nil {
		if status(err) == http.StatusNotFound && side == "target" {
			err = fmt.Errorf("%w: create it, or set create_target", err)
		}
		return fmt.Errorf("open the %s: %w", side, err)
	}
	if i.UpdateSeq == nil {
		return fmt.Errorf("open the %s: %s is no database", side, e.base)
	}
	e.born = i.Born
	return nil
}

// create makes the target; 412 says that it is there.
func (r *Replication) create(ctx context.Context) error {
	if !r.opt.CreateTarget {
		return nil
	}
	err := r.target.json(ctx, request{method: http.MethodPut, query: r.opt.CreateTargetParams}, nil)
	if err != nil && status(err) != http.StatusPreconditionFailed {
		return fmt.Errorf("create the target: %w", err)
	}
	return nil
}

// transfer runs the stages until the feed ends and everything is written.
func (r *Replication) transfer(ctx context.Context) error {
	workers := r.opt.WorkerProcesses
	toDiff := make(chan *job, 1)
	toRead := make(chan *job, 1)
	r.toWrite = make(chan *parcel, 1)

	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	work, ctx := errgroup.WithContext(ctx)
	beside, stop := context.WithCancel(ctx)
	defer stop()
	var differs, senders sync.WaitGroup // senders: of parcels
	senders.Add(1)
	work.Go(func() error {
		defer senders.Done()
		defer close(toDiff)
		return r.changes(ctx, toDiff)
	})
	for range workers {
		differs.Add(1)
		work.Go(func() error { defer differs.Done(); return r.diff(ctx, toDiff, toRead) })
		senders.Add(1)
		work.Go(func() error { defer senders.Done(); return r.read(ctx, toRead) })
	}
	for range r.opt.HTTPConnections {
		work.Go(func() error { return r.write(ctx, r.toWrite) })
	}
	go func() { differs.Wait(); close(toRead); senders.Wait(); close(r.toWrite) }()

	var aside sync.WaitGroup
	aside.Go(func() { r.countPending(beside) })
	aside.Go(func() {
		if err := r.recordEvery(beside, r.opt.CheckpointInterval); err != nil {
			fail(err)
		}
	})
	err := work.Wait()
	stop()
	aside.Wait()
	return err
}

// changes is the first stage.
func (r *Replication) changes(ctx context.Context, out chan<- *job) error {
	f := &feed{
		r: r, out: out, box: &outbox{r: r},
		lap:   r.stages.changes.lap(r.clock.now),
		since: bytes.Clone(r.log.start), closed: r.log.start,
	}
	defer func() { f.lap.mark(&f.lap.busy) }()
	if err := f.catchUp(ctx, r.docsInFeed(ctx, r.sourceDocs)); err != nil {
		return err
	}
	r.count.pendingAtStart.Store(r.count.rows.Load())
	if !r.opt.Continuous {
		return nil
	}
	r.lacksAll.Store(false)
	return f.follow(ctx)
}

// countPending asks once how many changes lie ahead.
func (r *Replication) countPending(ctx context.Context) {
	q := url.Values{"limit": {"0"}}
	if r.log.start != nil {
		q.Set("since", text(r.log.start))
	}
	var a struct{ Pending *int64 }
	err := r.source.json(ctx, request{method: http.MethodGet, path: "_changes", query: q}, &a)
	if err == nil && a.Pending != nil {
		r.count.pendingAtStart.CompareAndSwap(-1, *a.Pending)
	}
}

func (r *Replication) setCheckpointed(seq json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkpointed = seq
}

func (r *Replication) setSourceSeq(seq json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sourceSeq = seq
}
