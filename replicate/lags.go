package replicate

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// lags is a histogram of lags.
type lags struct {
	mu        sync.Mutex
	histogram *hdrhistogram.Histogram // in microseconds
}

// longestLag bounds what is told apart.
const longestLag = 24 * time.Hour

func newLags() *lags {
	return &lags{histogram: hdrhistogram.New(1, longestLag.Microseconds(), 3)}
}

func (l *lags) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Within its bounds the histogram takes every value.
	_ = l.histogram.RecordValue(min(max(d, time.Microsecond), longestLag).Microseconds())
}

// into sets the percentiles as measures: "lag_p50_s" and so on.
func (l *lags) into(measures map[string]float64, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.histogram.TotalCount() == 0 {
		return
	}
	for _, q := range []struct {
		suffix  string
		percent float64
	}{{"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}} {
		measures[name+"_"+q.suffix+"_s"] = float64(l.histogram.ValueAtPercentile(q.percent)) / 1e6
	}
}
