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
	doc          string // for the legend; "" = the head says it
}{
	{"startup_s", "startup", true, duration, "from the job's start until the first write at the target was seen, reading included"},
	{"docs_per_s", "docs/s", true, digits, ""},
	{"bytes_per_s", "MB/s", true, rate, ""},
	{"lag_p50_s", "lag p50", true, duration, "from a write's planned time to its arrival at the target"},
	{"lag_p99_s", "lag p99", true, duration, ""},
	{"lag_max_s", "lag max", true, duration, ""},
	{"bulk_get_docs", "bulk_get", false, wholeText, "documents that came through _bulk_get"},
	{"docs_per_bulk_docs", "docs/bulk", true, digits, "documents in a _bulk_docs request to the target"},
	{"target_growth_bytes", "target +", true, bytesText, "growth of the target's file"},
	{"restarts", "restarts", false, wholeText, "how often a job was started again"},
	{"doc_write_failures", "failures", false, wholeText, "documents that the target refused"},
	{"matches", "matches", false, wholeText, ""},
	{"counted", "counted", true, wholeText, ""},
	{"growth", "growth", true, func(v float64) string { return digits(100*v) + "%" }, ""},
	{"failed", "failed", false, wholeText, "samples"},
}

// listSection is the general table: a line for each row, what varies first.
// Filling the sources is told below it.
func listSection(s *Summary) section {
	rows, fills := measured(s.Rows), fills(s.Rows)
	factors := varied(rows)
	if len(factors) == 0 {
		factors = slices.DeleteFunc([]string{"driver", "topology", "way"}, func(f string) bool {
			_, ok := rows[0].Level(f)
			return !ok
		})
	}
	names := func() *grid {
		g := &grid{rows: make([][]string, len(rows))}
		for _, f := range factors {
			g.add(gridColumn{head: heading(f), left: !numeric(rows, f)}, func(i int) string { return rows[i].levelText(f) })
		}
		return g
	}
	unit := func(i int) timeUnit { return commonUnit([]*Row{&rows[i]}) }

	sec := section{wide: names(), lead: len(factors), legend: legend(rows, "the baseline (1x)")}
	sec.wide.add(gridColumn{group: "median", head: "time"}, func(i int) string {
		if len(rows[i].times) == 0 {
			return rows[i].medianText(timeUnits[0])
		}
		return rows[i].medianText(unit(i)) + " " + unit(i).name
	})
	sec.wide.add(gridColumn{group: "median", head: "±"}, func(i int) string { return rows[i].spreadText() })
	compared := slices.ContainsFunc(rows, func(r Row) bool { return !r.IsBaseline() && r.timesText() != "" })
	if compared { // else each row would say 1x, as if it took as long as the others
		sec.wide.add(gridColumn{group: "median", head: "times"}, func(i int) string { return rows[i].timesText() })
	}
	if slices.ContainsFunc(rows, func(r Row) bool { return r.timesRange() != "" }) {
		sec.wide.add(gridColumn{group: "median", head: "from-to"}, func(i int) string { return rows[i].timesRange() })
		sec.legend += "; from-to: its 95 % interval"
	}
	sec.legend = join("; ", sec.legend, addFigures(sec.wide, rows, factors))
	sec.dense = func(strong func(string) string) *grid {
		g := names()
		g.add(gridColumn{head: "time"}, func(i int) string { return rows[i].denseText(unit(i), strong) })
		if compared {
			g.add(gridColumn{head: "times"}, func(i int) string {
				return strings.TrimSuffix(rows[i].timesText()+"\n"+rows[i].timesRange(), "\n")
			})
		}
		addFigures(g, rows, factors)
		return g
	}
	sec.notes = append(listVerdicts(rows, factors), fillNotes(fills)...)
	return sec
}

// addFigures adds the columns of listFigures that the rows have and that are
// no factor. It returns what their heads do not say.
func addFigures(g *grid, rows []Row, factors []string) (legend string) {
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
		legend = join("; ", legend, label(f.head+": ", f.doc))
	}
	return legend
}
