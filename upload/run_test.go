package upload

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"couchgauge/gen"
	"couchgauge/internal/couch"
	"couchgauge/internal/servertest"
	"couchgauge/results"
)

// kept is a sink that keeps all records.
type kept struct {
	mu      sync.Mutex
	cells   []*results.Cell
	samples []*results.Sample
	events  []*results.Event
}

func (k *kept) Write(r results.Record) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch r := r.(type) {
	case *results.Cell:
		k.cells = append(k.cells, r)
	case *results.Sample:
		k.samples = append(k.samples, r)
	case *results.Event:
		k.events = append(k.events, r)
	}
	return nil
}

// text names a sample's cell.
func (k *kept) text(s *results.Sample) string {
	text := ""
	for _, l := range k.cells[s.Cell].Levels {
		text += l.Factor + "=" + l.Text + " "
	}
	return text
}

func sizes(t testing.TB, text string) []gen.Size {
	t.Helper()
	list, err := gen.ParseSizes(text)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func open(t testing.TB, url string) *couch.Server {
	t.Helper()
	s, err := couch.Open(url, couch.Options{IdleTimeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// database creates a database that the test deletes.
func database(t testing.TB, s *couch.Server) string {
	t.Helper()
	all := s.NewDatabases(couch.NewRunID(time.Now(), rand.New(rand.NewPCG(rand.Uint64(), 0))))
	name, err := all.Create(t.Context(), "test", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := all.DeleteAll(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("after the test: %v", err)
		}
	})
	return name
}

// run measures a plan on a database of its own.
func run(t *testing.T, url string, p Plan) (*kept, Outcome, error) {
	t.Helper()
	s := open(t, url)
	k := &kept{}
	out, err := Run{Plan: p, Server: s, Database: database(t, s), Sink: k}.Measure(t.Context())
	return k, out, err
}

// allVerified fails the test for each sample that failed or was not verified.
func allVerified(t *testing.T, k *kept, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("run: %v", err)
	}
	for _, s := range k.samples {
		if s.Error != "" || !s.Verified {
			t.Errorf("%sround %d: verified %v, error %q", k.text(s), s.Round, s.Verified, s.Error)
		}
	}
}

func TestEveryMethodStoresEverySize(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s servertest.Server) {
		p := Plan{
			Methods: Methods(),
			Sizes:   sizes(t, "0B,1B,1048575B,1048576B,1048577B"), // U11
			Samples: 2,
			Warmup:  1,
		}
		k, out, err := run(t, s.URL, p)
		allVerified(t, k, err)
		if want := 2 * 5 * len(Methods()); out.Samples != want || out.Verified != want || out.Failed != 0 {
			t.Errorf("outcome %+v: want %d samples, all verified", out, want)
		}
	})
}
