package replicate

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"couchgauge/results"
)

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
	for _, r := range list {
		ends = append(ends, r.outcome)
		addStages(s.Measures, r.outcome)
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
		w := prepared[i].watch(ctx)
		list[i].outcome = outcome{State: "stopped", Counters: w.counters, Stages: w.stages}.after(w)
	}
	return list, measures, nil
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
