package replicate

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"couchgauge/internal/couch"
)

// scripted is a server that a handler plays.
func scripted(t testing.TB, handler http.Handler) *couch.Server {
	t.Helper()
	listening := httptest.NewServer(handler)
	t.Cleanup(func() { listening.CloseClientConnections(); listening.Close() })
	s, err := couch.Open(listening.URL, couch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// changes serves databases of leaves as _changes, backwards if asked.
func changes(databases map[string]map[string][]string, backwards bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		db, _ := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/_changes")
		ids := slices.Sorted(maps.Keys(databases[db]))
		if backwards {
			slices.Reverse(ids)
		}
		fmt.Fprint(w, `{"results":[`)
		for i, id := range ids {
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			row := changeRow{ID: id}
			for _, rev := range databases[db][id] {
				row.Changes = append(row.Changes, struct {
					Rev string `json:"rev"`
				}{rev})
			}
			b, _ := json.Marshal(row)
			w.Write(b)
		}
		fmt.Fprint(w, `],"last_seq":1}`)
	})
}

func TestCompareLeaves(t *testing.T) {
	full := map[string][]string{}
	for i := range 3000 {
		full[fmt.Sprintf("doc-%04d", i)] = []string{"2-a", "2-b"}
	}
	change := func(edit func(map[string][]string)) map[string][]string {
		m := maps.Clone(full)
		edit(m)
		return m
	}
	for _, c := range []struct {
		name           string
		target         map[string][]string
		missing, extra int64
		says           string
	}{
		{"equal", full, 0, 0, ""},
		{"a leaf is missing", change(func(m map[string][]string) { m["doc-0007"] = []string{"2-b"} }), 1, 0,
			"t: 1 of 6000 leaf revisions are missing: doc-0007 2-a"},
		{"a leaf is another", change(func(m map[string][]string) { m["doc-0007"] = []string{"2-b", "3-a"} }), 1, 1,
			"1 leaf revisions should not be there: doc-0007 3-a"},
		{"two leaves are exchanged", change(func(m map[string][]string) {
			m["doc-0001"], m["doc-0002"] = []string{"2-a", "2-c"}, []string{"2-b", "2-a"}
		}), 1, 1,
			"doc-0001 2-b; 1 leaf revisions should not be there: doc-0001 2-c"},
		{"extra", change(func(m map[string][]string) { m["x"] = []string{"1-x"} }), 0, 1, "should not be there: x 1-x"},
		{"empty", nil, 6000, 0, "and 5990 more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := scripted(t, changes(map[string]map[string][]string{"s": full}, false))
			target := scripted(t, changes(map[string]map[string][]string{"t": c.target}, true))
			diff, err := compareLeaves(t.Context(),
				leafSet{{client: source.Control(), db: "s"}}, leafSet{{client: target.Control(), db: "t"}})
			if err != nil {
				t.Fatal(err)
			}
			if diff.Leaves != 6000 || diff.Missing.Count != c.missing || diff.Extra.Count != c.extra {
				t.Errorf("%d leaves, %d missing, %d extra", diff.Leaves, diff.Missing.Count, diff.Extra.Count)
			}
			if fault := (verdict{Database: "t", leafDiff: diff}).fault(); !strings.Contains(fault, c.says) || c.says == "" && fault != "" {
				t.Errorf("it says %q, want %q", fault, c.says)
			}
		})
	}
}

// Several sources make one set, each with the same design document.
func TestCompareLeavesOfSeveral(t *testing.T) {
	source := scripted(t, changes(map[string]map[string][]string{
		"a": {"1": {"1-x"}, "_design/d": {"1-d"}}, "b": {"2": {"1-y"}, "_design/d": {"1-d"}},
		"t": {"1": {"1-x"}, "2": {"1-y"}, "_design/d": {"1-d"}},
	}, false))
	c := source.Control()
	diff, err := compareLeaves(t.Context(),
		leafSet{{client: c, db: "a", noDesign: true}, {client: c, db: "b", noDesign: true}},
		leafSet{{client: c, db: "t", noDesign: true}})
	if err != nil || diff.Leaves != 2 || diff.Missing.Count != 0 || diff.Extra.Count != 0 {
		t.Errorf("%+v, %v", diff, err)
	}
}

// What is held in memory is bounded: buckets that differ are looked at in
// groups.
func TestDifferingBucketsAreGrouped(t *testing.T) {
	var wanted, found fingerprint
	for i := range buckets {
		found[i].leaves = heldLeaves / 10
	}
	groups := differing(&wanted, &found)
	seen := 0
	for _, g := range groups {
		var held int64
		for i := range g {
			if g[i] {
				held += found[i].leaves
				seen++
			}
		}
		if held > heldLeaves {
			t.Errorf("a group holds %d leaves", held)
		}
	}
	if seen != buckets {
		t.Errorf("%d buckets are in groups, want %d", seen, buckets)
	}
	if groups := differing(&found, &found); groups != nil {
		t.Errorf("equal sets differ in %d groups", len(groups))
	}
}

// BenchmarkLeafHash is what a leaf costs to compare, besides reading it.
func BenchmarkLeafHash(b *testing.B) {
	h, f := newHasher(), new(fingerprint)
	for b.Loop() {
		f.add(h.of("doc-0000000042", "3-0123456789abcdef0123456789abcdef"))
	}
}

// blobs serves one document with one attachment.
func blobs(content, digest string, bulkGet bool) http.Handler {
	doc := fmt.Sprintf(`{"_id":"d/e","_rev":"1-a","_attachments":{"a b":{"length":%d,"digest":%q,"stub":true}}}`, len(content), digest)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/_changes"):
			fmt.Fprint(w, `{"results":[{"id":"d/e","changes":[{"rev":"1-a"}]}],"last_seq":1}`)
		case strings.HasSuffix(r.URL.Path, "/_bulk_get") && bulkGet:
			fmt.Fprintf(w, `{"results":[{"id":"d/e","docs":[{"ok":%s}]}]}`, doc)
		case strings.HasSuffix(r.URL.Path, "/_bulk_get"):
			http.Error(w, `{"error":"not_found","reason":"missing"}`, http.StatusNotFound)
		case r.URL.EscapedPath() == "/db/d%2Fe" && r.URL.Query().Get("open_revs") == `["1-a"]`:
			fmt.Fprintf(w, `[{"ok":%s}]`, doc)
		case r.URL.EscapedPath() == "/db/d%2Fe/a%20b" && r.URL.Query().Get("rev") == "1-a":
			fmt.Fprint(w, content)
		default:
			http.Error(w, `{"error":"unexpected","reason":"`+r.URL.String()+`"}`, http.StatusTeapot)
		}
	})
}

// R11: a digest that differs because a server compressed differently is no
// difference; bytes that differ are.
func TestAttachments(t *testing.T) {
	for _, c := range []struct {
		name             string
		content, digest  string
		bulkGet          bool
		bytes            bool
		compared, differ int64
	}{
		{"equal", "hello", "md5-1", true, false, 1, 0},
		{"another digest of the same bytes", "hello", "md5-2", true, false, 1, 0},
		{"no digest", "hello", "", true, false, 1, 0},
		{"no _bulk_get", "hello", "md5-2", false, false, 1, 0},
		{"other bytes", "hellO", "md5-2", true, false, 1, 1},
		{"another length", "hell", "md5-1", true, false, 1, 1},
		{"other bytes under the same digest", "hellO", "md5-1", true, true, 1, 1},
		{"other bytes that only bytes show", "hellO", "md5-1", true, false, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := scripted(t, blobs("hello", "md5-1", true))
			target := scripted(t, blobs(c.content, c.digest, c.bulkGet))
			check := attachmentCheck{source: source.Control(), from: "db", target: target.Control(), to: "db", bytes: c.bytes}
			diff, err := check.run(t.Context(), leafFeed{client: source.Control(), db: "db"})
			if err != nil {
				t.Fatal(err)
			}
			if diff.Compared != c.compared || diff.Differ.Count != c.differ {
				t.Errorf("%+v, want %d compared, %d differ", diff, c.compared, c.differ)
			}
			if c.differ > 0 && diff.Differ.Named[0] != "d/e 1-a a b" {
				t.Errorf("it names %q", diff.Differ.Named)
			}
		})
	}
}
