package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func printedAll(t *testing.T, format string, list ...*Summary) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := PrintAll(&b, format, list, Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Rows of several runs stand in one table, each figure under the name that it
// has in a table of its own run.
func TestSeveralRunsAreOneTable(t *testing.T) {
	runs := []*Summary{replicationSummary(t), driversSummary(t), failuresSummary(t), countSummary(t)}
	all, err := csv.NewReader(bytes.NewReader(printedAll(t, "csv", runs...))).ReadAll()
	if err != nil {
		t.Fatal(err) // as for lines of different length
	}
	head := all[0]
	for i, name := range head {
		if slices.Index(head, name) != i {
			t.Errorf("%s is there twice", name)
		}
	}
	if tail := strings.Join(head[len(head)-3:], " "); tail != "run started couchgauge" {
		t.Errorf("the last columns are %s", tail)
	}
	rows := all[1:]
	for _, s := range runs {
		alone, err := csv.NewReader(bytes.NewReader(printed(t, "csv", s))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range alone[1:] {
			if len(rows) == 0 {
				t.Fatal("rows are missing")
			}
			got := rows[0]
			rows = rows[1:]
			for j, name := range head {
				figure := ""
				if k := slices.Index(alone[0], name); k >= 0 {
					figure = want[k]
				}
				if got[j] != figure {
					t.Errorf("%s: %s is %q, want %q", s.Run.Command, name, got[j], figure)
				}
			}
		}
	}
	if len(rows) > 0 {
		t.Errorf("%d rows too many", len(rows))
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(printedAll(t, "tsv", runs...)), "\n"), "\n") {
		if n := len(strings.Split(line, "\t")); n != len(head) {
			t.Errorf("line %d of TSV has %d fields, want %d", i+1, n, len(head))
		}
	}
}

// Several runs are one JSON value: the documents that each has alone.
func TestSeveralRunsAreOneJSONValue(t *testing.T) {
	runs := []*Summary{replicationSummary(t), failuresSummary(t)}
	var all []json.RawMessage
	if err := json.Unmarshal(printedAll(t, "json", runs...), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(runs) {
		t.Fatalf("%d documents, want %d", len(all), len(runs))
	}
	for i, s := range runs {
		var got, want bytes.Buffer
		if err := json.Compact(&got, all[i]); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&want, printed(t, "json", s)); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("document %d is\n%s\nwant\n%s", i, &got, &want)
		}
	}
}

func TestSeveralRunsOfText(t *testing.T) {
	one := string(printed(t, "text", countSummary(t)))
	if got := string(printedAll(t, "text", countSummary(t), countSummary(t))); got != one+"\n"+one {
		t.Errorf("got\n%s", got)
	}
}
