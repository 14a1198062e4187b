package results

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const runLine = `{"type":"run","format":1,"id":"a","command":"upload"}` + "\n"

func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "holds no record"},
		{"half a line", `{"type":"run"`, "holds no record"},
		{"not JSON", "hello\n", "read line 1"},
		{"no run first", `{"type":"end"}` + "\n", "does not start with a run"},
		{"two runs", runLine + runLine, "line 2 of the recording: a second run"},
		{"newer", `{"type":"run","format":2}` + "\n", "format version 2; this couchgauge reads up to 1"},
		{"unknown type", runLine + `{"type":"poem"}` + "\n", `line 2 of the recording: unknown record type "poem"`},
		{"wrong field", runLine + `{"type":"sample","cell":"x"}` + "\n", "read line 2"},
		{"duration out of range", runLine + `{"type":"sample","duration_s":1e300}` + "\n", "out of range"},
		{"after the end", runLine + `{"type":"end"}` + "\n" + `{"type":"event"}` + "\n", "a record of type event after the end"},
		{"no end", runLine, "the recording is partial: it has no end record after its 1 records"},
		{"zstd without content", "\x28\xb5\x2f\xfd", "read the recording"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readAll(strings.NewReader(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
			if want := tt.name == "no end"; errors.Is(err, ErrPartial) != want {
				t.Errorf("partial: %v, want %v", !want, want)
			}
		})
	}
}

// Other tools may write the lines again with their fields in another order.
func TestReadTakesFieldsInAnyOrder(t *testing.T) {
	in := `{"format":1,"type":"run"}` + "\n" + `{ "text":"hello", "type":"event"}` + "\n" + `{"reason":"complete","type":"end"}` + "\n"
	got, err := readAll(strings.NewReader(in))
	if err != nil || len(got) != 3 || got[1].(*Event).Text != "hello" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestReadStopsWhenTold(t *testing.T) {
	stop := errors.New("enough")
	n := 0
	err := Read(bytes.NewReader(record(t, everyRecord())), func(Record) error {
		n++
		return stop
	})
	if err != stop || n != 1 {
		t.Errorf("%v after %d records", err, n)
	}
}

// A recording cut off anywhere is a shorter one.
func TestReadCutOff(t *testing.T) {
	want := everyRecord()
	whole := record(t, want)
	most := 0
	for n := range whole {
		got, err := readAll(bytes.NewReader(whole[:n]))
		if len(got) < most {
			t.Fatalf("%d bytes give %d records, fewer bytes gave %d", n, len(got), most)
		}
		grown := len(got) > most
		most = len(got)
		if most > 0 && !errors.Is(err, ErrPartial) && most < len(want) {
			t.Fatalf("%d bytes: %d records and %v, want ErrPartial", n, most, err)
		}
		if most == 0 && err == nil {
			t.Fatalf("%d bytes: nothing, and no error", n)
		}
		if !grown {
			continue
		}
		if diff := cmp.Diff(want[:most], got); diff != "" {
			t.Fatalf("%d bytes:\n%s", n, diff)
		}
	}
}

// failing gives what it has and then an error.
type failing struct {
	io.Reader
	err error
}

func (f failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return n, err
}

func TestReadTellsWhyItBreaksOff(t *testing.T) {
	_, err := readAll(failing{strings.NewReader(runLine), os.ErrDeadlineExceeded})
	if !errors.Is(err, ErrPartial) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestSeconds(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 3, 999, 1234567, time.Second - 1, time.Hour + 1, -5, 400 * 24 * time.Hour} {
		text, err := Seconds(d).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var back Seconds
		if err := back.UnmarshalJSON(text); err != nil || time.Duration(back) != d {
			t.Errorf("%s came back as %s by way of %s (%v)", d, time.Duration(back), text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	whole := record(f, everyRecord())
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(runLine))
	f.Add([]byte(runLine + `{"type":"cell","cell":1,"levels":[{"factor":"matches","text":"1","value":{"a":[]}}]}` + "\n" + `{"type":"sample","cell":1,"duration_s":1e-9,"measures":{"x":1}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := readAll(bytes.NewReader(data))
		if err != nil && !errors.Is(err, ErrPartial) {
			return
		}
		if len(all) == 0 {
			t.Fatal("no error, and no record")
		}
		// What was read can be summarised and printed, whatever it is.
		s, err := Summarize(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, r := range s.Rows {
			if r.Median < r.Min || r.Median > r.Max || math.IsNaN(r.Median) != (r.Samples == r.Failed) {
				t.Errorf("median %v of %d samples, %d failed, from %v to %v", r.Median, r.Samples, r.Failed, r.Min, r.Max)
			}
		}
		for _, name := range Formats() {
			if err := Print(io.Discard, name, s, Options{}); err != nil && name != "classic" {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func BenchmarkSummarize(b *testing.B) {
	records := []Record{testRun(), &Cell{}}
	for i := range 20_000 {
		records = append(records, &Sample{Round: i, At: started, Duration: Seconds(1e6 + i), Verified: true, Status: 201, Measures: map[string]float64{
			"connect_s": 0, "produce_s": 1e-6, "send_s": 1e-4, "wait_s": 9e-4, "receive_s": 1e-6, "wire_bytes": 400, "accepted_202": 0}})
	}
	whole := record(b, append(records, &End{Reason: "complete"}))
	b.ReportMetric(float64(len(whole))/20_000, "bytes/sample")
	for b.Loop() {
		if _, err := Summarize(bytes.NewReader(whole)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/sample")
}
