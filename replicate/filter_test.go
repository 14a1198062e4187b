package replicate

import (
	"os"
	"testing"
)

func TestParseFilter(t *testing.T) {
	read := func(name string) ([]byte, error) {
		content, ok := map[string]string{
			"s.json": `{"type": "a"}`, "array.json": `[1]`, "ids.txt": "a\n b \n", "ids.json": `["x"]`, "f.js": "function(doc) { return true; }", "empty": " ",
		}[name]
		if !ok {
			return nil, os.ErrNotExist
		}
		return []byte(content), nil
	}
	for _, c := range []struct{ given, err string }{
		{"", ""}, {"none", ""},
		{"selector:0.01", ""}, {"js:1", ""}, {"doc_ids:0.5", ""}, {"view:0.1", ""},
		{"selector:@s.json", ""}, {"doc_ids:@ids.txt", ""}, {"doc_ids:@ids.json", ""}, {"js:@f.js", ""}, {"view:@f.js", ""},
		{"selector:0", "share"}, {"selector:1.1", "share"}, {"selector:NaN", "share"}, {"selector", "share"},
		{"selector:@array.json", "no JSON object"}, {"js:@empty", "empty"}, {"doc_ids:@empty", "no document ids"},
		{"selector:@nothing", "not exist"},
		{"regex:0.1", "use one of js, selector, doc_ids, view"},
	} {
		if _, err := ParseFilter(c.given, read); !says(err, c.err) {
			t.Errorf("ParseFilter(%q): error %v, want %q", c.given, err, c.err)
		}
	}
}

func TestRankIsAnEvenShare(t *testing.T) {
	for _, c := range []struct {
		share      float64
		docs, want int64
	}{
		{1, 1000, 1000}, {0.5, 1000, 500}, {0.01, 1000, 10}, {0.05, 100, 5}, {0.00001, 100_000, 1}, {0.3, 10, 3},
	} {
		f := Filter{Share: c.share, kind: &selectorFilter}
		if got, known := f.passes(c.docs); got != c.want || !known {
			t.Errorf("share %v of %d documents: %d pass, want %d", c.share, c.docs, got, c.want)
		}
	}
	for docs := int64(0); docs < 2345; docs += 67 {
		for _, share := range []float64{0, 0.0001, 0.001, 0.0123, 0.25, 0.5, 0.999, 1} {
			var want int64
			for n := range docs {
				if chosen(n, share) {
					want++
				}
			}
			if chosenOf(docs, share) != want {
				t.Fatalf("%d of %d documents are %v of them, want %d", chosenOf(docs, share), docs, share, want)
			}
		}
	}
	seen := map[int64]bool{}
	for n := range int64(10_000) {
		r := rank(n)
		if r < 0 || r >= rankEnd || seen[r] {
			t.Fatalf("rank(%d) = %d", n, r)
		}
		seen[r] = true
	}
}
