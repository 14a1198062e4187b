package replicate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitList(t *testing.T) {
	for _, c := range []struct {
		given string
		want  []string
	}{
		{"1,4,16", []string{"1", "4", "16"}},
		{"[{nodelay, true}],[]", []string{"[{nodelay, true}]", "[]"}},
		{`"a,b",c`, []string{`"a,b"`, "c"}},
		{`"a\",b",c`, []string{`"a\",b"`, "c"}},
		{"", []string{""}},
		{"]],x", []string{"]]", "x"}},
	} {
		if diff := cmp.Diff(c.want, splitList(c.given)); diff != "" {
			t.Errorf("splitList(%q): %s", c.given, diff)
		}
	}
}

func FuzzSplitList(f *testing.F) {
	f.Add(`[{a, "b,c"}],d`)
	f.Fuzz(func(t *testing.T, s string) {
		strip := func(s string) string {
			return strings.NewReplacer(",", "", " ", "").Replace(strings.Join(strings.Fields(s), ""))
		}
		if got := strip(strings.Join(splitList(s), "")); got != strip(s) {
			t.Errorf("%q became %q", s, got)
		}
	})
}
