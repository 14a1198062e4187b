package replicator

import (
	"context"
	"errors"
	"time"

	"couchgauge/replicate/engine"
)

// run is one attempt at a job.
type run struct {
	number  int
	cancel  context.CancelFunc
	done    chan struct{}
	begun   time.Time           // when the pause before the start was over
	copying *engine.Replication // nil during that pause
}

// start runs a job, once its run before has ended. The caller holds s.mu.
func (s *Scheduler) start(e *entry) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.runs++
	r := &run{number: s.runs, cancel: cancel, done: make(chan struct{})}
	before := e.last
	e.run, e.last = r, r
	if len(e.history) > 0 && e.history[0].reason == maxBackoff {
		easeOff(&e.job.Options)
	}
	s.note(e, started, "")
	job := e.job
	s.work.Go(func() {
		defer close(r.done)
		defer cancel()
		if before != nil {
			<-before.done
		}
		s.copy(ctx, e, r, &job)
	})
}

// easeOff makes a job gentle to a peer that had too many requests.
func easeOff(o *engine.Options) {
	o.CheckpointInterval = min(o.CheckpointInterval, 5*time.Second)
	o.WorkerProcesses = least(o.WorkerProcesses, 2)
	o.WorkerBatchSize = least(o.WorkerBatchSize, 100)
	o.HTTPConnections = least(o.HTTPConnections, 5)
}

// least is the smaller number; 0 stands for a default that is larger.
func least(n, most int) int {
	if n == 0 {
		return most
	}
	return min(n, most)
}

// copy sleeps through the startup jitter (fact 21) and copies.
func (s *Scheduler) copy(ctx context.Context, e *entry, r *run, j *Job) {
	jitter := s.clock.random(max(1, s.set.number("startup_jitter", defaultJitter)))
	if s.clock.sleep(ctx, time.Duration(jitter)*time.Millisecond) != nil {
		return
	}
	copying := engine.New(s.peer(j.Source), s.peer(j.Target), j.Options)
	s.mu.Lock()
	r.copying, r.begun = copying, s.clock.now()
	s.mu.Unlock()
	result, err := copying.Run(ctx)
	if ctx.Err() != nil {
		return // it was stopped, and the table says so
	}
	if err != nil {
		s.crashed(e, r, explain(err, j))
		return
	}
	s.finished(e, r, result)
}

func (s *Scheduler) peer(e Endpoint) engine.Peer {
	return engine.Peer{URL: e.URL, Header: e.Header.Clone(), Client: s.clients.of(e)}
}

// halt stops a job's run; the job stays in the table. The caller holds s.mu.
func (s *Scheduler) halt(e *entry) {
	if e.run == nil {
		return
	}
	e.stats = e.now()
	e.run.cancel()
	e.run = nil
	s.note(e, stopped, "")
}

// now are the counters at this moment, nil before anything was read. The caller
// holds the scheduler's lock.
func (e *entry) now() *Stats {
	if e.run == nil || e.run.copying == nil {
		return e.stats
	}
	p := e.run.copying.Progress()
	if p.SourceSeq == nil {
		return e.stats
	}
	return statsOf(p, e.stats)
}

// finished ends a job that has copied all there is.
func (s *Scheduler) finished(e *entry, r *run, result engine.Result) {
	s.mu.Lock()
	current := e.run == r
	stats := statsOf(result.Progress, e.stats)
	s.mu.Unlock()
	if !current {
		return
	}
	if !e.job.transient() {
		// Before the job leaves the table: at no time is its end told nowhere.
		s.completed(&e.job, stats.final(timestamp(e.job.Asked)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.run = nil
	s.leave(e, outcome{answer: answer(&e.job, result)})
}

// crashed ends a job of _replicate, and sends any other to rest for a while.
func (s *Scheduler) crashed(e *entry, r *run, f *Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.run != r {
		return
	}
	e.stats = e.now()
	e.run = nil
	if e.job.transient() {
		s.leave(e, outcome{failure: f})
		return
	}
	s.note(e, crashed, f.Error())
	if len(s.jobs) < s.set.number("max_jobs", defaultMaxJobs) {
		s.startPending()
	}
}

// ErrStopped says that a job was cancelled, or replaced, before it ended.
var ErrStopped = errors.New("stopped")

// Replicate runs a job of _replicate. For a continuous one it returns at once;
// for any other when the job has ended, or ctx, which leaves the job alone. The
// error may be a *FilterError, a *Failure, ErrStopped.
func (s *Scheduler) Replicate(ctx context.Context, j Job) (id string, a Answer, err error) {
	if err := s.prepare(ctx, &j); err != nil {
		return "", a, err
	}
	e, err := s.add(j)
	if err != nil || j.Options.Continuous {
		return j.ID, a, err
	}
	select {
	case <-e.ended:
	case <-ctx.Done():
		return j.ID, a, context.Cause(ctx)
	}
	switch {
	case e.outcome.stopped:
		err = ErrStopped
	case e.outcome.failure != nil:
		err = e.outcome.failure
	}
	return j.ID, e.outcome.answer, err
}

// prepare gives a job its ID, for which its filter may have to be fetched, and
// its time.
func (s *Scheduler) prepare(ctx context.Context, j *Job) error {
	filter, err := s.filterText(ctx, j)
	if err != nil {
		return err
	}
	if j.Asked.IsZero() {
		j.Asked = s.clock.now()
	}
	return j.identify(s.server, filter)
}

// Cancel ends the job that a request names or describes. found is false when
// there is none.
func (s *Scheduler) Cancel(ctx context.Context, r *Request) (id string, found bool, err error) {
	id = r.CancelID
	if id == "" {
		if err := s.prepare(ctx, &r.Job); err != nil {
			return "", false, err
		}
		id = r.ID
	}
	return id, s.remove(id), nil
}
