package upload

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"couchgauge/internal/couch"
	"couchgauge/internal/rounds"
	"couchgauge/results"

	"github.com/google/go-cmp/cmp"
)

// fakeClock moves when it is told.
type fakeClock struct{ now time.Time }

func (c *fakeClock) Now() time.Time { return c.now }

func (c *fakeClock) Sleep(_ context.Context, d time.Duration) error {
	c.now = c.now.Add(d)
	return nil
}

// fakeTaker takes turns that last as long as their size in milliseconds, and
// fail as it is told.
type fakeTaker struct {
	clock *fakeClock
	fails func(s *subject, t rounds.Turn) error
	gone  error
}

func (f *fakeTaker) turn(_ context.Context, c *chain, t rounds.Turn) ([]results.Sample, error) {
	var samples []results.Sample
	for _, s := range c.subjects {
		f.clock.now = f.clock.now.Add(time.Duration(s.Size.Bytes) * time.Millisecond)
		sample := results.Sample{Cell: s.id, Round: t.Round, Warmup: t.Warmup, Status: 201, Verified: true}
		if err := f.fails(s, t); err != nil {
			sample.Error, sample.Verified, sample.Status = err.Error(), false, 0
			var refusal *couch.Error
			if errors.As(err, &refusal) {
				sample.Status = refusal.Status
			}
			return append(samples, sample), nil
		}
		samples = append(samples, sample)
	}
	return samples, nil
}

func (f *fakeTaker) alive(context.Context) error { return f.gone }

// fake runs a plan without a server.
func fake(t *testing.T, p Plan, f *fakeTaker) (*kept, results.Outcome, error) {
	t.Helper()
	f.clock = &fakeClock{now: time.Unix(1, 0)}
	if f.fails == nil {
		f.fails = func(*subject, rounds.Turn) error { return nil }
	}
	k := &kept{}
	out, err := Run{Plan: p, Sink: k, Progress: &Progress{}}.measure(t.Context(), f, f.clock)
	return k, out, err
}

// counts are the samples of each cell, without warm-ups.
func (k *kept) counts() []int {
	n := make([]int, len(k.cells))
	for _, s := range k.samples {
		if !s.Warmup {
			n[s.Cell]++
		}
	}
	return n
}

func TestMaxTimeEndsSlowCellsOnly(t *testing.T) {
	for _, c := range []struct {
		name    string
		maxTime time.Duration
		want    []int
	}{
		{"no limit", 0, []int{10, 10, 10}},
		{"6 s", 6 * time.Second, []int{10, 10, 5}}, // a warm-up and five samples of 1 s
		{"never below three", time.Second / 2, []int{10, 4, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Plan{Sizes: sizes(t, "1,100,1000"), Samples: 10, Warmup: 1, MaxTime: c.maxTime}
			k, out, err := fake(t, p, &fakeTaker{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, k.counts()); diff != "" {
				t.Errorf("samples per cell (-want +got):\n%s", diff)
			}
			if want := k.counts()[0] + k.counts()[1] + k.counts()[2]; out.Samples != want || out.Verified != want || out.Failed != 0 {
				t.Errorf("outcome %+v, want %d samples", out, want)
			}
			ended := 0
			for _, n := range c.want {
				if n < 10 {
					ended++
				}
			}
			if len(k.events) != ended {
				t.Errorf("%d events, want one for each of %d cells that ended early", len(k.events), ended)
			}
		})
	}
}

func TestCellIsGivenUpAfterThreeFailuresInARow(t *testing.T) {
	tooLarge := &couch.Error{Status: 413, Code: "too_large"}
	k, out, err := fake(t, Plan{Sizes: sizes(t, "1,2,3"), Samples: 10, Warmup: 4}, &fakeTaker{fails: func(s *subject, t rounds.Turn) error {
		if s.Size.Bytes == 3 || s.Size.Bytes == 2 && t.Round%3 > 0 { // 2: never three in a row
			return tooLarge
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{10, 10, 3}, k.counts()); diff != "" {
		t.Errorf("samples per cell (-want +got):\n%s", diff)
	}
	if out.Failed != 6+3 {
		t.Errorf("%d failed, want 9", out.Failed)
	}
	if len(k.events) != 1 || !k.events[0].Warning || *k.events[0].Cell != 2 || !strings.Contains(k.events[0].Text, "413 too_large") {
		t.Errorf("events: %+v", k.events)
	}
}

func TestRunStops(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		gone error
		want string // in the error; "" = the run goes on
		n    int    // samples of all kinds
	}{
		{"U4: nobody listens any more", errors.New("cannot connect"), errors.New("connection refused"), "connection refused; the last cell that worked was raw 1", 6},
		{"one upload was cut off", errors.New("reset"), nil, "", 10},
		{"the password is refused", &couch.Error{Status: 401, Code: "unauthorized"}, nil, "401 unauthorized", 6},
		{"the server is broken", &couch.Error{Status: 500}, nil, "", 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, _, err := fake(t, Plan{Sizes: sizes(t, "1,2"), Samples: 5, Order: rounds.Sequential}, &fakeTaker{gone: c.gone, fails: func(s *subject, t rounds.Turn) error {
				if s.Size.Bytes == 2 && t.Round == 0 {
					return c.err
				}
				return nil
			}})
			var stopped *rounds.StoppedError
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &stopped) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if len(k.samples) != c.n || len(k.cells) != 2 {
				t.Errorf("%d samples of %d cells were kept, want %d of 2", len(k.samples), len(k.cells), c.n)
			}
		})
	}
}
