package replicate

import (
	"context"
	"strings"
	"time"

	"couchgauge/internal/rounds"
	"couchgauge/results"
)

// Measure fills the sources, takes all samples of the plan, and writes cells,
// samples and events to the sink. It returns what was measured so far together
// with its error: a *rounds.StoppedError, the sink's, or the context's.
func (s *Session) Measure(ctx context.Context) (results.Outcome, error) {
	var out results.Outcome
	for i := range s.cells {
		if err := s.env.Sink.Write(&s.cells[i].Cell); err != nil {
			return out, err
		}
	}
	if err := s.warnEffects(); err != nil {
		return out, err
	}
	if err := s.fillSources(ctx); err != nil {
		return out, s.stopped(ctx, err, "")
	}
	groups := s.groups()
	ledgers := make([]rounds.Ledger, len(groups))
	times := make([][]float64, len(groups)) // of a group's first cell
	lastGood := ""
	for t := range s.plan.schedule().Turns(len(groups)) {
		g, l := groups[t.Index], &ledgers[t.Index]
		if l.Over {
			continue
		}
		label := g[0].label()
		s.env.Progress.doing.Store(&label)
		samples, err := s.turn(ctx, g, t)
		for i := range samples {
			out.Add(&samples[i])
			if samples[i].Error == "" {
				lastGood = label
			}
			if err := s.env.Sink.Write(&samples[i]); err != nil {
				return out, err
			}
		}
		if err != nil {
			return out, s.stopped(ctx, err, lastGood)
		}
		if !t.Warmup && samples[0].Error == "" {
			times[t.Index] = append(times[t.Index], time.Duration(samples[0].Duration).Seconds())
		}
		why := l.Note(t, total(samples), samples[len(samples)-1].Error, s.plan.MaxTime)
		if why.Text != "" {
			if err := s.event(&g[0], why.Warning, "%s: %s", label, why.Text); err != nil {
				return out, err
			}
		}
		if err := s.reachable(ctx, samples); err != nil {
			return out, s.stopped(ctx, err, lastGood)
		}
	}
	return out, s.tellCosts(groups, times)
}

// stopped is the error of a run that ended early.
func (s *Session) stopped(ctx context.Context, err error, lastGood string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &rounds.StoppedError{LastGood: lastGood, Err: err}
}

// total is how long the samples took together.
func total(samples []results.Sample) (d time.Duration) {
	for _, s := range samples {
		d += time.Duration(s.Duration)
	}
	return d
}

// fillSources fills what the cells share.
func (s *Session) fillSources(ctx context.Context) error {
	for _, data := range shapesOf(s.cells) {
		for number := range s.plan.sources(s.cells, data) {
			e, err := s.create(ctx, &s.env.Source, "s")
			if err != nil {
				return err
			}
			if err := s.fillSource(ctx, e, data, number); err != nil {
				return err
			}
			s.sources[data] = append(s.sources[data], e)
		}
	}
	return nil
}

// turn takes one sample of each cell of a group, on the same databases. An
// error means that no sample could be taken.
func (s *Session) turn(ctx context.Context, g []cell, t rounds.Turn) ([]results.Sample, error) {
	x := &sample{Session: s, cell: g[0]}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := x.close(ctx); err != nil {
			// The session's end tries again, and tells.
			return
		}
	}()
	if err := s.configure(ctx, g[0]); err != nil {
		return nil, err
	}
	if err := x.open(ctx); err != nil {
		return nil, err
	}
	var list []results.Sample
	for _, c := range g {
		x.cell = c
		if c.update > 0 {
			source := x.databases[0]
			if err := update(ctx, source.peer.Server, source.db, c.shape, 0, c.update); err != nil {
				return list, err
			}
		}
		r := x.take(ctx)
		if ctx.Err() != nil { // half a sample is none
			return list, context.Cause(ctx)
		}
		r.Round, r.Warmup = t.Round, t.Warmup
		list = append(list, r)
		if x.restarted != "" {
			if err := s.event(&c, true, "%s: %s", c.label(), x.restarted); err != nil {
				return list, err
			}
		}
		if r.Error != "" {
			break // the next round of updates would start from something else
		}
	}
	return list, nil
}

// reachable asks the servers, after a sample that failed, whether they are
// still there.
func (s *Session) reachable(ctx context.Context, samples []results.Sample) error {
	if len(samples) == 0 || samples[len(samples)-1].Error == "" {
		return nil
	}
	peers := []*Peer{&s.env.Source, &s.env.Target}
	if s.env.Replicator != nil {
		peers = append(peers, s.env.Replicator)
	}
	for _, p := range peers {
		if _, err := p.Server.Hello(ctx); err != nil {
			return err
		}
	}
	return nil
}

// label names a cell for people.
func (c cell) label() string {
	var parts []string
	for _, l := range c.Levels {
		if l.Factor == "driver" || l.Factor == "topology" {
			parts = append(parts, l.Text)
			continue
		}
		parts = append(parts, l.Factor+"="+l.Text)
	}
	return strings.Join(parts, " ")
}
