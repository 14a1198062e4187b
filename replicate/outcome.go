package replicate

import (
	"fmt"

	"couchgauge/results"
)

// Outcome counts the samples of a run, warm-ups left out.
type Outcome struct {
	Samples  int
	Failed   int // jobs that did not end well, and documents that are missing
	Verified int
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

// StoppedError says that a run ended early because nothing more can be
// measured.
type StoppedError struct {
	LastGood string // the cell of the last sample that was right; "" = none
	Err      error
}

func (e *StoppedError) Error() string {
	last := "no replication had worked before"
	if e.LastGood != "" {
		last = "the last cell that worked was " + e.LastGood
	}
	return fmt.Sprintf("stopped: %v; %s", e.Err, last)
}

func (e *StoppedError) Unwrap() error { return e.Err }
