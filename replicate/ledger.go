package replicate

import (
	"fmt"
	"time"

	"couchgauge/results"
)

// ledger is what is known of a group's samples so far.
type ledger struct {
	taken    int // measured samples
	failures int // in a row
	spent    time.Duration
	over     bool
	times    []float64 // of the first cell's good samples, in seconds
}

// mostFailures in a row end a group.
const mostFailures = 3

// note enters a turn, and says why the group gets no more, if so.
func (l *ledger) note(t turn, samples []results.Sample, maxTime time.Duration) string {
	last := samples[len(samples)-1]
	if last.Error != "" {
		l.failures++
	} else {
		l.failures = 0
	}
	if !t.warmup {
		l.taken++
		if samples[0].Error == "" {
			l.times = append(l.times, time.Duration(samples[0].Duration).Seconds())
		}
	}
	for _, s := range samples {
		l.spent += time.Duration(s.Duration)
	}
	switch {
	case l.failures >= mostFailures:
		l.over = true
		return fmt.Sprintf("given up after %d failures in a row: %s", l.failures, last.Error)
	case maxTime > 0 && l.spent >= maxTime && l.taken >= leastSamples:
		l.over = true
		return fmt.Sprintf("no more samples after %d, which took %v", l.taken, l.spent.Round(time.Millisecond))
	}
	return ""
}
