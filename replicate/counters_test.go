package replicate

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCounters(t *testing.T) {
	n := func(f float64) *float64 { return &f }
	for _, c := range []struct {
		name, given string
		want        counters
	}{
		{"history", `{"ok":true,"history":[{"docs_read":5,"missing_checked":6,"missing_found":7,"docs_written":4,"doc_write_failures":1,"bulk_get_attempts":5,"bulk_get_docs":3},{"docs_read":100}]}`,
			counters{DocsRead: n(5), MissingChecked: n(6), MissingFound: n(7), DocsWritten: n(4), DocWriteFailures: n(1), BulkGetAttempts: n(5), BulkGetDocs: n(3)}},
		{"before 3.3", `{"history":[{"docs_read":5,"docs_written":5,"doc_write_failures":0}]}`,
			counters{DocsRead: n(5), DocsWritten: n(5), DocWriteFailures: n(0)}},
		{"PouchDB", `{"ok":true,"docs_read":2,"docs_written":2,"doc_write_failures":0}`,
			counters{DocsRead: n(2), DocsWritten: n(2), DocWriteFailures: n(0)}},
		{"scheduler", `{"revisions_checked":9,"missing_revisions_found":8,"docs_read":null,"changes_pending":null}`,
			counters{MissingChecked: n(9), MissingFound: n(8)}},
		{"null", `null`, counters{}},
		{"text", `"{error,x}"`, counters{}},
		{"nothing", ``, counters{}},
	} {
		if diff := cmp.Diff(c.want, parseCounters(json.RawMessage(c.given))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	sums := addCounters([]outcome{
		{Counters: counters{DocsRead: n(2), DocsWritten: n(1)}},
		{Counters: counters{DocsRead: n(3)}}, // docs_written is null here
	})
	if diff := cmp.Diff(map[string]float64{"docs_read": 5}, sums); diff != "" {
		t.Errorf("null is not 0: %s", diff)
	}
}

func FuzzCounters(f *testing.F) {
	f.Add([]byte(`{"history":[{"docs_read":1}]}`))
	f.Fuzz(func(t *testing.T, b []byte) { parseCounters(b) })
}
