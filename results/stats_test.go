package results

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var nan = math.NaN()

// same compares figures, NaN being the same as NaN.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func TestDescribe(t *testing.T) {
	for _, tt := range []struct {
		name   string
		sorted []float64
		want   stats
	}{
		{"none", nil, stats{nan, nan, nan, nan, nan, nan}},
		{"one", []float64{3}, stats{median: 3, low: nan, high: nan, min: 3, max: 3, p95: 3}},
		{"two", []float64{3, 4}, stats{median: 3.5, low: nan, high: nan, min: 3, max: 4, p95: 4}},
		{"five have no interval", []float64{1, 2, 3, 4, 5}, stats{median: 3, low: nan, high: nan, min: 1, max: 5, p95: 5}},
		{"six have their range", []float64{1, 2, 3, 4, 5, 60}, stats{median: 3.5, low: 1, high: 60, min: 1, max: 60, p95: 60}},
		// P(2 <= Binomial(10, 1/2) <= 8) = 97.9 %: from the 2nd to the 9th.
		{"ten", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 100}, stats{median: 5.5, low: 2, high: 9, min: 1, max: 100, p95: 100}},
		// 95 % of 20 are 19: the 19th.
		{"twenty", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
			stats{median: 10.5, low: 6, high: 15, min: 1, max: 20, p95: 19}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := describe(tt.sorted)
			for _, f := range []struct {
				name      string
				got, want float64
			}{
				{"median", got.median, tt.want.median}, {"low", got.low, tt.want.low}, {"high", got.high, tt.want.high},
				{"min", got.min, tt.want.min}, {"max", got.max, tt.want.max}, {"p95", got.p95, tt.want.p95},
			} {
				if !same(f.got, f.want) {
					t.Errorf("%s = %v, want %v", f.name, f.got, f.want)
				}
			}
		})
	}
}

// sample returns n sorted log-normal values.
func sampleTimes(rnd *rand.Rand, n int, factor float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = factor * math.Exp(rnd.NormFloat64()/2)
	}
	slices.Sort(values)
	return values
}

func TestDescribeIsOrdered(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for n := 6; n < 120; n++ {
		s := describe(sampleTimes(rnd, n, 1))
		if !slices.IsSorted([]float64{s.min, s.low, s.median, s.high, s.max}) || s.p95 < s.median || s.p95 > s.max {
			t.Errorf("n = %d: out of order: %+v", n, s)
		}
	}
}

// The interval must hold the true median in at least 95 % of all cases.
func TestIntervalCovers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	const runs = 4000
	for _, n := range []int{6, 10, 25} {
		inside := 0
		for range runs {
			if s := describe(sampleTimes(rnd, n, 1)); s.low <= 1 && 1 <= s.high {
				inside++
			}
		}
		// Two standard errors of a share of 95 % over so many runs.
		if share := float64(inside) / runs; share < 0.95-0.007 {
			t.Errorf("n = %d: the interval held the median in %.1f %% of the cases", n, 100*share)
		}
	}
}

func TestMannWhitney(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b []float64
		want float64
	}{
		// Of the 70 orders of 4 and 4, 2 are as extreme.
		{"apart", []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70},
		// Of the 20 orders of 3 and 3, 2 are.
		{"too few", []float64{1, 2, 3}, []float64{5, 6, 7}, 0.1},
		{"all the same", []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}, 1},
		{"one", []float64{1}, []float64{2}, 1},
		{"none", nil, []float64{2}, nan},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := mannWhitney(tt.a, tt.b); !same(got, tt.want) && !(math.Abs(got-tt.want) < 1e-12) {
				t.Errorf("p = %v, want %v", got, tt.want)
			}
		})
	}
}
