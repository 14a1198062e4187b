package replicate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"couchgauge/results"
)

func (x *sample) takeOneShot(ctx context.Context, s *results.Sample) {
	jobs, prepared, err := x.jobs(ctx)
	defer x.stop(ctx, prepared, s)
	if err != nil {
		s.Error = err.Error()
		return
	}
	before, err := x.look(ctx)
	if err != nil {
		s.Error = err.Error()
		return
	}
	seen := watchArrivals(ctx, x.targets(), before.seqs())
	list, err := x.run(ctx, jobs, prepared)
	firsts := seen.stop(grace)
	if err != nil {
		s.Error = err.Error()
	}
	x.discount(list)
	x.times(s, list, firsts)
	after, err := x.look(ctx)
	if err != nil {
		fail(s, err.Error())
		return
	}
	x.measure(s, list, before, after)
	x.judge(ctx, s, list)
}

// grace is how long the news of a target's first change may take, once its
// jobs are done.
const grace = 2 * time.Second

// run submits the jobs and waits until all are done, or one ended otherwise.
func (x *sample) run(ctx context.Context, jobs []job, prepared []running) ([]jobResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer x.watchHeadway(ctx, cancel, prepared)()
	list := make([]jobResult, len(jobs))
	one := func(i int) {
		j := jobs[i]
		r := jobResult{Source: j.source.db, Target: j.target.db, At: j.at.URL(), submitted: time.Now()}
		if x.here() {
			r.At = "couchgauge"
		}
		if err := prepared[i].submit(ctx); err != nil {
			r.outcome = outcome{State: stateUnknown, err: err}
		} else {
			r.outcome = prepared[i].wait(ctx)
		}
		r.ended = time.Now()
		r.Duration = results.Seconds(r.ended.Sub(r.submitted))
		if err := r.fault(j); err != nil {
			cancel(err) // the sample has failed: waiting for the others is vain
		}
		list[i] = r
	}
	if x.layout.chained {
		for i := range jobs {
			if ctx.Err() == nil {
				one(i)
			}
		}
	} else {
		var wg sync.WaitGroup
		for i := range jobs {
			wg.Go(func() { one(i) })
		}
		wg.Wait()
	}
	return list, context.Cause(ctx)
}

// fault says in one line why a job did not end well.
func (r jobResult) fault(j job) error {
	switch {
	case r.err != nil:
		return r.err
	case r.State != stateCompleted:
		return fmt.Errorf("%s: %s: %s", j, r.State, r.Reason)
	}
	return nil
}

// discount leaves out of the counters what earlier jobs between the same
// databases did.
func (x *sample) discount(list []jobResult) {
	if x.here() || !x.host(x.hostOf(x.layout, x.layout.edges[0])).cumulative {
		return
	}
	for i := range list { // updates have one job
		now := list[i].Counters
		list[i].Counters = now.since(x.counted)
		x.counted = now
	}
}
