package results

import (
	"math"

	"golang.org/x/perf/benchmath"
)

// confidence of every interval, and 1 - the level of every test.
const confidence = 0.95

// stats describes the times of a cell, in seconds. What is not defined for so
// few samples is NaN.
type stats struct {
	median, low, high float64 // low and high bound the 95 % interval of the median
	min, max, p95     float64
}

// describe summarises sorted values. The interval is that of order
// statistics, which assumes nothing of the distribution; fewer than 6 values
// have none, because even their whole range holds the true median with less
// than 95 % certainty (1 - 2·0.5⁵ = 93.75 %).
func describe(sorted []float64) stats {
	nan := math.NaN()
	s := stats{nan, nan, nan, nan, nan, nan}
	n := len(sorted)
	if n == 0 {
		return s
	}
	s.min, s.max = sorted[0], sorted[n-1]
	s.median = median(sorted)
	s.p95 = percentile(sorted, 95)
	ci := benchmath.AssumeNothing.Summary(sampleOf(sorted), confidence)
	if !math.IsInf(ci.Lo, 0) && !math.IsInf(ci.Hi, 0) {
		s.low, s.high = ci.Lo, ci.Hi
	}
	return s
}

func sampleOf(sorted []float64) *benchmath.Sample {
	return &benchmath.Sample{Values: sorted, Thresholds: &benchmath.DefaultThresholds}
}

// median of sorted values: the middle one or the mean of the two middle ones.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// percentile is by nearest rank: the smallest value that at least p of 100
// values do not exceed. It is always a value that was measured; the 95th of
// fewer than 20 is their maximum.
func percentile(sorted []float64, p int) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	rank := (n*p + 99) / 100
	return sorted[rank-1]
}

// mannWhitney returns the two-sided p of both samples coming from one
// distribution, 1 where they cannot be told apart, NaN where one is empty.
func mannWhitney(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN()
	}
	return benchmath.AssumeNothing.Compare(sampleOf(a), sampleOf(b)).P
}
