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
	print func(w io.Writer, s *Summary, o Options) error
	check func(cells []Cell) error // whether it can show them; nil = any
}

var formats = []format{
	{"text", "tables for a terminal", printText, nil},
	{"markdown", "the same for an issue on GitHub", printMarkdown, nil},
	{"csv", "one line a row, comma separated", printCSV, nil},
	{"tsv", "the same, tab separated", printTSV, nil},
	{"json", "the run, its rows and warnings as one JSON object", printJSON, nil},
	{"classic", "n raw base64 multipart encode decode, as the script of 2011 printed them", printClassic, checkClassic},
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
	f, err := formatFor(name, s.cells())
	if err != nil {
		return err
	}
	if o.Width <= 0 {
		o.Width = 80
	}
	if err := f.print(w, s, o); err != nil {
		return fmt.Errorf("print the tables as %s: %w", name, err)
	}
	return nil
}
