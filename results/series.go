package results

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// keep is the number of samples of a cell that are held exactly. Beyond it a
// uniform random choice of that many stands for all (reservoir sampling), so
// that memory is bounded and a median is still that of samples which were
// taken, with phases that belong to it. A histogram was the alternative: it
// would know the 99.9th percentile, which no column shows, and not the
// phases.
const keep = 10_000

// point is one sample that counts as a time.
type point struct {
	seq      int64 // order of arrival
	time     time.Duration
	measures []float64 // by series.names; NaN = not measured
}

// series holds the successful samples of one cell.
type series struct {
	names    []string // of the measures, in order of first appearance
	points   []point
	n        int64 // samples seen, kept or not
	min, max time.Duration
	rand     *rand.Rand
}

func newSeries(seed uint64) *series {
	return &series{rand: rand.New(rand.NewPCG(seed, keep))}
}

func (s *series) add(d time.Duration, measures map[string]float64) {
	if s.n == 0 || d < s.min {
		s.min = d
	}
	s.max = max(s.max, d)
	s.n++
	at := len(s.points)
	if at < keep {
		s.points = append(s.points, point{})
	} else if at = int(s.rand.Int64N(s.n)); at >= keep {
		return
	}
	s.points[at] = point{seq: s.n, time: d, measures: s.row(measures)}
}

// row lays measures out by s.names, which it extends.
func (s *series) row(measures map[string]float64) []float64 {
	for name := range measures {
		if !slices.Contains(s.names, name) {
			s.names = append(s.names, name)
		}
	}
	row := make([]float64, len(s.names))
	for i, name := range s.names {
		v, ok := measures[name]
		if !ok {
			v = math.NaN()
		}
		row[i] = v
	}
	return row
}

// byTime returns the kept points, fastest first.
func (s *series) byTime() []point {
	return slices.SortedFunc(slices.Values(s.points), func(a, b point) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.seq, b.seq))
	})
}

// byArrival returns the kept points in the order they were taken.
func (s *series) byArrival() []point {
	return slices.SortedFunc(slices.Values(s.points), func(a, b point) int { return cmp.Compare(a.seq, b.seq) })
}

// measure returns the named measure of a point, NaN if it has none.
func (s *series) measure(p point, name string) float64 {
	i := slices.Index(s.names, name)
	if i < 0 || i >= len(p.measures) {
		return math.NaN()
	}
	return p.measures[i]
}

// middle returns the named measure of the median sample: the middle one, or
// the mean of the two middle ones, where one that lacks the measure counts as
// zero. Phases taken this way add up to the median. NaN if neither has it.
func (s *series) middle(sorted []point, name string) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	a := s.measure(sorted[(len(sorted)-1)/2], name)
	b := s.measure(sorted[len(sorted)/2], name)
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return math.NaN()
	case math.IsNaN(a):
		return b / 2
	case math.IsNaN(b):
		return a / 2
	}
	return (a + b) / 2
}

// median returns the median of the named measure over the samples that have
// it, NaN if none has.
func (s *series) median(name string) float64 { return median(s.sorted(name)) }

// highest returns the highest of the named measure, NaN if no sample has it.
func (s *series) highest(name string) float64 { return percentile(s.sorted(name), 100) }

func (s *series) sorted(name string) []float64 {
	var values []float64
	for _, p := range s.points {
		if v := s.measure(p, name); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}
