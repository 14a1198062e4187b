package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A verdict is the answer to what a run was made for, in a line below its
// table: only what is above the noise counts.

// maxVerdicts is how many lines of the largest size have a verdict; beyond
// it the table is the answer.
const maxVerdicts = 2

// methodVerdicts say which method is fastest at the largest size, and by how
// much.
func (p *pivot) methodVerdicts() []string {
	largest := phaseRows(p.rows)
	var verdicts []string
	for _, l := range p.lines {
		rows := slices.DeleteFunc(slices.Clone(l.rows), func(r *Row) bool { return !slices.Contains(largest, r) })
		if len(rows) < 2 {
			continue
		}
		at := rows[0].levelText("size_bytes")
		if len(p.factors) > 1 {
			at += " " + rows[0].name(p.factors[1:])
		}
		verdicts = append(verdicts, fastest(rows, "method", at, func(r *Row) string { return r.levelText("method") }))
	}
	if len(verdicts) > maxVerdicts {
		return nil
	}
	return verdicts
}

// listVerdicts say which row is fastest of those that are compared with each
// other, and by how much. Where one of them has too few samples to tell, there
// is no verdict: it could be the fastest.
func listVerdicts(rows []Row, factors []string) []string {
	groups := map[int][]*Row{} // by baseline
	var order []int
	for i := range rows {
		r := &rows[i]
		if len(r.times) == 0 {
			continue
		}
		if len(groups[r.Cell.Baseline]) == 0 {
			order = append(order, r.Cell.Baseline)
		}
		groups[r.Cell.Baseline] = append(groups[r.Cell.Baseline], r)
	}
	order = slices.DeleteFunc(order, func(b int) bool {
		few := slices.ContainsFunc(groups[b], func(r *Row) bool { return len(r.times) < minInterval })
		return few || len(groups[b]) < 2
	})
	if len(order) > maxVerdicts {
		return nil
	}
	var verdicts []string
	for _, b := range order {
		group := groups[b]
		shared := slices.DeleteFunc(slices.Clone(factors), func(f string) bool {
			return slices.ContainsFunc(group, func(r *Row) bool { return r.levelText(f) != group[0].levelText(f) })
		})
		own := slices.DeleteFunc(slices.Clone(factors), func(f string) bool { return slices.Contains(shared, f) })
		at := ""
		if len(shared) > 0 {
			at = group[0].name(shared)
		}
		verdicts = append(verdicts, fastest(group, "row", at, func(r *Row) string { return r.name(own) }))
	}
	return verdicts
}

// fastest compares rows that differ by what name tells of them; kind is what
// they are, at what they share.
func fastest(rows []*Row, kind, at string, name func(*Row) string) string {
	first := highest(rows, func(r *Row) float64 { return -r.Median })
	best, slower, unknown := []string{name(first)}, []string(nil), []string(nil)
	for _, r := range rows {
		if r == first {
			continue
		}
		switch d := differ(r, first); {
		case !d.known:
			unknown = append(unknown, name(r)+" "+factor(d.ratio)+"?")
		case !d.real:
			best = append(best, name(r))
		default:
			slower = append(slower, name(r)+" takes "+d.text())
		}
	}
	text := join(" ", "fastest", label("at ", at)) + ": " + strings.Join(best, ", ")
	switch {
	case len(best) == len(rows):
		text = join(" ", label("at ", at), "no "+kind+" is faster than another above the noise") + ": " + strings.Join(best, ", ")
	case len(best) > 1:
		text += " (no difference above the noise between them)"
	}
	return join("; ", text, strings.Join(slower, ", "), label("too few samples to tell: ", strings.Join(unknown, ", ")))
}

// factorVerdicts say, method by method at the largest size, what the levels
// of each further factor make of the time: the slowest against the fastest.
func (p *pivot) factorVerdicts() []string {
	largest := phaseRows(p.rows)
	all := varied(p.rows)
	var verdicts []string
	for _, f := range p.factors[1:] {
		if f == "ordinal" || f == "server" { // findOrdinal tells of the first
			continue
		}
		others := slices.DeleteFunc(slices.Clone(all), func(o string) bool { return o == f })
		for _, method := range p.methods {
			var top difference
			for _, slow := range largest {
				for _, fast := range largest {
					if slow.levelText("method") != method || !sameBut(slow, fast, f) || slow.levelText(f) == fast.levelText(f) {
						continue
					}
					if d := differ(slow, fast); d.real && d.ratio > max(1, top.ratio) {
						top = d
					}
				}
			}
			if !top.real {
				continue
			}
			text := fmt.Sprintf("%s: %s=%s takes %s as %s", top.slow.name(others), f, top.slow.levelText(f), top.text(), top.fast.levelText(f))
			if more := float64(top.slow.Cell.Payload) / float64(top.fast.Cell.Payload); more > 1 && !math.IsInf(more, 0) {
				text += fmt.Sprintf(", for %.3gx the bytes", more)
			}
			verdicts = append(verdicts, text)
		}
	}
	return verdicts
}

// difference is how two rows compare.
type difference struct {
	slow, fast       *Row
	ratio, low, high float64
	known            bool // there are enough samples to tell
	real             bool // it is above the noise
}

func differ(slow, fast *Row) difference {
	d := difference{slow: slow, fast: fast}
	d.ratio, d.low, d.high = ratio(slow.times, fast.times)
	d.known = !math.IsNaN(d.low)
	d.real = d.known && mannWhitney(slow.times, fast.times) < 1-confidence
	return d
}

// text shows the ratio with its interval: "1.52x (1.40-1.70) as long".
func (d difference) text() string {
	return fmt.Sprintf("%sx (%s-%s) as long", digits(d.ratio), digits(d.low), digits(d.high))
}
