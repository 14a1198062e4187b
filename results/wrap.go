package results

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wrap breaks text into lines of at most width characters: before a space,
// after a comma, or anywhere if there is no other way. All lines but the
// first start with indent.
//
// What servers say may hold line breaks and control characters; they become
// blanks.
func wrap(text string, width int, indent string) []string {
	var lines []string
	line, start := "", "" // start is what the line began with
	next := func() { lines, line, start = append(lines, line), indent, indent }
	room := func() int { return width - utf8.RuneCountInString(line) }
	for _, piece := range pieces(oneLine(text)) {
		if utf8.RuneCountInString(piece) > room() && line != start {
			next()
			piece = strings.TrimPrefix(piece, " ")
		}
		for utf8.RuneCountInString(piece) > room() {
			runes := []rune(piece)
			cut := max(1, room())
			line, piece = line+string(runes[:cut]), string(runes[cut:])
			next()
		}
		line += piece
	}
	return append(lines, line)
}

// pieces cuts text where a line may end.
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
	return append(out, text[start:])
}

// oneLine replaces control characters, which could move a terminal's
// cursor or split a line of a table, by blanks.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
