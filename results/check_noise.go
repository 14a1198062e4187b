package results

import (
	"fmt"
	"math"
	"slices"
)

// minInterval is the number of samples below which a median has no 95 %
// interval.
const minInterval = 6

// findFewSamples counts the rows that have times, but no interval.
func findFewSamples(s *Summary) []string {
	rows := s.where(func(r *Row) bool { return !r.isFill() && len(r.times) > 0 && len(r.times) < minInterval })
	if len(rows) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %s came from fewer than %d samples, too few for a 95 %% interval (∞): use --samples %d or more before you rely on them",
		len(rows), plural(len(measured(s.Rows)), "row"), minInterval, minInterval)}
}

// wideInterval is the half width, as a share of the median, above which a
// time is too uncertain to compare with.
const wideInterval = 0.25

// findWide tells of rows that are known too vaguely.
func findWide(s *Summary) []string {
	width := func(r *Row) float64 { return halfWidth(r.Median, r.CILow, r.CIHigh) }
	rows := s.where(func(r *Row) bool { return !r.isFill() && width(r) > wideInterval })
	if len(rows) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: the interval is wide, up to %s of the median: comparisons with it are as uncertain: take more samples or quieten the machines",
		s.names(rows), highestSpread(rows, width))}
}

func highestSpread(rows []*Row, width func(*Row) float64) string {
	r := highest(rows, width)
	return spread(r.Median, r.CILow, r.CIHigh)
}

// A sample is an outlier if its modified z-score is beyond outlierScore
// (Iglewicz and Hoaglin, 1993) and it is off by a share of the median that
// anybody would notice.
const (
	outlierScore = 3.5
	outlierShare = 0.2
)

// findOutliers counts samples far from their cell's median. They are never
// removed.
func findOutliers(s *Summary) []string {
	count := func(r *Row) float64 { return float64(outliers(r.times)) }
	rows := s.where(func(r *Row) bool { return !r.isFill() && count(r) > 0 })
	if len(rows) == 0 {
		return nil
	}
	samples := 0
	for _, r := range measured(s.Rows) {
		samples += len(r.times)
	}
	worst := highest(rows, func(r *Row) float64 { return max(r.Max-r.Median, r.Median-r.Min) / r.Median })
	which, off := "slowest", worst.Max/worst.Median
	if worst.Median-worst.Min > worst.Max-worst.Median {
		which, off = "fastest", worst.Min/worst.Median
	}
	return []string{fmt.Sprintf("%.0f of %s are outliers (%s: %s, %s times its median): something else happened then; medians bear it, max_s and p95_s do not",
		total(rows, count), plural(samples, "sample"), which, s.names([]*Row{worst}), digits(off))}
}

// outliers counts values whose modified z-score is 0.6745·|x-median|/MAD.
// Fewer than 6 values, or values of which half are the same, have none.
func outliers(sorted []float64) int {
	mid := median(sorted)
	distances := make([]float64, len(sorted))
	for i, v := range sorted {
		distances[i] = math.Abs(v - mid)
	}
	slices.Sort(distances)
	mad := median(distances)
	if len(sorted) < minInterval || mad == 0 {
		return 0
	}
	n := 0
	for _, d := range distances {
		if 0.6745*d/mad > outlierScore && d > outlierShare*mid {
			n++
		}
	}
	return n
}

// Drift is told when it is large and all but certain.
const (
	driftP      = 0.001
	driftFactor = 1.1
)

// findDrift compares the first half of every cell's samples with the second,
// each sample divided by its cell's median and all cells together.
func findDrift(s *Summary) []string {
	var early, late []float64
	for i := range s.Rows {
		r := &s.Rows[i]
		if len(r.times) < minInterval || r.Median <= 0 {
			continue
		}
		for k, p := range r.data.series.byArrival() {
			v := p.time.Seconds() / r.Median
			if k < len(r.times)/2 {
				early = append(early, v)
			} else {
				late = append(late, v)
			}
		}
	}
	slices.Sort(early)
	slices.Sort(late)
	change := median(late) / median(early)
	if !(max(change, 1/change) >= driftFactor) || mannWhitney(early, late) >= driftP {
		return nil
	}
	return []string{fmt.Sprintf("times drifted: the second half of the samples took %s times as long as the first: something warmed up, filled up or throttled; warm up longer (--warmup) or run again",
		digits(change))}
}
