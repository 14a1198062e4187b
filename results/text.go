package results

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// margin is the width of the names in the header.
const margin = 12

// printText prints the page for a terminal: lines of at most the width asked
// for, but for the command, in plain characters.
func printText(w io.Writer, s *Summary, o Options) error {
	p := newPage(s)
	var b bytes.Buffer
	fmt.Fprintln(&b, p.title)
	writeHead(&b, p.head, o.Width)
	for _, sec := range p.sections {
		if sec.title != "" {
			fmt.Fprintln(&b)
			writeWrapped(&b, sec.title, o.Width, "")
		}
		for _, g := range sec.wide.fit(o.Width, sec.lead) {
			fmt.Fprintln(&b)
			for _, line := range g.lines() {
				fmt.Fprintln(&b, line)
			}
		}
		if sec.legend != "" {
			writeWrapped(&b, sec.legend, o.Width, "")
		}
		for _, note := range sec.notes {
			writeWrapped(&b, note, o.Width, "  ")
		}
	}
	if len(p.warnings) > 0 {
		fmt.Fprintln(&b, "\nWarnings")
	}
	for _, warning := range p.warnings {
		writeWrapped(&b, "- "+warning.Text, o.Width, "  ")
	}
	fmt.Fprintln(&b, "\nDetails")
	writeHead(&b, p.details, o.Width)
	_, err := w.Write(b.Bytes())
	return err
}

func writeHead(b *bytes.Buffer, lines []headLine, width int) {
	for _, l := range lines {
		text := fmt.Sprintf("%-*s", margin, l.name) + l.text
		if l.whole {
			fmt.Fprintln(b, text)
			continue
		}
		writeWrapped(b, text, width, strings.Repeat(" ", margin))
	}
}

func writeWrapped(b *bytes.Buffer, text string, width int, indent string) {
	for _, line := range wrap(text, width, indent) {
		fmt.Fprintln(b, line)
	}
}
