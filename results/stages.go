package results

import (
	"math"
	"slices"
)

// stages of couchgauge's own replicator, in the order of its pipeline. Each
// has a column for the time it was busy and two for what it waited for.
var stages = []string{"changes", "diff", "read", "write"}

// stageRows are the rows of which the stages were timed.
func stageRows(s *Summary) []*Row {
	return s.where(func(r *Row) bool {
		return slices.ContainsFunc(stages, func(stage string) bool { return !math.IsNaN(r.number(stage + "_s")) })
	})
}

// stageParts are the columns of a stage: what it did, and what it waited for.
var stageParts = []struct{ head, suffix string }{{"busy", "_s"}, {"in", "_wait_in_s"}, {"out", "_wait_out_s"}}

// stageUnit is the unit that suits the longest time of the rows' stages.
func stageUnit(rows []*Row) timeUnit {
	longest := 0.0
	for _, r := range rows {
		for _, stage := range stages {
			for _, part := range stageParts {
				if v := r.phase(stage + part.suffix); v > longest {
					longest = v
				}
			}
		}
	}
	return unitFor(longest)
}

// stageSection shows which side of a replication is slow.
func stageSection(rows []*Row, varied []string) section {
	unit := stageUnit(rows)
	build := func(separate bool) *grid {
		g := &grid{rows: make([][]string, len(rows))}
		g.add(gridColumn{head: "cell", left: true}, func(i int) string { return rows[i].name(varied) })
		for _, stage := range stages {
			for _, part := range stageParts {
				c := gridColumn{group: stage, head: part.head}
				if !separate {
					c.head = stage + " " + part.head
				}
				g.add(c, func(i int) string { return unit.coarse(rows[i].phase(stage + part.suffix)) })
			}
		}
		return g
	}
	return section{
		title:  "Stages of couchgauge's replicator in " + unit.name + ", all workers of a stage together",
		wide:   build(true),
		lead:   1,
		dense:  func(func(string) string) *grid { return build(false) },
		legend: "in: waiting for work; out: waiting for the next stage. The slow side is the one that is busy while the others wait",
	}
}
