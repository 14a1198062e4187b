package results

import (
	"math"
	"strings"
)

// The texts of a row's figures, as tables show them.

// medianText shows the median in a unit, or that there is none.
func (r *Row) medianText(u timeUnit) string {
	switch {
	case r.Cell.Impossible != "":
		return "n/a"
	case r.Samples == 0:
		return "-"
	case len(r.times) == 0:
		return "failed"
	}
	return u.in(r.Median)
}

func (r *Row) spreadText() string {
	if len(r.times) == 0 {
		return ""
	}
	return spread(r.Median, r.CILow, r.CIHigh)
}

// timesText shows how many times the baseline's median the row's is: "~" for
// a difference that is inside the noise, with "?" where there are too few
// samples to tell.
func (r *Row) timesText() string {
	switch {
	case math.IsNaN(r.Relative):
		return ""
	case r.IsBaseline():
		return "1x"
	case math.IsNaN(r.RelativeLow):
		return factor(r.Relative) + "?"
	case r.InNoise():
		return "~"
	}
	return factor(r.Relative)
}

// timesRange shows the interval of timesText, "" where there is none.
func (r *Row) timesRange() string {
	if r.IsBaseline() || math.IsNaN(r.RelativeLow) {
		return ""
	}
	return strings.TrimSuffix(factor(r.RelativeLow), "x") + "-" + factor(r.RelativeHigh)
}

// denseText shows the row in one cell: the median, in bold, with its
// interval, and below it what is told by the other figures.
func (r *Row) denseText(u timeUnit, strong func(string) string, more ...string) string {
	first := r.medianText(u)
	if len(r.times) > 0 {
		first = strong(first+" "+u.name) + " " + r.spreadText()
	}
	return strings.TrimSuffix(first+"\n"+join(" · ", more...), "\n")
}

// rateText shows bytes per second in MB/s.
func (r *Row) rateText(column string) string {
	v := r.number(column)
	if math.IsNaN(v) {
		return ""
	}
	return rate(v)
}

// commonUnit returns the unit in which the fastest median is at least 1.
func commonUnit(rows []*Row) timeUnit {
	fastest := math.NaN()
	for _, r := range rows {
		if math.IsNaN(fastest) || r.Median < fastest {
			fastest = r.Median
		}
	}
	return unitFor(fastest)
}

// legend explains the signs that the rows' cells use.
func legend(rows []Row, base string) string {
	parts := []string{"time: median, and how far its 95 % interval reaches below and above"}
	few, relative, noise := false, false, false
	for i := range rows {
		r := &rows[i]
		text := r.timesText()
		few = few || len(r.times) > 0 && math.IsNaN(r.CILow) || strings.HasSuffix(text, "?")
		relative = relative || text != "" && !r.IsBaseline()
		noise = noise || text == "~"
	}
	if relative {
		parts = append(parts, "x: times as long as "+base+" takes")
	}
	if noise {
		parts = append(parts, "~: no difference above the noise")
	}
	if few {
		parts = append(parts, "∞ and ?: too few samples to tell")
	}
	return strings.Join(parts, "; ")
}
