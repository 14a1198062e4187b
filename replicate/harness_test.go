package replicate_test

import (
	"context"
	"math/rand/v2"
	"net/url"
	"sync"
	"testing"
	"time"

	"couchgauge/internal/couch"
	"couchgauge/internal/servertest"
	"couchgauge/replicate"
	"couchgauge/results"
)

// kept is a sink that keeps what it is given.
type kept struct {
	mu      sync.Mutex
	records []results.Record
}

func (k *kept) Write(r results.Record) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.records = append(k.records, r)
	return nil
}

// samples returns those of cells that match, warm-ups left out.
func (k *kept) samples(match func(results.Cell) bool) []*results.Sample {
	cells := map[int]results.Cell{}
	var list []*results.Sample
	for _, r := range k.records {
		switch r := r.(type) {
		case *results.Cell:
			cells[r.ID] = *r
		case *results.Sample:
			if !r.Warmup && match(cells[r.Cell]) {
				list = append(list, r)
			}
		}
	}
	return list
}

func (k *kept) events() []*results.Event {
	var list []*results.Event
	for _, r := range k.records {
		if e, ok := r.(*results.Event); ok {
			list = append(list, e)
		}
	}
	return list
}

// level is the text of a cell's level; "" = it has none of the factor.
func level(c results.Cell, factor string) string {
	for _, l := range c.Levels {
		if l.Factor == factor {
			return l.Text
		}
	}
	return ""
}

// replications matches cells that are not about filling.
func replications(c results.Cell) bool { return level(c, "driver") != "fill" }

// peer is a server under test.
func peer(t testing.TB, s servertest.Server) replicate.Peer {
	t.Helper()
	server, err := couch.Open(s.URL, couch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := replicate.Peer{Server: server}
	if u, err := url.Parse(s.URL); err == nil && u.User != nil {
		p.User = u.User.Username()
		p.Password, _ = u.User.Password()
	}
	return p
}

// prepared is a session that lives as long as the test.
func prepared(t testing.TB, source, target replicate.Peer, plan replicate.Plan) (*replicate.Session, *kept, error) {
	t.Helper()
	sink := &kept{}
	if plan.Samples == 0 {
		plan.Samples = 1
	}
	if plan.Timeout == 0 {
		plan.Timeout = time.Minute
	}
	target.Index = 1
	env := replicate.Env{
		Source: source, Target: target,
		RunID:    couch.NewRunID(time.Now(), rand.New(rand.NewPCG(rand.Uint64(), 0))),
		StateDir: t.TempDir(),
		Sink:     sink,
	}
	s, err := replicate.Prepare(t.Context(), env, plan)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("close the session: %v", err)
		}
	})
	return s, sink, err
}

// measured takes all samples of a plan.
func measured(t testing.TB, source, target replicate.Peer, plan replicate.Plan) (results.Outcome, *kept) {
	t.Helper()
	s, sink, err := prepared(t, source, target, plan)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out, sink
}

// allGood fails the test unless every sample is verified.
func allGood(t testing.TB, out results.Outcome, sink *kept) {
	t.Helper()
	for _, s := range sink.samples(func(results.Cell) bool { return true }) {
		if s.Error != "" || !s.Verified {
			t.Errorf("sample of cell %d: verified %v: %s\n%s", s.Cell, s.Verified, s.Error, s.Detail)
		}
	}
	if out.Failed != 0 || out.Verified != out.Samples || out.Samples == 0 {
		t.Errorf("outcome %+v, want all of them verified", out)
	}
}
