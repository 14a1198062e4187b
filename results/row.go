package results

import (
	"math"
	"slices"
)

// Row is one cell's summary. Times are in seconds, because the median of an
// even number of samples is no whole number of nanoseconds; a figure that was
// not measured or is not defined for so few samples is NaN.
type Row struct {
	Cell       Cell
	Server     string // URL
	Samples    int    // taken, without warm-ups
	Failed     int    // of them
	Verified   int    // of them: compared with what was sent, and right
	FirstError string

	Median, CILow, CIHigh, Min, Max, P95 float64

	Relative, RelativeLow, RelativeHigh float64 // median by the baseline's median

	// P is the probability of a difference from the baseline as large as
	// this if there were none (Mann-Whitney).
	P float64

	Growth float64 // of the median, from the next smaller number of matches

	run     *Run
	data    *cellData
	times   []float64 // of the successful samples, in seconds, sorted
	sorted  []point   // the same samples with their measures
	columns []Column
}

func newRow(d *cellData, run *Run, columns []Column) Row {
	r := Row{
		Cell: d.cell, Samples: d.samples, Failed: d.failed, Verified: d.verified,
		Relative: math.NaN(), RelativeLow: math.NaN(), RelativeHigh: math.NaN(),
		P: math.NaN(), Growth: math.NaN(),
		run: run, data: d, sorted: d.series.byTime(), columns: columns,
	}
	if i := d.cell.Server; i >= 0 && i < len(run.Servers) {
		r.Server = run.Servers[i].URL
	}
	switch {
	case d.failure != nil:
		r.FirstError = d.failure.Error
	case d.cell.Impossible != "":
		r.FirstError = "not possible: " + d.cell.Impossible
	}
	for _, p := range r.sorted {
		r.times = append(r.times, p.time.Seconds())
	}
	s := describe(r.times)
	r.Median, r.CILow, r.CIHigh, r.P95 = s.median, s.low, s.high, s.p95
	r.Min, r.Max = s.min, s.max
	if d.series.n > 0 {
		r.Min, r.Max = d.series.min.Seconds(), d.series.max.Seconds()
	}
	return r
}

// compare fills in how the row stands to its baseline.
func (r *Row) compare(base *Row) {
	switch {
	case base == nil || len(r.times) == 0:
	case base.Cell.ID == r.Cell.ID:
		r.Relative, r.RelativeLow, r.RelativeHigh, r.P = 1, 1, 1, 1
	default:
		r.Relative, r.RelativeLow, r.RelativeHigh = ratio(r.times, base.times)
		r.P = mannWhitney(r.times, base.times)
	}
}

// IsBaseline says whether the row is what others are compared with.
func (r *Row) IsBaseline() bool { return r.Cell.Baseline == r.Cell.ID }

// Level returns the row's level of a factor.
func (r *Row) Level(factor string) (Level, bool) {
	i := slices.IndexFunc(r.Cell.Levels, func(l Level) bool { return l.Factor == factor })
	if i < 0 {
		return Level{}, false
	}
	return r.Cell.Levels[i], true
}

// Value returns what a column shows: a string, a bool, a number, or nil if it
// was not measured.
func (r *Row) Value(column string) any {
	i := slices.IndexFunc(r.columns, func(c Column) bool { return c.Name == column })
	if i < 0 {
		return nil
	}
	return r.columns[i].value(r)
}

// number returns what a column shows if it is a number, else NaN.
func (r *Row) number(column string) float64 {
	if v, ok := r.Value(column).(float64); ok {
		return v
	}
	return math.NaN()
}

// InNoise says that the row's times cannot be told from the baseline's.
func (r *Row) InNoise() bool { return !(r.P < 1-confidence) }
