package upload

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"couchgauge/internal/couch"
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

// Outcome counts the samples of a run, warm-ups left out.
type Outcome struct {
	Samples  int
	Failed   int // uploads that failed, and stored bytes that differ
	Verified int
}

// StoppedError says that a run ended early because the server was gone or
// refused us.
type StoppedError struct {
	LastGood string // the cell of the last sample that was right; "" = none
	Err      error
}

func (e *StoppedError) Error() string {
	last := "no upload had worked before"
	if e.LastGood != "" {
		last = "the last cell that worked was " + e.LastGood
	}
	return fmt.Sprintf("stopped: %v; %s", e.Err, last)
}

func (e *StoppedError) Unwrap() error { return e.Err }

// Measure takes all samples of the plan and writes cells, samples and events
// to the sink; cells that are impossible have no samples. It returns what was measured so far together with its error: a
// *StoppedError, the sink's, or the context's, which ends it at once.
func (r Run) Measure(ctx context.Context) (Outcome, error) {
	if err := r.Plan.Check(); err != nil {
		return Outcome{}, err
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
	turn(ctx context.Context, c *chain, t turn) ([]results.Sample, error)
	alive(ctx context.Context) error // nil: the server answers
}

// measure takes the turns of the plan.
func (r Run) measure(ctx context.Context, m taker, clock clock) (Outcome, error) {
	subjects, records, err := r.Plan.subjects()
	if err != nil {
		return Outcome{}, err
	}
	for _, record := range records {
		if err := r.Sink.Write(record); err != nil {
			return Outcome{}, err
		}
	}
	subjects = slices.DeleteFunc(subjects, func(s *subject) bool { return s.impossible != nil })
	list := chains(subjects)
	r.Progress.samples.Store(int64(len(subjects) * (r.Plan.Samples + r.Plan.Warmup)))
	r.Progress.bytes.Store(r.Plan.Bytes())
	var out Outcome
	lastGood := ""
	for t := range r.Plan.schedule(len(list)) {
		c := list[t.chain]
		r.Progress.done.Add(int64(len(c.subjects)))
		if c.over {
			continue
		}
		r.Progress.doing.Store(&c.subjects[0].label)
		began := clock.Now()
		samples, err := m.turn(ctx, c, t)
		for i := range samples {
			s := &samples[i]
			out.add(s)
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
		why := c.note(t, clock.Now().Sub(began), failure(samples), r.Plan.MaxTime)
		if err := r.tell(c, why, clock.Now()); err != nil {
			return out, err
		}
		if err := stops(ctx, m, samples); err != nil {
			return out, &StoppedError{lastGood, err}
		}
	}
	return out, nil
}

// failure is the error of the turn's last sample, "" if it has none.
func failure(samples []results.Sample) string { return samples[len(samples)-1].Error }

// tell writes the event of a chain that gets no more turns.
func (r Run) tell(c *chain, why ending, at time.Time) error {
	if why == goesOn {
		return nil
	}
	s := c.subjects[0]
	event := &results.Event{At: at, Cell: &s.id}
	switch why {
	case tooBroken:
		event.Warning = true
		event.Text = fmt.Sprintf("%s: given up after %d failures in a row: %s", s.label, c.failures, c.lastError)
	case tooSlow:
		event.Text = fmt.Sprintf("%s: no more samples after %d, which took %v", s.label, c.taken, c.spent.Round(time.Millisecond))
	}
	return r.Sink.Write(event)
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

// add counts a sample.
func (o *Outcome) add(s *results.Sample) {
	if s.Warmup {
		return
	}
	o.Samples++
	if s.Error != "" {
		o.Failed++
	}
	if s.Verified {
		o.Verified++
	}
}
