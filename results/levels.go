package results

import (
	"slices"
	"strings"
)

// varied lists the factors of which the rows have more than one level, in
// the order in which cells name them. "server" is one if there are several.
func varied(rows []Row) []string {
	var list []string
	if serversVary(rows) {
		list = append(list, "server")
	}
	for _, r := range rows {
		for _, l := range r.Cell.Levels {
			if !slices.Contains(list, l.Factor) && !sameLevel(rows, l.Factor) {
				list = append(list, l.Factor)
			}
		}
	}
	return list
}

// serversVary tells whether the rows are about several servers. A driver of
// replications has a server of its own, which it names well enough.
func serversVary(rows []Row) bool {
	servers := map[string]string{} // by driver
	for _, r := range rows {
		driver := r.levelText("driver")
		first, seen := servers[driver]
		if seen && first != r.Server {
			return true
		}
		servers[driver] = r.Server
	}
	return false
}

// constant lists the levels that all rows share.
func constant(rows []Row) []Level {
	if len(rows) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(rows[0].Cell.Levels), func(l Level) bool {
		return !sameLevel(rows, l.Factor)
	})
}

func sameLevel(rows []Row, factor string) bool {
	first := rows[0].levelText(factor)
	return !slices.ContainsFunc(rows, func(r Row) bool { return r.levelText(factor) != first })
}

// levelText shows the level of a factor as it was given, "" if there is none.
func (r *Row) levelText(factor string) string {
	if factor == "server" {
		return r.Server
	}
	l, _ := r.Level(factor)
	return oneLine(l.Text)
}

// name tells a row from the others by the levels that vary: "raw 10MB
// expect=on".
func (r *Row) name(varied []string) string {
	var parts []string
	if r.isFill() && !slices.Contains(varied, "driver") {
		parts = append(parts, fillDriver)
	}
	for _, f := range varied {
		text := r.levelText(f)
		if text == "" {
			continue
		}
		if !slices.Contains([]string{"server", "method", "size_bytes", "driver", "topology", "way"}, f) {
			text = f + "=" + text
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		parts = []string{join(" ", r.levelText("method"), r.levelText("size_bytes"), r.levelText("driver"), r.levelText("topology"))}
	}
	return strings.Join(parts, " ")
}

// numeric says whether a factor's levels are numbers.
func numeric(rows []Row, factor string) bool {
	return !slices.ContainsFunc(rows, func(r Row) bool {
		l, ok := r.Level(factor)
		_, isNumber := number(l.Value).(float64)
		return ok && !isNumber
	})
}

// heading names a factor over its column.
func heading(factor string) string {
	return strings.TrimSuffix(factor, "_bytes")
}
