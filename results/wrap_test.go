package results

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{""}},
		{"fits", "one two", []string{"one two"}},
		{"at a blank", "one two three", []string{"one two", "  three"}},
		{"after a comma", `{"a":1,"b":22}`, []string{`{"a":1,`, `  "b":22}`}},
		{"anywhere", "abcdefghijklmnopqrst", []string{"abcdefghij", "  klmnopqr", "  st"}},
		{"control characters", "a\x1b[31m\nb", []string{"a [31m b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := wrap(tt.text, 10, "  "); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzWrap(f *testing.F) {
	f.Add(`{"couchdb":"Welcome","version":"3.5.0"} and more words`, 20)
	f.Fuzz(func(t *testing.T, text string, width int) {
		const indent = "  "
		width = len(indent) + 1 + max(0, width%100)
		var back strings.Builder
		for _, line := range wrap(text, width, indent) {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d characters, not %d: %q", n, width, line)
			}
			back.WriteString(line)
		}
		letters := func(s string) string {
			return strings.ToValidUTF8(strings.Join(strings.Fields(oneLine(s)), ""), "\ufffd")
		}
		if got, want := letters(back.String()), letters(text); utf8.ValidString(text) && got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
