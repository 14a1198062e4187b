package results

import (
	"math"
	"slices"
	"strings"
)

// pivot is the table of uploads: methods across; down the sizes and whatever
// else varies.
type pivot struct {
	factors []string // that vary, other than the method
	methods []string
	lines   []pivotLine
}

// pivotLine is one line of it: the rows that differ in the method only.
type pivotLine struct {
	levels []string        // as given, by pivot.factors
	rows   map[string]*Row // by method
}

// newPivot arranges rows in the order of the cells: of the sizes' levels the
// line of the first cell, and so on.
func newPivot(rows []Row) *pivot {
	p := &pivot{factors: slices.DeleteFunc(varied(rows), func(f string) bool { return f == "method" })}
	if !slices.Contains(p.factors, "size_bytes") {
		p.factors = append([]string{"size_bytes"}, p.factors...)
	}
	at := map[string]int{}
	for i := range rows {
		r := &rows[i]
		method := r.levelText("method")
		if !slices.Contains(p.methods, method) {
			p.methods = append(p.methods, method)
		}
		var levels []string
		for _, f := range p.factors {
			levels = append(levels, r.levelText(f))
		}
		key := strings.Join(levels, "\x00")
		if _, ok := at[key]; !ok {
			at[key] = len(p.lines)
			p.lines = append(p.lines, pivotLine{levels, map[string]*Row{}})
		}
		p.lines[at[key]].rows[method] = r
	}
	return p
}

// unit returns the unit in which a line's fastest median is at least 1.
func (l *pivotLine) unit() timeUnit {
	fastest := math.NaN()
	for _, r := range l.rows {
		if math.IsNaN(fastest) || r.Median < fastest {
			fastest = r.Median
		}
	}
	return unitFor(fastest)
}

// grids lays the pivot out in as many grids as it takes for lines of width
// characters, each with as many methods as fit but at least one.
func (p *pivot) grids(width int) []*grid {
	var grids []*grid
	for from := 0; from < len(p.methods); {
		to := from + 1
		g := p.grid(p.methods[from:to])
		for to < len(p.methods) {
			wider := p.grid(p.methods[from : to+1])
			if wider.width() > width {
				break
			}
			g, to = wider, to+1
		}
		grids = append(grids, g)
		from = to
	}
	return grids
}

func (p *pivot) grid(methods []string) *grid {
	g := &grid{}
	for _, f := range p.factors {
		g.columns = append(g.columns, gridColumn{head: heading(f), left: f != "size_bytes"})
	}
	g.columns = append(g.columns, gridColumn{left: true})
	for _, m := range methods {
		g.columns = append(g.columns, gridColumn{group: m, head: "time"}, gridColumn{group: m, head: "±"})
		if !p.isBaseline(m) {
			g.columns = append(g.columns, gridColumn{group: m, head: "times"})
		}
		g.columns = append(g.columns, gridColumn{group: m, head: "MB/s"})
	}
	for _, l := range p.lines {
		u := l.unit()
		row := append(slices.Clone(l.levels), u.name)
		for _, m := range methods {
			r := l.rows[m]
			c := []string{"", "", "", ""}
			if r != nil {
				c = []string{r.medianText(u), r.spreadText(), r.timesText(), r.rateText()}
			}
			if p.isBaseline(m) {
				c = slices.Delete(c, 2, 3)
			}
			row = append(row, c...)
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// isBaseline says whether the method is what all its lines are compared with.
func (p *pivot) isBaseline(method string) bool {
	for _, l := range p.lines {
		if r := l.rows[method]; r != nil && !r.IsBaseline() {
			return false
		}
	}
	return true
}

// heading names a factor over its column.
func heading(factor string) string {
	return strings.TrimSuffix(factor, "_bytes")
}

// medianText shows the median in a unit, or that all samples failed.
func (r *Row) medianText(u timeUnit) string {
	switch {
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

// timesText shows how many times the baseline's median the row's is; "~" for
// a difference that is inside the noise; with "?" where there are too few
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

// InNoise says that the row's times cannot be told from the baseline's.
func (r *Row) InNoise() bool { return !(r.P < 1-confidence) }

func (r *Row) rateText() string {
	v := r.number("throughput_bytes_per_s")
	if math.IsNaN(v) {
		return ""
	}
	return rate(v)
}
