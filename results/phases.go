package results

import "math"

// phaseColumns are the columns of a sample's phases, in order.
var phaseColumns = []struct{ column, head string }{
	{"connect_s", "connect"},
	{"wait_continue_s", "100-wait"},
	{"produce_s", "produce"},
	{"send_s", "send"},
	{"wait_s", "wait"},
	{"receive_s", "receive"},
}

// phaseRows are the rows of the largest size.
func phaseRows(rows []Row) []*Row {
	var largest float64
	var out []*Row
	for i := range rows {
		r := &rows[i]
		size := r.number("size_bytes")
		if len(r.times) == 0 || math.IsNaN(size) {
			continue
		}
		if size > largest {
			largest, out = size, nil
		}
		if size == largest {
			out = append(out, r)
		}
	}
	return out
}

// phaseGrid shows the phases of rows, each with its share of the median.
// Phases that no row has are left out.
func phaseGrid(rows []*Row, varied []string) *grid {
	g := &grid{columns: []gridColumn{{left: true}, {head: ""}, {head: "median"}}}
	fastest := math.NaN()
	for _, r := range rows {
		if math.IsNaN(fastest) || r.Median < fastest {
			fastest = r.Median
		}
	}
	u := unitFor(fastest)
	for _, r := range rows {
		g.rows = append(g.rows, []string{r.name(varied), u.name, u.in(r.Median)})
	}
	for _, p := range phaseColumns {
		any := false
		for _, r := range rows {
			any = any || r.number(p.column) > 0
		}
		if !any {
			continue
		}
		g.columns = append(g.columns, gridColumn{group: p.head, head: u.name}, gridColumn{group: p.head, head: "%"})
		for i, r := range rows {
			v := r.number(p.column)
			if math.IsNaN(v) {
				v = 0
			}
			g.rows[i] = append(g.rows[i], u.in(v), share(v, r.Median))
		}
	}
	return g
}
