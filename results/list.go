package results

import (
	"math"
	"slices"
	"strings"
)

// listFigures are the columns that a list shows beside the times: always, or
// only if one of its rows has something other than 0 there.
var listFigures = []struct {
	column, head string
	always       bool
	text         func(float64) string
}{
	{"startup_s", "startup", true, duration},
	{"docs_per_s", "docs/s", true, digits},
	{"bytes_per_s", "MB/s", true, rate},
	{"lag_p50_s", "lag p50", true, duration},
	{"lag_p99_s", "lag p99", true, duration},
	{"lag_max_s", "lag max", true, duration},
	{"bulk_get_docs", "bulk_get", false, digits},
	{"docs_per_bulk_docs", "docs/bulk", true, digits},
	{"target_growth_bytes", "target +", true, bytesText},
	{"restarts", "restarts", false, digits},
	{"doc_write_failures", "failures", false, digits},
	{"matches", "matches", false, digits},
	{"counted", "counted", true, digits},
	{"growth", "growth", true, func(v float64) string { return digits(100*v) + "%" }},
	{"failed", "failed", false, digits},
}

// listSection is the general table: a line for each row, what varies first.
func listSection(s *Summary) section {
	factors := varied(s.Rows)
	if len(factors) == 0 {
		factors = slices.DeleteFunc([]string{"driver", "topology", "way"}, func(f string) bool {
			_, ok := s.Rows[0].Level(f)
			return !ok
		})
	}
	names := func() *grid {
		g := &grid{rows: make([][]string, len(s.Rows))}
		for _, f := range factors {
			g.add(gridColumn{head: heading(f), left: !numeric(s.Rows, f)}, func(i int) string { return s.Rows[i].levelText(f) })
		}
		return g
	}
	unit := func(i int) timeUnit { return commonUnit([]*Row{&s.Rows[i]}) }

	sec := section{wide: names(), lead: len(factors), legend: legend(s.Rows, "the baseline (1x)")}
	sec.wide.add(gridColumn{group: "median", head: "time"}, func(i int) string {
		if len(s.Rows[i].times) == 0 {
			return s.Rows[i].medianText(timeUnits[0])
		}
		return s.Rows[i].medianText(unit(i)) + " " + unit(i).name
	})
	sec.wide.add(gridColumn{group: "median", head: "±"}, func(i int) string { return s.Rows[i].spreadText() })
	sec.wide.add(gridColumn{group: "median", head: "times"}, func(i int) string { return s.Rows[i].timesText() })
	if slices.ContainsFunc(s.Rows, func(r Row) bool { return r.timesRange() != "" }) {
		sec.wide.add(gridColumn{group: "median", head: "from-to"}, func(i int) string { return s.Rows[i].timesRange() })
		sec.legend += "; from-to: its 95 % interval"
	}
	addFigures(sec.wide, s.Rows, factors)
	sec.dense = func(strong func(string) string) *grid {
		g := names()
		g.add(gridColumn{head: "time"}, func(i int) string { return s.Rows[i].denseText(unit(i), strong) })
		g.add(gridColumn{head: "times"}, func(i int) string {
			return strings.TrimSuffix(s.Rows[i].timesText()+"\n"+s.Rows[i].timesRange(), "\n")
		})
		addFigures(g, s.Rows, factors)
		return g
	}
	return sec
}

// addFigures adds the columns of listFigures that the rows have and that are
// no factor.
func addFigures(g *grid, rows []Row, factors []string) {
	for _, f := range listFigures {
		has := slices.ContainsFunc(rows, func(r Row) bool {
			v := r.number(f.column)
			return !math.IsNaN(v) && (f.always || v != 0)
		})
		if !has || slices.Contains(factors, f.column) {
			continue
		}
		g.add(gridColumn{head: f.head}, func(i int) string {
			v := rows[i].number(f.column)
			if math.IsNaN(v) {
				return ""
			}
			return f.text(v)
		})
	}
}
