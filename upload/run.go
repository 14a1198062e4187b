package upload

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"couchgauge/internal/couch"
	"couchgauge/internal/rounds"
	"couchgauge/results"
)

// Run is one run's upload part: what to measure, where, and who is told.
type Run struct {
	Plan     Plan
	Server   *couch.Server
	Database string // of this run, empty; its owner deletes it
	Sink     results.Sink
	Progress *Progress // nil: nobody looks
}

// Measure takes all samples of the plan and writes cells, samples and events
// to the sink; cells that are impossible have no samples. It returns what was measured
// so far together with its error: a *rounds.StoppedError, the sink's, or the context's, which ends it at once.
func (r Run) Measure(ctx context.Context) (results.Outcome, error) {
	if err := r.Plan.Check(); err != nil {
		return results.Outcome{}, err
	}
	if r.Progress == nil {
		r.Progress = &Progress{}
	}
	m := newSampler(r.Plan, r.Server, r.Database, r.Progress)
	defer m.close()
	return r.measure(ctx, m, m.clock)
}

// taker takes one turn of a chain: the samples of its cells.
type taker interface {
	turn(ctx context.Context, c *chain, t rounds.Turn) ([]results.Sample, error)
	alive(ctx context.Context) error // nil: the server answers
}

// measure takes the turns of the plan.
func (r Run) measure(ctx context.Context, m taker, clock clock) (results.Outcome, error) {
	subjects, records, err := r.Plan.subjects()
	if err != nil {
		return results.Outcome{}, err
	}
	for _, record := range records {
		if err := r.Sink.Write(record); err != nil {
			return results.Outcome{}, err
		}
	}
	subjects = slices.DeleteFunc(subjects, func(s *subject) bool { return s.impossible != nil })
	list := chains(subjects)
	r.Progress.samples.Store(int64(len(subjects) * (r.Plan.Samples + r.Plan.Warmup)))
	r.Progress.bytes.Store(r.Plan.Bytes())
	var out results.Outcome
	lastGood := ""
	for t := range r.Plan.schedule().Turns(len(list)) {
		c := list[t.Index]
		r.Progress.done.Add(int64(len(c.subjects)))
		if c.ledger.Over {
			continue
		}
		r.Progress.doing.Store(&c.subjects[0].label)
		began := clock.Now()
		samples, err := m.turn(ctx, c, t)
		for i := range samples {
			s := &samples[i]
			out.Add(s)
			if s.Error == "" {
				lastGood = c.subjects[i].label
			}
			if err := r.Sink.Write(s); err != nil {
				return out, err
			}
		}
		if err != nil {
			return out, err
		}
		why := c.ledger.Note(t, clock.Now().Sub(began), failure(samples), r.Plan.MaxTime)
		if err := r.tell(c, why, clock.Now()); err != nil {
			return out, err
		}
		if err := stops(ctx, m, samples); err != nil {
			return out, &rounds.StoppedError{LastGood: lastGood, Err: err}
		}
	}
	return out, nil
}

// failure is the error of the turn's last sample, "" if it has none.
func failure(samples []results.Sample) string { return samples[len(samples)-1].Error }

// tell writes the event of a chain that gets no more turns.
func (r Run) tell(c *chain, why rounds.Ending, at time.Time) error {
	if why.Text == "" {
		return nil
	}
	s := c.subjects[0]
	return r.Sink.Write(&results.Event{At: at, Cell: &s.id, Warning: why.Warning, Text: s.label + ": " + why.Text})
}

// stops returns why no further sample makes sense: after a failure without an
// answer the server may be gone (U4); after a 401 each further try could lock
// us out (fact 14).
func stops(ctx context.Context, m taker, samples []results.Sample) error {
	last := samples[len(samples)-1]
	switch {
	case last.Error == "":
		return nil
	case last.Status == http.StatusUnauthorized:
		return errors.New(last.Error)
	case last.Status == 0:
		return m.alive(ctx)
	}
	return nil
}
