package replicate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"couchgauge/internal/couch"
	"couchgauge/results"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sync/errgroup"
)

// liveID is the id of document k of those that are written while jobs run, of
// a source.
func liveID(source int, k int64) string { return fmt.Sprintf("live-%02d-%010d", source, k) }

// parseLiveID reads k out of a live id; false = it is none.
func parseLiveID(id string) (int64, bool) {
	rest, ok := strings.CutPrefix(id, "live-")
	if !ok {
		return 0, false
	}
	_, digits, _ := strings.Cut(rest, "-")
	k, err := strconv.ParseInt(digits, 10, 64)
	return k, err == nil
}

// pace is an open model: document k is due at a time that does not depend on
// how the ones before it fared.
type pace struct {
	start time.Time
	rate  float64 // documents per second
	total int64
}

func newPace(start time.Time, rate float64, d time.Duration) pace {
	return pace{start, rate, int64(math.Ceil(rate * d.Seconds()))}
}

// due is when document k is to be written.
func (p pace) due(k int64) time.Time {
	return p.start.Add(time.Duration(float64(k) / p.rate * float64(time.Second)))
}

// lags is a histogram of lags.
type lags struct {
	mu        sync.Mutex
	histogram *hdrhistogram.Histogram // in microseconds
}

// longestLag bounds what is told apart.
const longestLag = 24 * time.Hour

func newLags() *lags {
	return &lags{histogram: hdrhistogram.New(1, longestLag.Microseconds(), 3)}
}

func (l *lags) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Within its bounds the histogram takes every value.
	_ = l.histogram.RecordValue(min(max(d, time.Microsecond), longestLag).Microseconds())
}

// into sets the percentiles as measures: "lag_p50_s" and so on.
func (l *lags) into(measures map[string]float64, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.histogram.TotalCount() == 0 {
		return
	}
	for _, q := range []struct {
		suffix  string
		percent float64
	}{{"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}} {
		measures[name+"_"+q.suffix+"_s"] = float64(l.histogram.ValueAtPercentile(q.percent)) / 1e6
	}
}

// takeContinuous takes a sample of jobs that go on: they first catch up, then
// documents are written at a steady rate and each one's arrival is timed.
func (x *sample) takeContinuous(ctx context.Context, s *results.Sample) {
	jobs, prepared, err := x.jobs(ctx)
	stopped := sync.OnceFunc(func() { x.stop(ctx, prepared, s) })
	defer stopped()
	if err != nil {
		s.Error = err.Error()
		return
	}
	watched, err := x.openArrivals(ctx)
	if err != nil {
		s.Error = err.Error()
		return
	}
	defer watched.close()
	list, measures, err := x.follow(ctx, jobs, prepared, watched, s)
	s.Measures = measures
	if err != nil {
		s.Error = err.Error()
	}
	stopped()
	var ends []outcome
	for i := range list {
		list[i].State = "stopped"
		ends = append(ends, list[i].outcome)
	}
	maps.Copy(s.Measures, addCounters(ends))
	x.judge(ctx, s, list)
}

// follow runs the continuous jobs and times arrivals.
func (x *sample) follow(ctx context.Context, jobs []job, prepared []running, watched *watchedTargets, s *results.Sample) ([]jobResult, map[string]float64, error) {
	measures := map[string]float64{}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer x.watchHeadway(ctx, cancel, prepared)()
	began := time.Now()
	var list []jobResult
	for i, j := range jobs {
		list = append(list, jobResult{Source: j.source.db, Target: j.target.db, At: j.at.URL(), submitted: time.Now()})
		if err := prepared[i].submit(ctx); err != nil {
			return list, measures, err
		}
		go func() { // a continuous job that ends has failed
			o := prepared[i].wait(ctx)
			if ctx.Err() == nil {
				cancel(fmt.Errorf("%s: %s: %s", j, o.State, o.Reason))
			}
		}()
	}
	if err := x.caughtUp(ctx); err != nil {
		return list, measures, fmt.Errorf("wait until the targets have what the sources had: %w", err)
	}
	if first := watched.first(); !first.IsZero() {
		measures["startup_s"] = first.Sub(began).Seconds()
	}
	p := newPace(time.Now(), x.plan.Rate, x.plan.For)
	written := newLags()
	watched.expect(p)
	s.At = p.start
	if err := x.writeLive(ctx, p, written); err != nil {
		return list, measures, err
	}
	x.live = p.total
	last, err := watched.arrived(ctx)
	if err != nil {
		return list, measures, fmt.Errorf("wait for the last of %d documents: %w", p.total, err)
	}
	s.Duration = results.Seconds(last.Sub(p.start))
	watched.lags.into(measures, "lag")
	written.into(measures, "write")
	arrivals := float64(watched.count())
	measures["docs_per_s"] = arrivals / last.Sub(p.start).Seconds()
	measures["bytes_per_s"] = measures["docs_per_s"] * float64(x.shape.size())
	for i := range list {
		list[i].Duration = results.Seconds(time.Since(list[i].submitted))
		list[i].Counters = prepared[i].watch(ctx).counters
	}
	return list, measures, nil
}

// liveConnections is how many documents may be on their way to the sources at
// a time. One that is due when all are taken is written late, and its lag
// counts from when it was due.
const liveConnections = 64

// writeLive writes documents to the filled databases by turns, each when it is
// due. It tells how long after that it was stored.
func (x *sample) writeLive(ctx context.Context, p pace, written *lags) error {
	type source struct {
		client *couch.Client
		endpoint
		number int
	}
	var sources []source
	for i, d := range x.layout.databases {
		if d.filled {
			e := x.databases[i]
			c := e.peer.Server.Client(couch.TransportOptions{KeepAlive: true, MaxConns: liveConnections})
			defer c.Close()
			sources = append(sources, source{c, e, x.sourceNumber(i)})
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(liveConnections)
	for k := range p.total {
		select {
		case <-time.After(time.Until(p.due(k))):
		case <-ctx.Done():
			if err := g.Wait(); err != nil {
				return err
			}
			return context.Cause(ctx)
		}
		g.Go(func() error {
			to := sources[k%int64(len(sources))]
			body := x.shape.appendLive(nil, to.number, k)
			resp, err := to.client.Do(ctx, couch.Request{
				Method:        http.MethodPut,
				Path:          couch.DocPath(to.db, liveID(to.number, k)),
				ContentLength: int64(len(body)),
				GetBody:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
			})
			if err == nil {
				err = couch.Check(resp, "write a document to", to.db)
			}
			if err != nil {
				return fmt.Errorf("write document %d of %d at the source: %w", k+1, p.total, err)
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			written.add(time.Since(p.due(k)))
			return err
		})
	}
	return g.Wait()
}

// watchedTargets follows the feeds of a sample's targets.
type watchedTargets struct {
	lags  *lags
	feeds []*feed

	mu      sync.Mutex
	changed chan struct{} // closed, and made anew, with every row
	targets []targetCount
	pace    *pace
	passes  func(k int64) bool
	sources int // that live documents are written to
	began   time.Time
	last    time.Time
	err     error
}

// targetCount is how far one target is.
type targetCount struct {
	origins map[int]bool // numbers of the sources that it gets live documents of
	live    int64        // live documents that came
}

// openArrivals opens the feeds.
func (x *sample) openArrivals(ctx context.Context) (*watchedTargets, error) {
	w := &watchedTargets{
		lags:    newLags(),
		changed: make(chan struct{}),
		passes:  func(k int64) bool { return x.filter.all() || chosen(k, x.filter.Share) },
		sources: x.layout.filled(),
	}
	origins := x.layout.origins()
	for _, t := range x.layout.targets() {
		e := x.databases[t]
		info, err := databaseInfo(ctx, e.peer.Server.Control(), e.db)
		if err != nil {
			w.close()
			return nil, err
		}
		f, err := openFeed(ctx, e.peer.Server, e.db, feedOptions{since: info.since()})
		if err != nil {
			w.close()
			return nil, err
		}
		w.feeds = append(w.feeds, f)
		count := targetCount{origins: map[int]bool{}}
		for _, o := range origins[t] {
			if o != t {
				count.origins[x.sourceNumber(o)] = true
			}
		}
		w.targets = append(w.targets, count)
	}
	for i := range w.feeds {
		go w.read(ctx, i)
	}
	return w, nil
}

func (w *watchedTargets) close() {
	for _, f := range w.feeds {
		f.close()
	}
}

// read enters the rows of one feed. Only live documents are timed: they are
// written once and so come once.
func (w *watchedTargets) read(ctx context.Context, i int) {
	for {
		row, err := w.feeds[i].next(ctx)
		at := time.Now()
		w.mu.Lock()
		t := &w.targets[i]
		k, live := parseLiveID(row.ID)
		switch {
		case err != nil:
			w.err = err
		case live:
			source := int(k % int64(w.sources))
			if t.origins[source] && w.pace != nil {
				w.lags.add(at.Sub(w.pace.due(k)))
				w.last = at
				t.live++
			}
		case w.began.IsZero():
			w.began = at
		}
		close(w.changed)
		w.changed = make(chan struct{})
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// expect says that live documents come from now on.
func (w *watchedTargets) expect(p pace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pace = &p
}

// first is when the first change was seen at any target; the zero time if none
// was.
func (w *watchedTargets) first() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.began
}

// caughtUp waits until the targets have what the sources had.
func (x *sample) caughtUp(ctx context.Context) error {
	docs, _ := x.filter.passes(x.shape.docs)
	for i, origins := range x.layout.origins() {
		var want int64
		for _, o := range origins {
			if o == i {
				want += x.shape.docs
			} else {
				want += docs
			}
		}
		e := x.databases[i]
		for {
			info, err := databaseInfo(ctx, e.peer.Server.Control(), e.db)
			if err != nil {
				return err
			}
			if info.Docs+max(info.Deleted, 0) >= want {
				break
			}
			select {
			case <-time.After(catchUpEvery):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// catchUpEvery is the time between two looks at a target that catches up.
const catchUpEvery = 100 * time.Millisecond

// arrived waits until the targets have all live documents, and returns when
// the last one came.
func (w *watchedTargets) arrived(ctx context.Context) (time.Time, error) {
	wants := make([]int64, len(w.targets))
	for k := range w.pace.total {
		if !w.passes(k) {
			continue
		}
		for i := range w.targets {
			if w.targets[i].origins[int(k%int64(w.sources))] {
				wants[i]++
			}
		}
	}
	err := w.until(ctx, func() bool {
		for i, t := range w.targets {
			if t.live < wants[i] {
				return false
			}
		}
		return true
	})
	return w.last, err
}

// count is how many live documents came, over all targets.
func (w *watchedTargets) count() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	var n int64
	for _, t := range w.targets {
		n += t.live
	}
	return n
}

func (w *watchedTargets) until(ctx context.Context, done func() bool) error {
	for {
		w.mu.Lock()
		ok, err, changed := done(), w.err, w.changed
		w.mu.Unlock()
		switch {
		case ok:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
