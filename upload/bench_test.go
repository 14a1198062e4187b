package upload

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"couchgauge/internal/refserver"
	"couchgauge/results"
)

// sink starts the reference server that stores nothing.
func sink(t testing.TB) string {
	t.Helper()
	s, err := refserver.New(refserver.Options{Dir: t.TempDir(), Discard: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return h.URL
}

// nowhere is a sink that keeps nothing.
type nowhere struct{ samples int }

func (n *nowhere) Write(r results.Record) error {
	if s, ok := r.(*results.Sample); ok {
		n.samples++
		if s.Error != "" {
			return fmt.Errorf("a sample failed: %s", s.Error)
		}
	}
	return nil
}

// BenchmarkTiny is the cost of a 10-byte upload, sink included; with 16
// connections one operation is 16 uploads.
func BenchmarkTiny(b *testing.B) {
	for _, c := range []int{1, 16} {
		b.Run(fmt.Sprint(c), func(b *testing.B) {
			p := Plan{Sizes: sizes(b, "10B"), Concurrency: []int{c}, Samples: b.N, Verify: VerifyOff}
			s := open(b, sink(b))
			db := database(b, s)
			b.ReportAllocs()
			b.ResetTimer()
			if _, err := (Run{Plan: p, Server: s, Database: db, Sink: &nowhere{}}).Measure(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N*c)/b.Elapsed().Seconds(), "uploads/s")
		})
	}
}

// BenchmarkLarge is the speed of one large upload by each method, sink
// included.
func BenchmarkLarge(b *testing.B) {
	for _, m := range Methods() {
		b.Run(m, func(b *testing.B) {
			p := Plan{Methods: []string{m}, Sizes: sizes(b, "1GiB"), Samples: b.N, Verify: VerifyOff}
			s := open(b, sink(b))
			db := database(b, s)
			b.SetBytes(1 << 30)
			b.ReportAllocs()
			b.ResetTimer()
			if _, err := (Run{Plan: p, Server: s, Database: db, Sink: &nowhere{}}).Measure(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
