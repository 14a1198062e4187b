package upload

import "time"

const (
	leastSamples = 3 // of a slow cell, whatever MaxTime says
	mostFailures = 3 // in a row, before a cell is given up
)

// chain is what is scheduled: the cells whose samples follow each other on one
// document. Without Append it is one cell.
type chain struct {
	subjects  []*subject
	taken     int // samples of each, without warm-ups
	failures  int // in a row, without warm-ups
	lastError string
	spent     time.Duration // in all its turns
	over      bool          // no more turns
}

// chains groups the cells that differ by their ordinal only, which follow
// each other.
func chains(subjects []*subject) []*chain {
	var list []*chain
	for _, s := range subjects {
		if s.Ordinal <= 1 {
			list = append(list, &chain{})
		}
		last := list[len(list)-1]
		last.subjects = append(last.subjects, s)
	}
	return list
}

// ending is why a chain gets no more turns.
type ending int

const (
	goesOn ending = iota
	tooSlow
	tooBroken
)

// note takes a turn into account and tells whether there will be another.
func (c *chain) note(t turn, took time.Duration, failure string, maxTime time.Duration) ending {
	c.spent += took
	if !t.warmup { // a cell that is given up must have samples that say why
		c.taken++
		if failure != "" {
			c.failures++
			c.lastError = failure
		} else {
			c.failures = 0
		}
	}
	switch {
	case c.failures >= mostFailures:
		c.over = true
		return tooBroken
	case maxTime > 0 && c.spent >= maxTime && c.taken >= leastSamples:
		c.over = true
		return tooSlow
	}
	return goesOn
}
