package results

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The critical values of U at the two-sided level of 5 %, from the tables
// that textbooks print; -1 where there is none.
func TestCutoff(t *testing.T) {
	for _, tt := range []struct {
		n, m int
		want int64
	}{
		{1, 1, -1}, {3, 3, -1}, {3, 4, -1}, {3, 5, 0}, {4, 4, 0}, {5, 5, 2}, {6, 6, 5}, {7, 7, 8}, {8, 8, 13},
		{5, 8, 6}, {9, 9, 17}, {10, 10, 23}, {15, 15, 64}, {20, 20, 127}, {12, 20, 69},
	} {
		if got := cutoff(tt.n, tt.m); got != tt.want {
			t.Errorf("cutoff(%d, %d) = %d, want %d", tt.n, tt.m, got, tt.want)
		}
		if got := cutoff(tt.m, tt.n); got != tt.want {
			t.Errorf("cutoff(%d, %d) = %d, want %d", tt.m, tt.n, got, tt.want)
		}
	}
}

func TestUWays(t *testing.T) {
	want := []float64{1, 1, 2, 3, 5, 5, 7, 7, 8, 7, 7, 5, 5, 3, 2, 1, 1}
	if got := uWays(4, 4); !slices.Equal(got, want) {
		t.Errorf("uWays(4, 4) = %v, want %v", got, want)
	}
	sum := 0.0
	for _, w := range uWays(25, 25) {
		sum += w
	}
	if sum != 126410606437752 { // 50 over 25
		t.Errorf("the ways of 25 and 25 add up to %.0f", sum)
	}
}

func TestCutoffIsContinuous(t *testing.T) {
	// Where the exact values end the approximation goes on.
	exact, next := cutoff(25, 25), cutoff(25, 26)
	if exact != 211 || next != 220 {
		t.Errorf("cutoff(25, 25) = %d, cutoff(25, 26) = %d", exact, next)
	}
}

func TestRatio(t *testing.T) {
	for _, tt := range []struct {
		name             string
		a, b             []float64
		ratio, low, high float64
	}{
		{"none", nil, []float64{1}, nan, nan, nan},
		{"one each", []float64{3}, []float64{2}, 1.5, nan, nan},
		{"three each", []float64{2, 4, 6}, []float64{1, 2, 4}, 2, nan, nan},
		// Four each: all 16 quotients but 0 at either end: 2/4 to 8/1.
		{"four each", []float64{2, 4, 6, 8}, []float64{1, 2, 3, 4}, 2, 0.5, 8},
		// Five each: all 25 but 2 at either end: 10/50 10/40 [10/30 … 50/30 …] 50/20 50/10
		{"five each, the same", []float64{10, 20, 30, 40, 50}, []float64{10, 20, 30, 40, 50}, 1, 1.0 / 3, 3},
		{"zero", []float64{0, 1}, []float64{1, 2}, nan, nan, nan},
		{"without spread", []float64{4, 4, 4, 4}, []float64{2, 2, 2, 2}, 2, 2, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, low, high := ratio(tt.a, tt.b)
			if !same(r, tt.ratio) || !same(low, tt.low) || !same(high, tt.high) {
				t.Errorf("ratio = %v from %v to %v, want %v from %v to %v", r, low, high, tt.ratio, tt.low, tt.high)
			}
		})
	}
}

func TestQuotientIsThatOfAllPairs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		a, b := sampleTimes(rnd, 1+rnd.IntN(12), 1), sampleTimes(rnd, 1+rnd.IntN(12), 3)
		var all []float64
		for _, x := range a {
			for _, y := range b {
				all = append(all, x/y)
			}
		}
		slices.Sort(all)
		for k, want := range all {
			if got := quotient(a, b, int64(k+1)); got != want {
				t.Fatalf("quotient %d of %v by %v = %v, want %v", k+1, a, b, got, want)
			}
		}
	}
}

// The interval holds the true factor in at least 95 % of all cases, and
// excludes 1 exactly when the test finds a difference.
func TestRatioIntervalCoversAndAgreesWithTheTest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	const runs = 2000
	for _, n := range []int{4, 5, 10, 40} {
		inside := 0
		for range runs {
			a, b := sampleTimes(rnd, n, 1.5), sampleTimes(rnd, n, 1)
			r, low, high := ratio(a, b)
			if low <= 1.5 && 1.5 <= high {
				inside++
			}
			if !(low <= r && r <= high) {
				t.Fatalf("n = %d: %v is not between %v and %v", n, r, low, high)
			}
			if n > 10 || r == low || r == high {
				continue
			}
			if p := mannWhitney(a, b); (p < 0.05) != (low > 1 || high < 1) {
				t.Fatalf("n = %d: p = %v, but the interval is %v to %v", n, p, low, high)
			}
		}
		if share := float64(inside) / runs; share < 0.95-0.01 {
			t.Errorf("n = %d: the interval held the factor in %.1f %% of the cases", n, 100*share)
		}
	}
}

func BenchmarkRatio(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	x, y := sampleTimes(rnd, keep, 2), sampleTimes(rnd, keep, 1)
	for b.Loop() {
		if r, _, _ := ratio(x, y); math.IsNaN(r) {
			b.Fatal("no ratio")
		}
	}
}
