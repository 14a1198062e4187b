package results

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The order that design.md fixes.
var designed = map[string]string{
	"":        "server samples failed first_error median_s ci_low_s ci_high_s min_s max_s p95_s relative relative_low relative_high verified",
	upload:    "method size_bytes attachments content concurrency expect transfer encoding throughput_bytes_per_s wire_bytes connect_s wait_continue_s produce_s send_s wait_s receive_s accepted_202",
	replicate: "driver topology docs doc_bytes * startup_s docs_per_s bytes_per_s doc_write_failures bulk_get_attempts bulk_get_docs",
	count:     "way matches counted growth",
}

func TestColumnsAreInOrder(t *testing.T) {
	for command, own := range designed {
		want := strings.Fields(designed[""])
		if command != "" {
			want = append(want, strings.Fields(own)...)
		}
		var got []string
		for _, c := range Columns(command) {
			if c.Name != settings || command == replicate {
				got = append(got, c.Name)
			}
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%q: got %v\nwant it to start with %v", command, got, want)
		}
	}
}

func TestColumnsAreUnique(t *testing.T) {
	for _, command := range []string{upload, replicate, count} {
		seen := map[string]bool{}
		for _, c := range Columns(command) {
			if seen[c.Name] {
				t.Errorf("%s has %s twice", command, c.Name)
			}
			seen[c.Name] = true
			if c.Doc == "" || c.From.get == nil || c.Unit == "" && c.Name != settings {
				t.Errorf("%s: %s lacks its unit, source or documentation", command, c.Name)
			}
		}
	}
}

func TestColumnsForVariedSettings(t *testing.T) {
	var names []string
	for _, c := range replicationSummary(t).columns {
		names = append(names, c.Name)
	}
	if want := "docs doc_bytes use_bulk_get worker_processes startup_s"; !strings.Contains(strings.Join(names, " "), want) {
		t.Errorf("got %v, want %s in it", names, want)
	}
}

// docs/columns.md is the list of columns, for people.
func TestColumnsAreDocumented(t *testing.T) {
	var b bytes.Buffer
	fmt.Fprint(&b, "# Columns\n\nOne row for each cell. JSON, CSV and TSV have all of these columns in this order; text and Markdown show some. A figure that was not measured, or is not defined for so few samples, is `null` in JSON and empty in CSV and TSV. Samples that failed and warm-ups never count as times. `run`, `started` and `couchgauge` are the last columns of a row, so that rows of several runs can be put into one table.\n\n<!-- Made from results/columns.go by: go test ./results -update -->\n")
	for _, part := range []struct{ command, title string }{
		{"", "Every row"}, {upload, "Upload"}, {replicate, "Replication"}, {count, "Count (comes with the count command)"},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| column | unit | made from | meaning |\n| --- | --- | --- | --- |\n", part.title)
		for _, c := range columns {
			name := "`" + c.Name + "`"
			if c.Name == settings {
				name = "…"
			}
			if c.Command == part.command && (c.Name != settings) || c.Name == settings && part.command == replicate {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, c.Unit, c.From.Doc, c.Doc)
			}
		}
	}
	golden(t, "../docs/columns.md", b.Bytes())
}
