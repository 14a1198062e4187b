package replicate

import (
	"fmt"
	"slices"
	"time"

	"couchgauge/gen"
)

// point is one cell of a split: what moved, and how long that took.
type point struct {
	docs, bytes float64
	seconds     float64
}

// cost is what a document and what a byte costs, in seconds.
type cost struct {
	start, document float64
	bytes           float64 // moved in each point
}

// fitCost finds the line seconds = start + document × docs through points of
// equal bytes, by least squares weighted by 1/seconds², so that each point
// counts by its relative error. start is then the cost of the bytes and
// whatever a job costs at all.
func fitCost(points []point) (cost, error) {
	if len(points) < 2 {
		return cost{}, fmt.Errorf("a split of fewer than two levels tells nothing")
	}
	var w, wx, wy, wxx, wxy float64
	for _, p := range points {
		if p.seconds <= 0 {
			return cost{}, fmt.Errorf("a point took no time")
		}
		weight := 1 / (p.seconds * p.seconds)
		w += weight
		wx += weight * p.docs
		wy += weight * p.seconds
		wxx += weight * p.docs * p.docs
		wxy += weight * p.docs * p.seconds
	}
	d := w*wxx - wx*wx
	if d <= 0 {
		return cost{}, fmt.Errorf("all points have as many documents")
	}
	c := cost{document: (w*wxy - wx*wy) / d, bytes: points[0].bytes}
	c.start = (wy - c.document*wx) / w
	return c, nil
}

// String tells the two apart.
func (c cost) String() string {
	each := time.Duration(c.document * float64(time.Second))
	all := time.Duration(c.start * float64(time.Second))
	return fmt.Sprintf("each document costs %v; %s cost %v whatever the number of documents (%.3g ns a byte, start-up included)",
		round(each), gen.FormatBytes(int64(c.bytes)), round(all), c.start/c.bytes*1e9)
}

// round keeps three digits or so.
func round(d time.Duration) time.Duration {
	for unit := time.Second; unit > 1; unit /= 10 {
		if d >= unit || -d >= unit {
			return d.Round(unit / 100)
		}
	}
	return d
}

// tellCosts says what a split shows, for each combination of the other levels
// (case R9).
func (s *Session) tellCosts(groups [][]cell, times [][]float64) error {
	if len(s.plan.Split) < 2 {
		return nil
	}
	type series struct {
		first  *cell
		points []point
	}
	byOthers := map[string]*series{}
	var order []string
	for i, g := range groups {
		c, times := &g[0], slices.Sorted(slices.Values(times[i]))
		if len(times) == 0 {
			continue
		}
		key := c.otherLevels()
		if byOthers[key] == nil {
			byOthers[key] = &series{first: c}
			order = append(order, key)
		}
		n := len(times)
		byOthers[key].points = append(byOthers[key].points, point{
			docs:    float64(c.shape.docs),
			bytes:   float64(c.Payload),
			seconds: (times[(n-1)/2] + times[n/2]) / 2,
		})
	}
	for _, key := range order {
		fitted, err := fitCost(byOthers[key].points)
		if err != nil {
			continue // too few cells had a good sample: their errors say more
		}
		if err := s.event(byOthers[key].first, false, "%s: %v", key, fitted); err != nil {
			return err
		}
	}
	return nil
}

// otherLevels are a cell's levels but those that a split changes.
func (c cell) otherLevels() string {
	c.Levels = slices.Clone(c.Levels)
	for i := range c.Levels {
		switch c.Levels[i].Factor {
		case "docs", "doc_bytes", "attachment_bytes":
			c.Levels[i].Factor = ""
		}
	}
	rest := c.Levels[:0]
	for _, l := range c.Levels {
		if l.Factor != "" {
			rest = append(rest, l)
		}
	}
	c.Levels = rest
	return c.label()
}
