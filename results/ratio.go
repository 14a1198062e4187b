package results

import (
	"math"
)

// ratio compares two sorted samples of positive values: the ratio of their
// medians and a 95 % interval for it.
//
// The interval is Moses', on a scale of ratios: of all quotients of a value
// of a by a value of b it keeps those in the middle, as many as the
// distribution of the Mann-Whitney U leaves with 95 % certainty. It assumes
// that a and b have the same shape up to a factor, is exact for small samples
// (the smallest that have an interval are 4 and 4), and agrees with the
// Mann-Whitney test: it excludes 1 when p < 0.05, ties aside. Bootstrapping
// the medians was rejected: with 5 samples its intervals are far too narrow.
// Where the ratio of medians lies outside, which samples of different shape
// can bring about, the interval is widened to hold it. What is not defined is
// NaN.
func ratio(a, b []float64) (ratio, low, high float64) {
	low, high = math.NaN(), math.NaN()
	if len(a) == 0 || len(b) == 0 || b[0] <= 0 || a[0] <= 0 {
		return math.NaN(), low, high
	}
	ratio = median(a) / median(b)
	c := cutoff(len(a), len(b))
	if c < 0 {
		return ratio, low, high
	}
	pairs := int64(len(a)) * int64(len(b))
	low = min(ratio, quotient(a, b, c+1))
	high = max(ratio, quotient(a, b, pairs-c))
	return ratio, low, high
}

// cutoff returns the largest c with P(U <= c) <= 2.5 %, or -1 if there is
// none: U is the Mann-Whitney statistic of samples of n and m values from one
// distribution. Exact up to 50 values together, beyond that by the normal
// approximation.
func cutoff(n, m int) int64 {
	const tail = (1 - confidence) / 2
	if n+m > 50 {
		const z = 1.959963984540054 // the normal distribution's 97.5th percentile
		nm := float64(n) * float64(m)
		c := nm/2 - z*math.Sqrt(nm*float64(n+m+1)/12) - 0.5
		return int64(math.Max(-1, math.Floor(c)))
	}
	ways := uWays(n, m)
	var all float64
	for _, w := range ways {
		all += w
	}
	sum, c := 0.0, int64(-1)
	for u, w := range ways {
		if sum += w; sum/all > tail {
			break
		}
		c = int64(u)
	}
	return c
}

// uWays returns in how many ways n and m distinct values can be ordered so
// that U is 0, 1 … n·m: the coefficients of the Gaussian binomial, as the
// product of (1 - x^(m+i)) / (1 - x^i) for i = 1 … n. They are whole numbers
// below 2^53, and so exact, up to n+m = 50.
func uWays(n, m int) []float64 {
	ways := make([]float64, n*m+1)
	ways[0] = 1
	for i := 1; i <= n; i++ {
		for u := len(ways) - 1; u >= m+i; u-- {
			ways[u] -= ways[u-m-i]
		}
		for u := i; u < len(ways); u++ {
			ways[u] += ways[u-i]
		}
	}
	return ways
}

// quotient returns the k-th smallest (from 1) of all a[i]/b[j], without
// making them all: it halves the range of floating-point numbers, which as
// bit patterns of positive numbers are ordered like integers, and counts.
func quotient(a, b []float64, k int64) float64 {
	lo := math.Float64bits(a[0] / b[len(b)-1])
	hi := math.Float64bits(a[len(a)-1] / b[0])
	for lo < hi {
		mid := lo + (hi-lo)/2
		if countQuotients(a, b, math.Float64frombits(mid)) >= k {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return math.Float64frombits(lo)
}

// countQuotients returns how many a[i]/b[j] are at most limit.
func countQuotients(a, b []float64, limit float64) int64 {
	var n int64
	j := len(b) // b[j:] are large enough for a[i]
	for i := len(a) - 1; i >= 0; i-- {
		for j > 0 && a[i]/b[j-1] <= limit {
			j--
		}
		n += int64(len(b) - j)
	}
	return n
}
