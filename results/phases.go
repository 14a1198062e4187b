package results

import (
	"fmt"
	"math"
	"slices"
)

// phaseHeads names the columns of a sample's phases, in order, for tables.
var phaseHeads = []struct{ column, head string }{
	{"connect_s", "connect"},
	{"wait_continue_s", "wait_continue"},
	{"produce_s", "produce"},
	{"send_s", "send"},
	{"wait_s", "wait"},
	{"receive_s", "receive"},
}

// phaseRows are the rows of the largest size that has times.
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

// phaseSection shows where the time of the rows goes: each phase and its
// share of the median.
func phaseSection(rows []*Row, varied []string) section {
	varied = slices.DeleteFunc(slices.Clone(varied), func(f string) bool { return f == "size_bytes" })
	u := commonUnit(rows)
	name := func(i int) string { return rows[i].name(varied) }
	phases := phasesOf(rows, varied)
	empty := func() *grid { return &grid{rows: make([][]string, len(rows))} }

	s := section{
		title: "Where the time goes at " + rows[0].levelText("size_bytes") + ": phases of the median sample, in " + u.name,
		wide:  empty(), lead: 2,
		legend: fmt.Sprintf("phases that take less than %.0f %% everywhere are left out", 100*phaseShare),
	}
	s.wide.add(gridColumn{head: "method", left: true}, name)
	s.wide.add(gridColumn{head: "time"}, func(i int) string { return u.in(rows[i].Median) })
	for _, p := range phases {
		s.wide.add(gridColumn{head: p.head}, func(i int) string {
			v := rows[i].phase(p.column)
			return fmt.Sprintf("%s %4s", u.in(v), share(v, rows[i].Median))
		})
	}
	s.dense = func(strong func(string) string) *grid {
		g := empty()
		g.add(gridColumn{head: "method", left: true}, name)
		g.add(gridColumn{head: "time"}, func(i int) string { return strong(u.in(rows[i].Median)) })
		for _, p := range phases {
			g.add(gridColumn{head: p.head}, func(i int) string {
				v := rows[i].phase(p.column)
				return u.in(v) + " (" + share(v, rows[i].Median) + ")"
			})
		}
		return g
	}
	return s
}

// phaseShare is the part of a median from which on a phase is worth a column.
const phaseShare = 0.03

// phasesOf lists the phases that are worth a column: those that take a share
// of some row, and the wait for 100 Continue where it is what was asked about.
func phasesOf(rows []*Row, varied []string) []struct{ column, head string } {
	return slices.DeleteFunc(slices.Clone(phaseHeads), func(p struct{ column, head string }) bool {
		if p.column == "wait_continue_s" && slices.Contains(varied, "expect") {
			return false
		}
		return !slices.ContainsFunc(rows, func(r *Row) bool { return r.phase(p.column) >= phaseShare*r.Median && r.phase(p.column) > 0 })
	})
}

// phase returns the seconds of a phase, 0 if it was not measured.
func (r *Row) phase(column string) float64 {
	if v := r.number(column); !math.IsNaN(v) {
		return v
	}
	return 0
}
