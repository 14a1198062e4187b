package results

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// maxEvents bounds the warnings that a run may leave under its tables.
const maxEvents = 50

// Collector is a sink that keeps what rows are made of, in memory that does
// not grow with the number of samples. It is not for several goroutines.
type Collector struct {
	run    *Run
	end    *End
	cells  []*cellData
	byID   map[int]*cellData
	events []Event
	lost   int // warnings beyond maxEvents
}

// cellData is what is kept of one cell.
type cellData struct {
	cell     Cell
	series   *series            // successful samples
	samples  int                // without warm-ups
	failed   int                // of samples
	verified int                // of samples
	sums     map[string]float64 // of all samples' measures
	failure  *Sample            // the first failed sample
}

// NewCollector returns an empty collector.
func NewCollector() *Collector {
	return &Collector{byID: map[int]*cellData{}}
}

// Summarize reads a recording into a summary, in bounded memory. A recording
// that was cut off has a partial one, and no error.
func Summarize(r io.Reader) (*Summary, error) {
	c := NewCollector()
	if err := Read(r, c.Write); err != nil && !errors.Is(err, ErrPartial) {
		return nil, err
	}
	return c.Summary(), nil
}

// Write takes a record.
func (c *Collector) Write(rec Record) error {
	switch rec := rec.(type) {
	case *Run:
		c.run = rec
	case *Cell:
		return c.addCell(rec)
	case *Sample:
		return c.addSample(rec)
	case *Event:
		c.addEvent(rec)
	case *End:
		c.end = rec
	}
	return nil
}

func (c *Collector) addCell(cell *Cell) error {
	if c.byID[cell.ID] != nil {
		return fmt.Errorf("cell %d is recorded twice", cell.ID)
	}
	d := &cellData{cell: *cell, series: newSeries(uint64(cell.ID)), sums: map[string]float64{}}
	c.cells = append(c.cells, d)
	c.byID[cell.ID] = d
	return nil
}

func (c *Collector) addSample(s *Sample) error {
	d := c.byID[s.Cell]
	if d == nil {
		return fmt.Errorf("a sample names cell %d, which is not recorded", s.Cell)
	}
	if s.Warmup {
		return nil
	}
	d.samples++
	for name, v := range s.Measures {
		d.sums[name] += v
	}
	if s.Error != "" {
		d.failed++
		if d.failure == nil {
			failure := *s
			d.failure = &failure
		}
		return nil
	}
	if s.Verified {
		d.verified++
	}
	d.series.add(time.Duration(s.Duration), s.Measures)
	return nil
}

func (c *Collector) addEvent(e *Event) {
	switch {
	case !e.Warning:
	case len(c.events) == maxEvents:
		c.lost++
	default:
		c.events = append(c.events, *e)
	}
}
