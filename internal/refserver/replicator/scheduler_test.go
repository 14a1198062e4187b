package replicator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeClock is a clock that the test moves. Who sleeps is told to the test,
// which wakes them.
type fakeClock struct {
	mu   sync.Mutex
	time time.Time
	naps chan nap
}

type nap struct {
	length time.Duration
	wake   chan struct{}
}

func newFakeClock() *fakeClock { return &fakeClock{time: second(0), naps: make(chan nap, 100)} }

func (f *fakeClock) clock() clock {
	return clock{
		now: func() time.Time {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.time
		},
		sleep: func(ctx context.Context, d time.Duration) error {
			n := nap{d, make(chan struct{})}
			f.naps <- n
			select {
			case <-n.wake:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		random: func(most int) int { return most },
	}
}

func (f *fakeClock) pass(d time.Duration) {
	f.mu.Lock()
	f.time = f.time.Add(d)
	f.mu.Unlock()
}

// bench is a scheduler on a fake clock whose settings the test changes.
type bench struct {
	*Scheduler
	*fakeClock
	t   *testing.T
	mu  sync.Mutex
	set map[string]string
}

func newBench(t *testing.T) *bench {
	b := &bench{fakeClock: newFakeClock(), t: t, set: map[string]string{}}
	b.Scheduler = newScheduler(func(key string) (string, bool) {
		b.mu.Lock()
		defer b.mu.Unlock()
		v, ok := b.set[key]
		return v, ok
	}, "server", "node", b.fakeClock.clock())
	t.Cleanup(b.Close)
	return b
}

func (b *bench) setting(key, value string) {
	b.mu.Lock()
	b.set[key] = value
	b.mu.Unlock()
}

// submit adds the job of a document.
func (b *bench) submit(doc string, body json.RawMessage) *entry {
	b.t.Helper()
	r, invalid := Parse(body, b.Scheduler.set)
	if invalid != nil {
		b.t.Fatal(invalid)
	}
	j := r.Job
	j.Database, j.DocID = "_replicator", doc
	if err := b.prepare(b.t.Context(), &j); err != nil {
		b.t.Fatal(err)
	}
	e, err := b.add(j)
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

// between is a continuous job between two databases that nobody asks for:
// its run sleeps until the test wakes it.
func between(n int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"source":"http://h/a%d","target":"http://h/b","continuous":true}`, n))
}

// story is what happened to a job, the oldest first.
func (b *bench) story(e *entry) string {
	job, _ := b.Job(e.job.ID)
	var words []string
	for i := len(job.History) - 1; i >= 0; i-- {
		words = append(words, job.History[i].Type)
	}
	if job.PID != nil {
		words = append(words, "running")
	}
	return strings.Join(words, " ")
}

func TestEveryStartSleepsThroughTheJitter(t *testing.T) {
	b := newBench(t)
	b.submit("a", between(1))
	if n := <-b.naps; n.length != 5*time.Second {
		t.Errorf("default: sleeps up to %v, want 5s", n.length)
	}
	b.setting("startup_jitter", "1")
	b.submit("b", between(2))
	if n := <-b.naps; n.length != time.Millisecond {
		t.Errorf("set to 1: sleeps up to %v, want 1ms", n.length)
	}
	if tasks := b.Tasks(); len(tasks) != 0 {
		t.Errorf("a job that sleeps is a task: %v", tasks)
	}
}

func TestJobsTakeTurns(t *testing.T) {
	b := newBench(t)
	b.setting("max_jobs", "2")
	var jobs []*entry
	for i := range 4 {
		b.pass(time.Second)
		jobs = append(jobs, b.submit(fmt.Sprint("doc", i), between(i)))
	}
	check := func(when string, want ...string) {
		t.Helper()
		for i, e := range jobs {
			if got := b.story(e); got != want[i] {
				t.Errorf("%s: job %d: %q, want %q", when, i, got, want[i])
			}
		}
	}
	check("at first", "added started running", "added started running", "added", "added")
	b.setting("max_churn", "1")
	b.pass(time.Second)
	b.reschedule()
	check("one place was changed", "added started stopped", "added started running", "added started running", "added")
	b.setting("max_jobs", "3")
	b.pass(time.Second)
	b.reschedule()
	check("one more place", "added started stopped started running", "added started stopped", "added started running", "added started running")
	b.setting("max_jobs", "1")
	b.pass(time.Second)
	b.reschedule()
	b.setting("max_jobs", "4")
	b.reschedule()
	for i, e := range jobs {
		if got := b.story(e); !strings.HasSuffix(got, "running") {
			t.Errorf("room for all, but job %d: %q", i, got)
		}
	}
}

func TestOneShotJobsAreNotStoppedForOthers(t *testing.T) {
	b := newBench(t)
	b.setting("max_jobs", "1")
	first := b.submit("a", asked(""))
	second := b.submit("b", between(1))
	b.reschedule()
	if got := b.story(first) + ", " + b.story(second); got != "added started running, added" {
		t.Error(got)
	}
}

// answering is a server that answers everything with one status.
func answering(t *testing.T, status int) (source, target string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":"x","reason":"y"}`)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/a", s.URL + "/b"
}

func jobAt(t *testing.T, status int) json.RawMessage {
	source, target := answering(t, status)
	return json.RawMessage(`{"source":"` + source + `","target":"` + target + `","retries_per_request":0}`)
}

func TestCrashedJobsRest(t *testing.T) {
	b := newBench(t)
	e := b.submit("a", jobAt(t, 404))
	crash := func() {
		t.Helper()
		close((<-b.naps).wake)
		<-e.last.done
	}
	crash()
	job, _ := b.Job(e.job.ID)
	if got, want := job.History[0].Reason, "db_not_found: could not open "+e.job.Source.String(); got != want && got != strings.Replace(want, "/a/", "/b/", 1) {
		t.Errorf("reason %q, want %q", got, want)
	}
	for n, rest := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute} {
		b.pass(rest - time.Second)
		b.reschedule()
		if got, _ := b.summary(e.job.ID); got.State != Crashing || got.ErrorCount != n+1 {
			t.Errorf("a second before its rest is over: %s, %d errors; want crashing, %d", got.State, got.ErrorCount, n+1)
		}
		b.pass(time.Second)
		b.reschedule()
		if got, _ := b.summary(e.job.ID); got.State != Running || got.ErrorCount != n+1 {
			t.Errorf("when its rest is over: %s, %d errors; want running, %d", got.State, got.ErrorCount, n+1)
		}
		crash()
	}
}

func TestTransientJobsAreTriedOnce(t *testing.T) {
	for status, want := range map[int]string{
		404: "db_not_found: could not open ", 401: "unauthorized: unauthorized to access or create database ", 403: "forbidden: http://",
		503: `{http_error_code,503,<<"GET http://`, 429: "max_backoff",
	} {
		b := newBench(t)
		go func() { close((<-b.naps).wake) }()
		r, _ := Parse(jobAt(t, status), b.Scheduler.set)
		_, _, err := b.Replicate(t.Context(), r.Job)
		var failure *Failure
		if !errors.As(err, &failure) || !strings.HasPrefix(failure.Error(), want) {
			t.Errorf("%d: %v, want %s…", status, err, want)
		}
		if jobs := b.Jobs(); len(jobs) != 0 {
			t.Errorf("%d: the job is still there: %v", status, jobs)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	b := newBench(t)
	go func() { close((<-b.naps).wake) }()
	gone := httptest.NewServer(nil)
	gone.Close()
	r, _ := Parse(json.RawMessage(`{"source":"`+gone.URL+`/a","target":"`+gone.URL+`/b","retries_per_request":0}`), b.Scheduler.set)
	_, _, err := b.Replicate(t.Context(), r.Job)
	if err == nil || !strings.Contains(err.Error(), "{error,{conn_failed,{error,econnrefused}}}") {
		t.Error(err)
	}
}

func TestPeersAreReachedThroughProxies(t *testing.T) {
	b := newBench(t)
	go func() { close((<-b.naps).wake) }()
	asked := make(chan string, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.String()
		w.WriteHeader(http.StatusNotFound)
	}))
	defer proxy.Close()
	withPassword := strings.Replace(proxy.URL, "http://", "http://u:secret@", 1)
	r, invalid := Parse(json.RawMessage(`{"source":"http://there.invalid/a","target":"http://there.invalid/b","proxy":"`+withPassword+`"}`), b.Scheduler.set)
	if invalid != nil {
		t.Fatal(invalid)
	}
	if got := *r.Source.proxy(); strings.Contains(got, "secret") || !strings.HasPrefix(got, "http://u:*****@") {
		t.Errorf("printed as %s", got)
	}
	_, _, err := b.Replicate(t.Context(), r.Job)
	if err == nil || !strings.Contains(err.Error(), "db_not_found") {
		t.Errorf("%v, want the proxy's 404", err)
	}
	if got := <-asked; !strings.HasPrefix(got, "http://there.invalid/") {
		t.Errorf("the proxy was asked for %s", got)
	}
}

func TestTooManyRequestsEaseOff(t *testing.T) {
	b := newBench(t)
	e := b.submit("a", jobAt(t, 429))
	close((<-b.naps).wake)
	<-e.last.done
	b.pass(30 * time.Second)
	b.reschedule()
	o := e.job.Options
	if o.WorkerProcesses != 2 || o.WorkerBatchSize != 100 || o.HTTPConnections != 5 || o.CheckpointInterval != 5*time.Second {
		t.Errorf("restarted with %+v", o)
	}
}

func TestSameJobIsOneJob(t *testing.T) {
	b := newBench(t)
	first := b.submit("a", between(1))
	if again := b.submit("a", between(1)); again != first {
		t.Error("the same job was added twice")
	}
	replaced := b.submit("b", between(1))
	if replaced == first || len(b.Jobs()) != 1 || *b.Jobs()[0].DocID != "b" {
		t.Errorf("another document's job did not take its place: %v", b.Jobs())
	}
	<-first.ended
	if !first.outcome.stopped {
		t.Error("who waits for the first is not told that it was stopped")
	}
}

func TestCancel(t *testing.T) {
	b := newBench(t)
	r, _ := Parse(asked(""), b.Scheduler.set)
	ended := make(chan error)
	go func() {
		_, _, err := b.Replicate(t.Context(), r.Job)
		ended <- err
	}()
	<-b.naps
	cancel, _ := Parse(asked(`"cancel":true`), b.Scheduler.set)
	if id, found, err := b.Cancel(t.Context(), cancel); !found || err != nil {
		t.Errorf("cancel: %s, %v, %v", id, found, err)
	}
	if err := <-ended; !errors.Is(err, ErrStopped) {
		t.Errorf("who waits is told %v", err)
	}
	if _, found, _ := b.Cancel(t.Context(), cancel); found {
		t.Error("cancelled twice")
	}
}

func TestClosedSchedulerTakesNoJobs(t *testing.T) {
	b := newBench(t)
	b.submit("a", between(1))
	b.Close()
	r, _ := Parse(between(2), b.Scheduler.set)
	if _, _, err := b.Replicate(t.Context(), r.Job); err == nil {
		t.Error("a job was taken")
	}
}
