package results

import (
	"slices"
	"strings"
)

// pivot is the table of uploads: methods across; down the sizes and whatever
// else varies.
type pivot struct {
	rows    []Row
	factors []string // the sizes, and others that vary, except the method
	methods []string
	lines   []pivotLine
}

// pivotLine is one line of it: the rows that differ in the method only.
type pivotLine struct {
	levels []string // as given, by pivot.factors
	rows   []*Row   // by pivot.methods; nil where there is none
	unit   timeUnit
}

// newPivot arranges rows. Lines and methods come in the order of the cells.
func newPivot(rows []Row) *pivot {
	p := &pivot{rows: rows, factors: varied(rows)}
	p.factors = slices.DeleteFunc(p.factors, func(f string) bool { return f == "method" || f == "size_bytes" })
	p.factors = slices.Insert(p.factors, 0, "size_bytes")
	for i := range rows {
		if m := rows[i].levelText("method"); !slices.Contains(p.methods, m) {
			p.methods = append(p.methods, m)
		}
	}
	at := map[string]int{}
	for i := range rows {
		r := &rows[i]
		var levels []string
		for _, f := range p.factors {
			levels = append(levels, r.levelText(f))
		}
		key := strings.Join(levels, "\x00")
		if _, ok := at[key]; !ok {
			at[key] = len(p.lines)
			p.lines = append(p.lines, pivotLine{levels: levels, rows: make([]*Row, len(p.methods))})
		}
		p.lines[at[key]].rows[slices.Index(p.methods, r.levelText("method"))] = r
	}
	for i := range p.lines {
		l := &p.lines[i]
		l.unit = commonUnit(slices.DeleteFunc(slices.Clone(l.rows), func(r *Row) bool { return r == nil }))
	}
	return p
}

func (p *pivot) section() section {
	s := section{lead: len(p.factors) + 1, legend: legend(p.rows, p.baseline())}
	s.wide = p.names()
	s.wide.add(gridColumn{left: true}, func(i int) string { return p.lines[i].unit.name })
	rates := false
	for m, method := range p.methods {
		cell := func(text func(r *Row, u timeUnit) string) func(int) string {
			return func(i int) string {
				if r := p.lines[i].rows[m]; r != nil {
					return text(r, p.lines[i].unit)
				}
				return ""
			}
		}
		s.wide.add(gridColumn{group: method, head: "time"}, cell((*Row).medianText))
		s.wide.add(gridColumn{group: method, head: "±"}, cell(func(r *Row, _ timeUnit) string { return r.spreadText() }))
		if !p.isBaseline(m) {
			s.wide.add(gridColumn{group: method, head: "times"}, cell(func(r *Row, _ timeUnit) string { return r.timesText() }))
		}
		if p.hasRates(m) {
			s.wide.add(gridColumn{group: method, head: "MB/s"}, cell(func(r *Row, _ timeUnit) string { return r.rateText("throughput_bytes_per_s") }))
			rates = true
		}
	}
	if rates {
		s.legend += "; MB/s: payload"
	}
	s.dense = p.dense
	s.notes = slices.Concat(p.methodVerdicts(), p.factorVerdicts())
	return s
}

// names is a grid of the lines' levels.
func (p *pivot) names() *grid {
	g := &grid{rows: make([][]string, len(p.lines))}
	for f, name := range p.factors {
		c := gridColumn{head: heading(name), left: !numeric(p.rows, name)}
		g.add(c, func(i int) string { return p.lines[i].levels[f] })
	}
	return g
}

// dense has one column for each method.
func (p *pivot) dense(strong func(string) string) *grid {
	g := p.names()
	for m, method := range p.methods {
		g.add(gridColumn{head: method}, func(i int) string {
			r := p.lines[i].rows[m]
			if r == nil {
				return ""
			}
			times := r.timesText()
			if r.IsBaseline() {
				times = ""
			}
			return r.denseText(p.lines[i].unit, strong, times, suffix(r.rateText("throughput_bytes_per_s"), " MB/s"))
		})
	}
	return g
}

// hasRates says whether a method moved bytes in any line.
func (p *pivot) hasRates(method int) bool {
	return slices.ContainsFunc(p.lines, func(l pivotLine) bool {
		return l.rows[method] != nil && l.rows[method].rateText("throughput_bytes_per_s") != ""
	})
}

// isBaseline says whether a method is what all its lines are compared with.
func (p *pivot) isBaseline(method int) bool {
	return !slices.ContainsFunc(p.lines, func(l pivotLine) bool {
		return l.rows[method] != nil && !l.rows[method].IsBaseline()
	})
}

// baseline names the method that the others are compared with.
func (p *pivot) baseline() string {
	for m, method := range p.methods {
		if p.isBaseline(m) {
			return method
		}
	}
	return "the baseline"
}
