package rounds

import (
	"fmt"
	"time"
)

const (
	// LeastSamples are taken of a slow cell, however long it takes.
	LeastSamples = 3
	mostFailures = 3 // in a row, before a cell is given up
)

// Ledger is what is known so far of the samples of what is scheduled as one.
type Ledger struct {
	Over  bool // no more turns
	Taken int  // without warm-ups

	failures  int // in a row, without warm-ups
	lastError string
	spent     time.Duration
}

// Ending is why there are no more turns. The zero Ending says that there are.
type Ending struct {
	Text    string // for people
	Warning bool   // something is wrong, beside being slow
}

// Note enters a turn, which took so long and failed if failure is not empty,
// and tells whether it was the last. A warm-up is no failure: what is given up
// must have samples that say why. maxTime 0 is no limit.
func (l *Ledger) Note(t Turn, took time.Duration, failure string, maxTime time.Duration) Ending {
	l.spent += took
	if !t.Warmup {
		l.Taken++
		if failure != "" {
			l.failures++
			l.lastError = failure
		} else {
			l.failures = 0
		}
	}
	switch {
	case l.failures >= mostFailures:
		l.Over = true
		return Ending{fmt.Sprintf("given up after %d failures in a row: %s", l.failures, l.lastError), true}
	case maxTime > 0 && l.spent >= maxTime && l.Taken >= LeastSamples:
		l.Over = true
		return Ending{fmt.Sprintf("no more samples after %d, which took %v", l.Taken, l.spent.Round(time.Millisecond)), false}
	}
	return Ending{}
}
