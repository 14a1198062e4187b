package results

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// printText prints header, tables and warnings for a terminal, in plain
// characters.
func printText(w io.Writer, s *Summary, o Options) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "couchgauge %s\n", s.Run.Command)
	const margin = 11
	for _, l := range header(s) {
		for _, line := range wrap(fmt.Sprintf("%-*s", margin, l.name)+l.text, o.Width, strings.Repeat(" ", margin)) {
			fmt.Fprintln(&b, line)
		}
	}
	if s.Run.Command == upload {
		textUpload(&b, s, o)
	}
	textWarnings(&b, s, o)
	_, err := w.Write(b.Bytes())
	return err
}

func textUpload(b *bytes.Buffer, s *Summary, o Options) {
	for _, g := range newPivot(s.Rows).grids(o.Width) {
		textGrid(b, g)
	}
	rows := phaseRows(s.Rows)
	if len(rows) == 0 {
		return
	}
	other := slices.DeleteFunc(varied(s.Rows), func(f string) bool { return f == "size_bytes" })
	fmt.Fprintf(b, "\nPhases of the median sample at %s\n", rows[0].levelText("size_bytes"))
	textGrid(b, phaseGrid(rows, other))
}

func textGrid(b *bytes.Buffer, g *grid) {
	b.WriteByte('\n')
	for _, line := range g.lines() {
		fmt.Fprintln(b, line)
	}
}

func textWarnings(b *bytes.Buffer, s *Summary, o Options) {
	if len(s.Warnings) == 0 {
		return
	}
	b.WriteByte('\n')
	for _, warning := range s.Warnings {
		for _, line := range wrap("! "+warning.Text, o.Width, "  ") {
			fmt.Fprintln(b, line)
		}
	}
}
