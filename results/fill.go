package results

import (
	"slices"
	"strings"
)

// fillDriver is the driver of rows that tell of filling the sources. They
// stand in every format, but nothing is compared with them.
const fillDriver = "fill"

func (r *Row) isFill() bool { return r.levelText("driver") == fillDriver }

// measured returns the rows that a run was made for; all of them if it has no
// others.
func measured(rows []Row) []Row {
	list := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.isFill() })
	if len(list) == 0 {
		return rows
	}
	return list
}

// fills returns the rows that measured leaves out.
func fills(rows []Row) []Row {
	if len(measured(rows)) == len(rows) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return !r.isFill() })
}

// fillNotes tell how fast the sources were filled, a line for each shape.
func fillNotes(fills []Row) []string {
	var notes []string
	for i := range fills {
		r := &fills[i]
		name := "source filled"
		if shape := varied(fills); len(shape) > 0 {
			name += ", " + strings.TrimPrefix(r.name(shape), fillDriver+" ")
		}
		text := name + ": " + suffix(r.levelText("docs"), " docs in ")
		if len(r.times) == 0 {
			notes = append(notes, text+r.medianText(timeUnits[0]))
			continue
		}
		text += duration(r.Median)
		if v, ok := r.Value("docs_per_s").(float64); ok {
			text += ", " + digits(v) + " docs/s"
		}
		if v, ok := r.Value("bytes_per_s").(float64); ok {
			text += ", " + rate(v) + " MB/s"
		}
		notes = append(notes, text)
	}
	return notes
}
