package results

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// grid is a table of text, before it is laid out.
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

const (
	gap      = " "   // between columns of one group
	groupGap = "   " // between groups
)

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
		if g.columns[s.from].group == "" {
			continue
		}
		need := utf8.RuneCountInString(g.columns[s.from].group) - s.width(w)
		if need > 0 {
			w[s.to-1] += need
		}
	}
	return w
}

// span is the columns [from, to) of one group.
type span struct{ from, to int }

func (s span) width(w []int) int {
	n := len(gap) * (s.to - s.from - 1)
	for _, x := range w[s.from:s.to] {
		n += x
	}
	return n
}

func (g *grid) groups() []span {
	var spans []span
	for i, c := range g.columns {
		if i == 0 || c.group != g.columns[i-1].group {
			spans = append(spans, span{i, i})
		}
		spans[len(spans)-1].to = i + 1
	}
	return spans
}

// width returns the width of the whole grid in characters.
func (g *grid) width() int {
	w, n := g.widths(), 0
	for i, s := range g.groups() {
		if i > 0 {
			n += len(groupGap)
		}
		n += s.width(w)
	}
	return n
}

// lines lays the grid out: the groups' headings if there are any, the
// columns' headings, the rows.
func (g *grid) lines() []string {
	w, spans := g.widths(), g.groups()
	var lines []string
	if len(spans) > 1 || len(spans) == 1 && g.columns[0].group != "" {
		var heads []string
		for _, s := range spans {
			head := g.columns[s.from].group
			if fill := s.width(w) - utf8.RuneCountInString(head) - 1; head != "" && fill > 0 {
				head += " " + strings.Repeat("─", fill)
			}
			heads = append(heads, fmt.Sprintf("%-*s", s.width(w), head))
		}
		lines = append(lines, strings.TrimRight(strings.Join(heads, groupGap), " "))
	}
	heads := make([]string, len(g.columns))
	for i, c := range g.columns {
		heads[i] = c.head
	}
	for _, row := range append([][]string{heads}, g.rows...) {
		var groups []string
		for _, s := range spans {
			var cells []string
			for i := s.from; i < s.to; i++ {
				width := w[i]
				if g.columns[i].left {
					width = -width
				}
				cells = append(cells, fmt.Sprintf("%*s", width, row[i]))
			}
			groups = append(groups, strings.Join(cells, gap))
		}
		lines = append(lines, strings.TrimRight(strings.Join(groups, groupGap), " "))
	}
	return lines
}

// wrap breaks text into lines of at most width characters at spaces, or after
// commas in long words such as JSON, or anywhere if there is no other way.
// All but the first line start with indent.
func wrap(text string, width int, indent string) []string {
	var lines []string
	line := ""
	room := func() int { return width - utf8.RuneCountInString(line) }
	for _, word := range pieces(text) {
		blank := strings.HasPrefix(word, " ")
		if utf8.RuneCountInString(word) > room() && strings.TrimSpace(line) != "" {
			lines = append(lines, line)
			line = indent
			if blank {
				word = word[1:]
			}
		}
		for utf8.RuneCountInString(word) > room() {
			runes := []rune(word)
			cut := max(1, room())
			lines = append(lines, line+string(runes[:cut]))
			word, line = string(runes[cut:]), indent
		}
		line += word
	}
	return append(lines, line)
}

// pieces cuts text where a line may end: before spaces and after commas.
func pieces(text string) []string {
	var out []string
	start := 0
	for i, r := range text {
		switch {
		case r == ' ' && i > start:
			out = append(out, text[start:i])
			start = i
		case r == ',':
			out = append(out, text[start:i+1])
			start = i + 1
		}
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}
