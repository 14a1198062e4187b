package replicate

import "strings"

// splitList splits a list of levels at its commas, but not inside brackets or
// double quotes: "[{nodelay, true}],[]" has two levels.
func splitList(s string) []string {
	var levels []string
	depth, quoted, start := 0, false, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("[{(", c) >= 0:
			depth++
		case strings.IndexByte("]})", c) >= 0:
			depth--
		case c == ',' && depth <= 0:
			levels = append(levels, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	return append(levels, strings.TrimSpace(s[start:]))
}
