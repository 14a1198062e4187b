package replicate

import (
	"context"
	"encoding/json"
	"fmt"

	"couchgauge/replicate/engine"
)

// own is a job that runs on our own engine, in this process.
type own struct {
	job         job
	replication *engine.Replication
	cancel      context.CancelFunc
	ended       chan outcome
	submitted   bool
}

func prepareEngine(_ context.Context, j job) (running, error) {
	fields, err := json.Marshal(j.fields)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", j, err)
	}
	options, err := engine.ParseOptions(fields)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", j, err)
	}
	options.Continuous = j.continuous
	return &own{
		job:         j,
		replication: engine.New(j.source.enginePeer(), j.target.enginePeer(), options),
		ended:       make(chan outcome, 1),
	}, nil
}

func (o *own) submit(ctx context.Context) error {
	ctx, o.cancel = context.WithCancel(ctx)
	o.submitted = true
	go func() {
		result, err := o.replication.Run(ctx)
		done := outcome{State: stateCompleted, Counters: engineCounters(result.Progress), Stages: stageTimes(result.Timers)}
		if err != nil {
			done.State, done.Reason = stateFailed, err.Error()
		}
		for _, f := range result.Failures {
			done.Refused = append(done.Refused, fmt.Sprintf("%s %s: %s", f.ID, f.Rev, f.Reason))
		}
		o.ended <- done
	}()
	return nil
}

func (o *own) wait(ctx context.Context) outcome {
	select {
	case done := <-o.ended:
		o.ended <- done // for stop
		return done
	case <-ctx.Done():
		return outcome{State: stateUnknown, err: context.Cause(ctx)}
	}
}

func (o *own) watch(context.Context) watching {
	p := o.replication.Progress()
	return watching{state: "running", counters: engineCounters(p), stages: stageTimes(p.Timers), at: string(p.SourceSeq)}
}

// stop ends the job and waits until it has.
func (o *own) stop(context.Context) error {
	if o.submitted {
		o.cancel()
		<-o.ended
	}
	return nil
}

func engineCounters(p engine.Progress) counters {
	n := func(v int64) *float64 { f := float64(v); return &f }
	return counters{
		DocsRead:         n(p.DocsRead),
		DocsWritten:      n(p.DocsWritten),
		DocWriteFailures: n(p.DocWriteFailures),
		MissingChecked:   n(p.MissingChecked),
		MissingFound:     n(p.MissingFound),
		BulkGetAttempts:  n(p.BulkGetAttempts),
		BulkGetDocs:      n(p.BulkGetDocs),
	}
}

// stageTimes are the engine's timers by column, in seconds.
func stageTimes(t engine.Timers) map[string]float64 {
	times := map[string]float64{}
	for _, s := range []struct {
		name  string
		timer engine.Timer
	}{{"changes", t.Changes}, {"diff", t.Diff}, {"read", t.Read}, {"write", t.Write}} {
		times[s.name+"_s"] = s.timer.Busy.Seconds()
		times[s.name+"_wait_in_s"] = s.timer.WaitIn.Seconds()
		times[s.name+"_wait_out_s"] = s.timer.WaitOut.Seconds()
	}
	return times
}
