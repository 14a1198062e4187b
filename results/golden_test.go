package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the golden files, and docs/columns.md, anew")

// golden compares with a file, or writes it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./results -update writes it)", err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs (go test ./results -update writes it anew); now:\n%s", path, got)
	}
}

func printed(t *testing.T, format string, s *Summary) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Print(&b, format, s, Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for _, tt := range []struct {
		name    string
		summary func(*testing.T) *Summary
		formats []string
	}{
		{"manual", func(t *testing.T) *Summary { return manualSummary(t, 10, 3) }, Formats()},
		{"manual-once", func(t *testing.T) *Summary { return manualSummary(t, 1, 3) }, []string{"text", "classic"}},
		{"five-methods", func(t *testing.T) *Summary { return manualSummary(t, 10, 5) }, []string{"text", "markdown"}},
		{"expect", expectSummary, []string{"text", "markdown"}},
		{"failures", failuresSummary, Formats()},
		{"impossible", impossibleSummary, []string{"text", "markdown", "csv"}},
		{"empty", emptySummary, []string{"text"}},
		{"concurrency", concurrencySummary, []string{"text"}},
		{"append", appendSummary, []string{"text"}},
		{"replication", replicationSummary, []string{"text", "markdown", "csv"}},
		{"drivers", driversSummary, []string{"text", "markdown"}},
		{"count", countSummary, []string{"text", "json"}},
		{"cut-off", cutOffSummary, []string{"text", "json"}},
	} {
		for _, format := range tt.formats {
			t.Run(tt.name+"/"+format, func(t *testing.T) {
				golden(t, filepath.Join("testdata", tt.name+"."+format), printed(t, format, tt.summary(t)))
			})
		}
	}
}

// Lines of text fit, unless one method alone does not. The command is never
// wrapped: it is there to be copied.
func TestTextFits(t *testing.T) {
	for _, tt := range []struct {
		name    string
		summary func(*testing.T) *Summary
	}{
		{"manual", func(t *testing.T) *Summary { return manualSummary(t, 10, 3) }},
		{"five methods", func(t *testing.T) *Summary { return manualSummary(t, 10, 5) }},
		{"one sample", func(t *testing.T) *Summary { return manualSummary(t, 1, 5) }},
		{"expect", expectSummary}, {"failures", failuresSummary}, {"impossible", impossibleSummary}, {"empty", emptySummary}, {"concurrency", concurrencySummary}, {"append", appendSummary},
		{"replication", replicationSummary}, {"drivers", driversSummary}, {"count", countSummary}, {"cut off", cutOffSummary},
	} {
		for _, width := range []int{70, 80, 120} {
			t.Run(fmt.Sprint(tt.name, width), func(t *testing.T) {
				var b bytes.Buffer
				if err := Print(&b, "text", tt.summary(t), Options{Width: width}); err != nil {
					t.Fatal(err)
				}
				for line := range strings.SplitSeq(b.String(), "\n") {
					if n := utf8.RuneCountInString(line); n > width && !strings.HasPrefix(line, "command ") {
						t.Errorf("%d characters: %s", n, line)
					}
					if strings.TrimRight(line, " ") != line || strings.ContainsAny(line, "\x1b\t") {
						t.Errorf("blanks at the end, or control characters: %q", line)
					}
				}
			})
		}
	}
}

// Every format must hold the same figures.
func TestFormatsAgree(t *testing.T) {
	s := failuresSummary(t)
	var parsed struct {
		Rows []map[string]any `json:"rows"`
	}
	if err := json.Unmarshal(printed(t, "json", s), &parsed); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(printed(t, "csv", s))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	tabbed := strings.Split(strings.TrimSuffix(string(printed(t, "tsv", s)), "\n"), "\n")
	if len(lines) != len(parsed.Rows)+1 || len(tabbed) != len(lines) {
		t.Fatalf("%d rows in JSON, %d lines of CSV, %d of TSV", len(parsed.Rows), len(lines), len(tabbed))
	}
	for i, row := range parsed.Rows {
		fields := strings.Split(tabbed[i+1], "\t")
		if len(fields) != len(lines[0]) {
			t.Fatalf("line %d of TSV has %d fields, want %d", i+2, len(fields), len(lines[0]))
		}
		for j, name := range lines[0] {
			want := ""
			switch v := row[name].(type) {
			case nil:
				if _, ok := row[name]; !ok {
					t.Errorf("JSON lacks %s", name)
				}
			case float64:
				want = plain(v, "")
			default:
				want = fmt.Sprint(v)
			}
			if lines[i+1][j] != want {
				t.Errorf("row %d: %s is %q in CSV, %q in JSON", i, name, lines[i+1][j], want)
			}
			if blank := strings.NewReplacer("\n", " ", "\t", " ").Replace(want); fields[j] != blank {
				t.Errorf("row %d: %s is %q in TSV, want %q", i, name, fields[j], blank)
			}
		}
	}
}

func TestClassicIsTheOldTable(t *testing.T) {
	want := "n\traw\tbase64\tmultipart\tencode\tdecode\n"
	for i, times := range manual {
		encode, decode := "?", "?"
		if i < len(manualEncode) {
			encode, decode = fmt.Sprintf("%.6f", manualEncode[i][0]), fmt.Sprintf("%.6f", manualEncode[i][1])
		}
		want += fmt.Sprintf("%d\t%.3f\t%.3f\t%.3f\t%s\t%s\n", i+1, times[0], times[1], times[2], encode, decode)
	}
	if got := string(printed(t, "classic", manualSummary(t, 1, 3))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestClassicSizes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sizes []float64
		want  []string
	}{
		{"powers of ten", []float64{1, 10, 1e9, 1e10}, []string{"0", "1", "9", "10"}},
		{"one is not", []float64{10, 1024, 1e6}, []string{"10", "1024", "1000000"}},
		{"like one", []float64{100001, 10}, []string{"100001", "10"}},
		{"nothing", []float64{0, 10}, []string{"0", "10"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := classicSizes(tt.sizes); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestClassicShowsFurtherMethodsLast(t *testing.T) {
	head, _, _ := strings.Cut(string(printed(t, "classic", manualSummary(t, 1, 5))), "\n")
	if want := "n\traw\tbase64\tmultipart\tencode\tdecode\tform\tbulk"; head != want {
		t.Errorf("got %q, want %q", head, want)
	}
}

// What CheckFormat says before a run is what Print says after it.
func TestCheckFormat(t *testing.T) {
	for _, tt := range []struct {
		name, format string
		summary      *Summary
		want         string
	}{
		{"what varies too", "classic", expectSummary(t), "expect varies too"},
		{"no uploads", "classic", countSummary(t), "one of uploads"},
		{"two servers", "classic", serversSummary(t), "the server varies too"},
		{"the old table", "classic", manualSummary(t, 1, 5), ""},
		{"anything else", "csv", expectSummary(t), ""},
		{"unknown", "pdf", manualSummary(t, 1, 1), `unknown format "pdf": use one of text, markdown`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, after := CheckFormat(tt.format, tt.summary.cells()), Print(io.Discard, tt.format, tt.summary, Options{})
			if fmt.Sprint(before) != fmt.Sprint(after) || (before == nil) != (tt.want == "") || before != nil && !strings.Contains(before.Error(), tt.want) {
				t.Errorf("got %v before and %v after, want %q in both", before, after, tt.want)
			}
		})
	}
}

func TestNothingMeasured(t *testing.T) {
	for _, format := range Formats() {
		if got := printed(t, format, NewCollector().Summary()); len(got) == 0 {
			t.Errorf("%s prints nothing", format)
		}
	}
}
