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
}

var formats = []format{
	{"text", "tables for a terminal", printText},
	{"markdown", "the same for an issue on GitHub", printMarkdown},
	{"csv", "one line a row, comma separated", printCSV},
	{"tsv", "the same, tab separated", printTSV},
	{"json", "the run, its rows and warnings as one JSON object", printJSON},
	{"classic", "n raw base64 multipart encode decode, as the script of 2011 printed them", printClassic},
}

// Formats names the formats that Print knows.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Print writes a summary in the named format.
func Print(w io.Writer, name string, s *Summary, o Options) error {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	if i < 0 {
		return fmt.Errorf("unknown format %q: use one of %s", name, strings.Join(Formats(), ", "))
	}
	if o.Width <= 0 {
		o.Width = 80
	}
	if err := formats[i].print(w, s, o); err != nil {
		return fmt.Errorf("print the tables as %s: %w", name, err)
	}
	return nil
}
