package replicate

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// watchHeadway ends a sample in which nothing has moved for the plan's
// timeout: neither a target nor what the job says of itself. It also tells the
// progress. The function it returns ends the watch.
func (x *sample) watchHeadway(ctx context.Context, end context.CancelCauseFunc, jobs []running) (stop func()) {
	p := x.env.Progress
	if x.plan.Timeout == 0 && !p.watched.Load() {
		return func() {}
	}
	docs, known := x.filter.passes(x.shape.docs)
	p.docs.Store(0)
	p.ofIt.Store(0)
	if known {
		p.ofIt.Store(docs * int64(x.layout.moves()))
	}
	every := lookEvery
	if x.plan.Timeout > 0 {
		every *= time.Duration(len(jobs)) // of each job the state is asked
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		last, since := "", time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(every):
			}
			now, state := x.headway(ctx, jobs)
			if now != last {
				last, since = now, time.Now()
			}
			if x.plan.Timeout > 0 && time.Since(since) >= x.plan.Timeout {
				end(fmt.Errorf("nothing has moved for %v: the job's state is %s", x.plan.Timeout, state))
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// headway is a text that changes when anything moves, and the jobs' state.
func (x *sample) headway(ctx context.Context, jobs []running) (now, state string) {
	var all []string
	var docs int64
	for _, t := range x.targets() {
		info, err := databaseInfo(ctx, t.peer.Server.Control(), t.db)
		if err != nil {
			continue
		}
		docs += info.Docs + max(info.Deleted, 0)
		all = append(all, info.Seq)
	}
	x.env.Progress.docs.Store(docs)
	state = "not told"
	if x.plan.Timeout > 0 {
		for _, r := range jobs {
			w := r.watch(ctx)
			all = append(all, w.state, w.at)
			if w.state != "" {
				state = w.state
			}
			if w.reason != "" {
				state += ": " + w.reason
			}
		}
	}
	return strings.Join(all, "\n"), state
}
