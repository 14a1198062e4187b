package upload

import (
	"runtime"
	"testing"
)

// TestU5MemoryDoesNotGrowWithTheSize: all that is allocated while 1 GiB is
// uploaded, sink included, is a few buffers. What the process takes from the
// system is measured by make bench.
func TestU5MemoryDoesNotGrowWithTheSize(t *testing.T) {
	if testing.Short() {
		t.Skip("uploads 1 GiB by each method")
	}
	const most = 16 << 20
	for _, m := range Methods() {
		s := open(t, sink(t))
		db := database(t, s)
		p := Plan{Methods: []string{m}, Sizes: sizes(t, "1GiB"), Samples: 1, Verify: VerifyOff}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Run{Plan: p, Server: s, Database: db, Sink: &nowhere{}}.Measure(t.Context())
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > most {
			t.Errorf("%s: allocated %d bytes, %v; want at most %d", m, n, err, most)
		}
	}
}
