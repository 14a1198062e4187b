package results

import (
	"fmt"
	"math"
	"strconv"
)

// timeUnit is a unit that times are shown in.
type timeUnit struct {
	name    string
	seconds float64
}

var timeUnits = []timeUnit{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}}

// unitFor returns the largest unit of which v seconds are at least one.
func unitFor(v float64) timeUnit {
	for _, u := range timeUnits {
		if v >= u.seconds {
			return u
		}
	}
	return timeUnits[1]
}

// in shows seconds in the unit, without its name: "1.23".
func (u timeUnit) in(seconds float64) string { return digits(seconds / u.seconds) }

// coarse is in for values beside much larger ones: "<0.01" is as good as a
// smaller number.
func (u timeUnit) coarse(seconds float64) string {
	if v := seconds / u.seconds; v > 0 && v < 0.01 {
		return "<0.01"
	}
	return u.in(seconds)
}

// duration shows seconds with their unit: "1.23 ms".
func duration(seconds float64) string {
	u := unitFor(seconds)
	return u.in(seconds) + " " + u.name
}

// digits shows a number of at least 0 with three digits where it has a
// fraction: "1.23", "12.3", "123", "12345"; small ones with two: "0.012".
func digits(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "?"
	case v == 0:
		return "0"
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v >= 0.0001:
		places := 1 - int(math.Floor(math.Log10(v)))
		return strconv.FormatFloat(v, 'f', places, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// spread shows how far an interval reaches below and above the median:
// "-4+12%", "±4%" where both are the same, "±∞" where there is none. Its ends
// in full were the alternative; with three methods they do not fit a line.
func spread(median, low, high float64) string {
	if math.IsNaN(low) || math.IsNaN(high) || !(median > 0) {
		return "±∞"
	}
	below := strconv.FormatFloat(100*(1-low/median), 'f', 0, 64)
	above := strconv.FormatFloat(100*(high/median-1), 'f', 0, 64)
	if below == above {
		return "±" + above + "%"
	}
	return "-" + below + "+" + above + "%"
}

// halfWidth is the larger distance of an interval's ends from the median, as
// a share of the median. NaN where there is no interval.
func halfWidth(median, low, high float64) float64 {
	return max(high/median-1, 1-low/median)
}

// factor shows a ratio: "2.07x", "68x".
func factor(v float64) string {
	places := 2
	if v >= 9.995 {
		places = 0
	}
	return strconv.FormatFloat(v, 'f', places, 64) + "x"
}

// wholeText shows a count: "0", "1000000".
func wholeText(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// rate shows bytes per second in MB/s, without its name: "27.6", "0.05".
func rate(v float64) string {
	switch {
	case v < 1e4:
		return "<.01"
	case v < 0.995e6:
		return strconv.FormatFloat(v/1e6, 'f', 2, 64)
	}
	return digits(v / 1e6)
}

// share shows a part of a whole: "56%".
func share(part, whole float64) string {
	if !(whole > 0) {
		return "?"
	}
	return fmt.Sprintf("%.0f%%", 100*part/whole)
}

// bytesText shows a number of bytes in decimal units, as throughput is:
// "262 kB".
func bytesText(n float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if n >= u.size {
			return digits(n/u.size) + " " + u.name
		}
	}
	return digits(n) + " B"
}
