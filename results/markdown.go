package results

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// printMarkdown prints the page for an issue on GitHub: the header folded
// away, tables with a column for each method, warnings as an alert
// (GitHub Flavored Markdown).
func printMarkdown(w io.Writer, s *Summary, _ Options) error {
	p := newPage(s)
	var b bytes.Buffer
	fmt.Fprintf(&b, "### %s\n\n<details><summary>%s</summary>\n\n", escape(p.title), html.EscapeString(oneLine(subtitle(s))))
	for _, l := range slices.Concat(p.head, p.details) {
		writeHeadLine(&b, l)
	}
	fmt.Fprint(&b, "\n</details>\n")
	for _, sec := range p.sections {
		if sec.title != "" {
			fmt.Fprintf(&b, "\n**%s**\n", escape(sec.title))
		}
		writeTable(&b, sec.dense(strong))
		if sec.legend != "" {
			fmt.Fprintf(&b, "\n<sub>%s</sub>\n", escape(sec.legend))
		}
		for _, note := range sec.notes {
			fmt.Fprintf(&b, "\n%s\n", escape(note))
		}
	}
	if len(p.warnings) > 0 {
		fmt.Fprint(&b, "\n> [!WARNING]\n")
	}
	for _, warning := range p.warnings {
		fmt.Fprintf(&b, "> - %s\n", escape(warning.Text))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeHeadLine prints what is to be copied exactly as code; a line without a
// name continues the one before.
func writeHeadLine(b *bytes.Buffer, l headLine) {
	text := escape(l.text)
	if l.code {
		text = "`" + strings.ReplaceAll(l.text, "`", "'") + "`"
	}
	if l.name == "" {
		fmt.Fprintf(b, "  %s\n", text)
		return
	}
	fmt.Fprintf(b, "- **%s:** %s\n", l.name, text)
}

func writeTable(b *bytes.Buffer, g *grid) {
	width := make([]int, len(g.columns))
	rows := [][]string{make([]string, len(g.columns))}
	for i, c := range g.columns {
		rows[0][i] = escape(c.head)
	}
	for _, row := range g.rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			var lines []string
			for line := range strings.SplitSeq(cell, "\n") {
				lines = append(lines, bold.Replace(escape(line)))
			}
			cells[i] = strings.Join(lines, "<br>")
		}
		rows = append(rows, cells)
	}
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], 3, utf8.RuneCountInString(cell))
		}
	}
	b.WriteByte('\n')
	for n, row := range rows {
		for i, cell := range row {
			w := width[i]
			if g.columns[i].left {
				w = -w
			}
			fmt.Fprintf(b, "| %*s ", w, cell)
		}
		b.WriteString("|\n")
		if n > 0 {
			continue
		}
		for i, c := range g.columns {
			rule := strings.Repeat("-", width[i]) + ":"
			if c.left {
				rule = ":" + rule[:len(rule)-1]
			}
			fmt.Fprintf(b, "| %s", rule)
		}
		b.WriteString("|\n")
	}
}

// strong marks what writeTable prints in bold, with characters of the
// private use area that escape leaves alone.
func strong(s string) string { return "\ue000" + s + "\ue001" }

var bold = strings.NewReplacer("\ue000", "**", "\ue001", "**")

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "<", "&lt;", "*", `\*`, "`", "\\`", "[", `\[`, "~", `\~`,
)

// openingUnderscore is one that could start emphasis; those inside a word
// cannot.
var openingUnderscore = regexp.MustCompile(`(^|[^\pL\pN])_`)

// escape lets text stand for itself, on one line.
func escape(s string) string {
	return openingUnderscore.ReplaceAllString(markdownEscapes.Replace(oneLine(s)), `${1}\_`)
}
