package results

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Options of printing.
type Options struct {
	Width int // of a line of text, in characters; 0 = 80
}

// format is one way to print a summary.
type format struct {
	name  string
	doc   string
	print func(w io.Writer, list []*Summary, o Options) error
	check func(cells []Cell) error // whether it can show them; nil = any
}

var formats = []format{
	{"text", "tables for a terminal", each(printText, "\n"), nil},
	{"markdown", "the same for an issue on GitHub", each(printMarkdown, "\n"), nil},
	{"csv", "one line a row, comma separated", printCSV, nil},
	{"tsv", "the same, tab separated", printTSV, nil},
	{"json", "the run, its rows and warnings as one JSON object; of several an array of them", printJSON, nil},
	{"classic", "n raw base64 multipart encode decode, as the script of 2011 printed them", each(printClassic, ""), checkClassic},
}

// Formats names the formats that Print knows.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// formatFor returns the named format if it can show the cells.
func formatFor(name string, cells []Cell) (*format, error) {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	if i < 0 {
		return nil, fmt.Errorf("unknown format %q: use one of %s", name, strings.Join(Formats(), ", "))
	}
	if f := &formats[i]; f.check == nil {
		return f, nil
	}
	return &formats[i], formats[i].check(cells)
}

// CheckFormat says why Print will refuse to show cells in the named format,
// so that it is known before they are measured. nil if it will not.
func CheckFormat(name string, cells []Cell) error {
	_, err := formatFor(name, cells)
	return err
}

// Print writes a summary in the named format.
func Print(w io.Writer, name string, s *Summary, o Options) error {
	return PrintAll(w, name, []*Summary{s}, o)
}

// PrintAll writes summaries in the named format: CSV and TSV as one table,
// JSON as one array unless there is one summary only, others one after
// another.
func PrintAll(w io.Writer, name string, list []*Summary, o Options) error {
	var f *format
	for _, s := range list {
		var err error
		if f, err = formatFor(name, s.cells()); err != nil {
			return err
		}
	}
	if f == nil {
		return nil
	}
	if o.Width <= 0 {
		o.Width = 80
	}
	if err := f.print(w, list, o); err != nil {
		return fmt.Errorf("print the tables as %s: %w", name, err)
	}
	return nil
}

// each prints summaries one after another, with a text between them.
func each(print func(w io.Writer, s *Summary, o Options) error, between string) func(io.Writer, []*Summary, Options) error {
	return func(w io.Writer, list []*Summary, o Options) error {
		for i, s := range list {
			if i > 0 {
				if _, err := io.WriteString(w, between); err != nil {
					return err
				}
			}
			if err := print(w, s, o); err != nil {
				return err
			}
		}
		return nil
	}
}
