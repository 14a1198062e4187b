package replicator

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Scheduler runs jobs: as many at a time as max_jobs allows, the others in
// turn (CouchDB documentation, "Replication Scheduler").
type Scheduler struct {
	set     Settings
	server  string // uuid
	node    string
	clock   clock
	clients clients

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	closed bool
	jobs   map[string]*entry // by Job.ID
	runs   int               // so far

	// completed is told of jobs of documents before they leave the table.
	completed func(*Job, Stats)
}

// entry is a job in the scheduler's table.
type entry struct {
	job     Job
	history history
	run     *run   // nil while the job does not run
	last    *run   // the run before, which may still be ending
	stats   *Stats // of the runs before; nil until one has read something

	ended   chan struct{} // closed when the job leaves the table
	outcome outcome
}

// outcome is how a job left the table.
type outcome struct {
	answer  Answer
	failure *Failure
	stopped bool // it was removed before it ended
}

// clock is what tests replace.
type clock struct {
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
	random func(most int) int // 1 … most
}

func realClock() clock {
	return clock{
		now: time.Now,
		sleep: func(ctx context.Context, d time.Duration) error {
			t := time.NewTimer(d)
			defer t.Stop()
			select {
			case <-t.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		random: func(most int) int { return 1 + rand.IntN(most) },
	}
}

// NewScheduler starts a scheduler. server is the server's uuid, node its name.
// The caller closes it.
func NewScheduler(set Settings, server, node string) *Scheduler {
	s := newScheduler(set, server, node, realClock())
	s.work.Go(s.everyInterval)
	return s
}

func newScheduler(set Settings, server, node string, c clock) *Scheduler {
	s := &Scheduler{set: set, server: server, node: node, clock: c, jobs: map[string]*entry{}, completed: func(*Job, Stats) {}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close stops all jobs and waits for their end: they write a last checkpoint,
// for which they have two seconds.
func (s *Scheduler) Close() {
	s.mu.Lock()
	s.closed = true
	for _, e := range s.jobs {
		s.drop(e)
	}
	s.mu.Unlock()
	s.stop()
	s.work.Wait()
	s.clients.close()
}

func (s *Scheduler) everyInterval() {
	for s.clock.sleep(s.ctx, s.set.milliseconds("interval", defaultInterval)) == nil {
		s.reschedule()
	}
}

// errClosed ends what is asked of a scheduler that was closed.
var errClosed = errors.New("the replicator has been stopped")

// add puts a job into the table, and starts it where there is room. One that
// is there already stays; another job of the same ID is replaced.
func (s *Scheduler) add(j Job) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if old := s.jobs[j.ID]; old != nil {
		if old.job.same(&j) {
			return old, nil
		}
		s.drop(old)
	}
	e := &entry{job: j, ended: make(chan struct{})}
	s.note(e, added, "")
	s.jobs[j.ID] = e
	if s.running() < s.set.number("max_jobs", defaultMaxJobs) {
		s.start(e)
	}
	return e, nil
}

// drop stops a job and takes it off the table. The caller holds s.mu.
func (s *Scheduler) drop(e *entry) {
	s.halt(e)
	s.leave(e, outcome{stopped: true})
}

// leave takes a job off the table. The caller holds s.mu.
func (s *Scheduler) leave(e *entry, o outcome) {
	if s.jobs[e.job.ID] == e {
		delete(s.jobs, e.job.ID)
		e.outcome = o
		close(e.ended)
	}
}

// remove takes a job off the table and waits for its run to end.
func (s *Scheduler) remove(id string) bool {
	s.mu.Lock()
	e := s.jobs[id]
	if e != nil {
		s.drop(e)
	}
	s.mu.Unlock()
	if e == nil {
		return false
	}
	if e.last != nil {
		<-e.last.done
	}
	return true
}

// removeOf takes the jobs that a document asked for off the table; all of its
// database when doc is "".
func (s *Scheduler) removeOf(database, doc string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.jobs {
		if e.job.Database == database && e.job.DocID != "" && (doc == "" || e.job.DocID == doc) {
			s.drop(e)
		}
	}
}

// find is the job of that ID.
func (s *Scheduler) find(id string) (Job, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.jobs[id]; e != nil {
		return e.job, true
	}
	return Job{}, false
}

// note adds to a job's history. The caller holds s.mu.
func (s *Scheduler) note(e *entry, kind eventKind, reason string) {
	e.history = e.history.note(event{kind, s.clock.now(), reason}, s.set.number("max_history", defaultMaxHistory))
}

// running counts the jobs that run. The caller holds s.mu.
func (s *Scheduler) running() int {
	n := 0
	for _, e := range s.jobs {
		if e.run != nil {
			n++
		}
	}
	return n
}

// reschedule stops what is too much and gives others their turn: of continuous
// jobs those that have run longest make room, max_churn of them at a time.
func (s *Scheduler) reschedule() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	most := s.set.number("max_jobs", defaultMaxJobs)
	excess := max(0, s.running()-most)
	s.haltOldest(excess-s.haltOldest(excess, true), false)

	running := s.running()
	pending := len(s.jobs) - running
	churn := max(0, s.set.number("max_churn", defaultMaxChurn)-excess)
	s.haltOldest(min(pending-(most-running), running, churn), true)
	s.startPending()
}

// haltOldest stops up to n jobs, continuous ones or others, those that were
// started first. The caller holds s.mu.
func (s *Scheduler) haltOldest(n int, continuous bool) int {
	jobs := s.sorted(func(e *entry) bool { return e.run != nil && e.job.Options.Continuous == continuous })
	jobs = jobs[:min(max(n, 0), len(jobs))]
	for _, e := range jobs {
		s.halt(e)
	}
	return len(jobs)
}

// startPending fills the free places with jobs that wait and did not crash just
// now, those that waited longest first. The caller holds s.mu.
func (s *Scheduler) startPending() {
	free := s.set.number("max_jobs", defaultMaxJobs) - s.running()
	now, threshold := s.clock.now(), s.set.healthThreshold()
	waiting := s.sorted(func(e *entry) bool { return e.run == nil && e.history.rested(now, threshold) })
	for _, e := range waiting[:min(max(free, 0), len(waiting))] {
		s.start(e)
	}
}

// sorted are the jobs of a kind, in the order in which they were last started.
// The caller holds s.mu.
func (s *Scheduler) sorted(is func(*entry) bool) []*entry {
	var out []*entry
	for _, e := range s.jobs {
		if is(e) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *entry) int { return a.history.lastStarted().Compare(b.history.lastStarted()) })
	return out
}
