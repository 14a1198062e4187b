package results

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// grid is a table of text before it is laid out.
type grid struct {
	columns []gridColumn
	rows    [][]string
}

// gridColumn is a column of a grid.
type gridColumn struct {
	group string // neighbours of one group share a heading above theirs
	head  string
	left  bool // aligned left; figures are aligned right
}

// span is the columns [from, to) that share a group.
type span struct{ from, to int }

// add appends a column and its cell of every row.
func (g *grid) add(c gridColumn, cell func(row int) string) {
	g.columns = append(g.columns, c)
	for i := range g.rows {
		g.rows[i] = append(g.rows[i], cell(i))
	}
}

// groups returns the spans of columns that share a group; a column without
// one is a span of its own.
func (g *grid) groups() []span {
	var spans []span
	for i, c := range g.columns {
		if i == 0 || c.group == "" || c.group != g.columns[i-1].group {
			spans = append(spans, span{i, i})
		}
		spans[len(spans)-1].to = i + 1
	}
	return spans
}

// gap returns the blanks before column i: the wider, the less it belongs to
// the one before.
func (g *grid) gap(i int) string {
	switch a, b := g.columns[max(0, i-1)].group, g.columns[i].group; {
	case i == 0:
		return ""
	case a == b && a != "":
		return " "
	}
	return "  "
}

// widths returns the width of every column in characters. The last column of
// a group is as wide as the group's heading needs.
func (g *grid) widths() []int {
	w := make([]int, len(g.columns))
	for i, c := range g.columns {
		w[i] = utf8.RuneCountInString(c.head)
		for _, row := range g.rows {
			w[i] = max(w[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, s := range g.groups() {
		need := utf8.RuneCountInString(g.columns[s.from].group) - g.width(s, w)
		w[s.to-1] += max(0, need)
	}
	return w
}

// width returns that of a span in characters, given those of the columns.
func (g *grid) width(s span, w []int) int {
	n := 0
	for i := s.from; i < s.to; i++ {
		if i > s.from {
			n += len(g.gap(i))
		}
		n += w[i]
	}
	return n
}

// fit cuts the grid between groups into as many as it takes for lines of
// width characters. Each starts with the first lead columns and has at least
// one group more.
func (g *grid) fit(width, lead int) []*grid {
	part := g.only(span{0, lead})
	full := part
	var parts []*grid
	for _, s := range g.groups() {
		if s.from < lead {
			continue
		}
		wider := full.with(g.only(s))
		if full != part && wider.width(span{0, len(wider.columns)}, wider.widths()) > width {
			parts = append(parts, full)
			wider = part.with(g.only(s))
		}
		full = wider
	}
	return append(parts, full)
}

// only returns the columns of a span.
func (g *grid) only(s span) *grid {
	part := &grid{columns: g.columns[s.from:s.to]}
	for _, row := range g.rows {
		part.rows = append(part.rows, row[s.from:s.to])
	}
	return part
}

// with returns the grid and another one to the right of it.
func (g *grid) with(right *grid) *grid {
	both := &grid{columns: slices.Concat(g.columns, right.columns)}
	for i, row := range g.rows {
		both.rows = append(both.rows, slices.Concat(row, right.rows[i]))
	}
	return both
}

// lines lays the grid out: the groups' headings if there are any, the
// columns' headings, the rows.
func (g *grid) lines() []string {
	w := g.widths()
	heads := make([]string, len(g.columns))
	grouped := false
	for i, c := range g.columns {
		heads[i] = c.head
		grouped = grouped || c.group != ""
	}
	var lines []string
	if grouped {
		lines = append(lines, g.groupLine(w))
	}
	for _, row := range slices.Concat([][]string{heads}, g.rows) {
		var line strings.Builder
		for i, cell := range row {
			width := w[i]
			if g.columns[i].left {
				width = -width
			}
			fmt.Fprintf(&line, "%s%*s", g.gap(i), width, cell)
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}

// groupLine is the groups' headings, each with a rule over its columns.
func (g *grid) groupLine(w []int) string {
	var line strings.Builder
	for _, s := range g.groups() {
		head, width := g.columns[s.from].group, g.width(s, w)
		if fill := width - utf8.RuneCountInString(head) - 1; head != "" && fill > 0 {
			head += " " + strings.Repeat("─", fill)
		}
		fmt.Fprintf(&line, "%s%-*s", g.gap(s.from), width, head)
	}
	return strings.TrimRight(line.String(), " ")
}
