package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// everyRecord is one record of each kind with every field set, and one with
// as few as there can be.
func everyRecord() []Record {
	cell := 3
	full := testRun()
	full.Notes = []string{"startup_jitter is pinned to 1"}
	full.Servers[0].Proxy = "nginx/1.24.0"
	full.Servers[0].Connect = seconds(0.00008)
	full.Client.Load1 = 0.25
	return []Record{
		full,
		&Cell{ID: 3, Server: 0, Baseline: 1, Payload: 2000, Levels: []Level{
			{Factor: "method", Text: "form", Value: "form"}, {Factor: "size_bytes", Text: "1kB", Value: 1000.0}, {Factor: "use_bulk_get", Text: "true", Value: true},
		}},
		&Cell{ID: 1, Baseline: 1},
		&Cell{ID: 4, Baseline: 1, Impossible: "form is never chunked"},
		&Sample{Cell: 3, Round: 2, Warmup: true, At: started, Duration: 1234567, Measures: map[string]float64{"send_s": 0.001, "wire_bytes": 1300},
			Status: 201, Verified: true, Detail: json.RawMessage(`{"jobs":[1,2]}`)},
		&Sample{Cell: 1, At: started, Error: `put attachment "<a>" & more: 413 too_large`},
		&Reading{Server: 0, At: started, Values: map[string]float64{"memory_bytes": 1 << 30}},
		&Event{At: started, Warning: true, Cell: &cell, Text: "the listener is gone"},
		&Event{At: started, Text: "database created"},
		&End{At: started.Add(time.Minute), Reason: "stopped", Error: "no space left"},
	}
}

// closer is a file in memory.
type closer struct{ bytes.Buffer }

func (*closer) Close() error { return nil }

// record writes records to memory.
func record(t testing.TB, records []Record) []byte {
	t.Helper()
	var file closer
	r, err := newRecording(&file, records[0].(*Run), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range records[1:] {
		if err := r.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func readAll(r io.Reader) ([]Record, error) {
	var all []Record
	err := Read(r, func(rec Record) error {
		all = append(all, rec)
		return nil
	})
	return all, err
}

func TestRecordingComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl.zst")
	want := everyRecord()
	r, err := Create(path, want[0].(*Run))
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range want[1:] {
		if err := r.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	if err := r.Write(want[1]); err == nil {
		t.Error("a closed recording took a record")
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := readAll(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what was read differs from what was written:\n%s", diff)
	}
}

func TestRecordingKeepsToItsSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../docs/recording.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(decompress(t, record(t, everyRecord())))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(plain), "\n"), "\n")
	if len(lines) != len(everyRecord()) {
		t.Fatalf("%d records in %d lines", len(everyRecord()), len(lines))
	}
	for i, line := range lines {
		if want := `{"type":"` + everyRecord()[i].Kind() + `",`; !strings.HasPrefix(line, want) {
			t.Errorf("line %d starts with %.20s, want %s", i+1, line, want)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		// A schema that takes anything would prove nothing.
		doc.(map[string]any)["unheard_of"] = 1
		if schema.Validate(doc) == nil {
			t.Errorf("the schema takes any property in a %s", everyRecord()[i].Kind())
		}
	}
}

func decompress(t *testing.T, recording []byte) io.Reader {
	t.Helper()
	dec, err := zstd.NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(dec.Close)
	return dec
}

func TestRecordingIsReadableAfterEachFlush(t *testing.T) {
	var file closer
	tick := make(chan time.Time)
	want := everyRecord()
	r, err := newRecording(&file, want[0].(*Run), tick)
	if err != nil {
		t.Fatal(err)
	}
	for i, rec := range want[1 : len(want)-1] {
		if err := r.Write(rec); err != nil {
			t.Fatal(err)
		}
		tick <- started
		tick <- started // taken only when the flush before it is done
		r.mu.Lock()
		got, err := readAll(bytes.NewReader(file.Bytes()))
		r.mu.Unlock()
		if !errors.Is(err, ErrPartial) {
			t.Fatalf("after record %d: %v, want ErrPartial", i+1, err)
		}
		if diff := cmp.Diff(want[:i+2], got); diff != "" {
			t.Fatalf("after record %d:\n%s", i+1, diff)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFirstFlushIsTheHeader(t *testing.T) {
	var file closer
	r, err := newRecording(&file, testRun(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(bytes.NewReader(file.Bytes()))
	if len(got) != 1 || !errors.Is(err, ErrPartial) {
		t.Errorf("a recording that was just started has %d records, %v", len(got), err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// fullDisk takes so many bytes and no more.
type fullDisk struct{ room int }

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return 0, errFull
	}
	d.room -= len(p)
	return len(p), nil
}

func (*fullDisk) Close() error { return nil }

func TestFullDiskIsReportedFromThenOn(t *testing.T) {
	tick := make(chan time.Time)
	r, err := newRecording(&fullDisk{room: 2000}, testRun(), tick)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 4000) // text that does not compress to the room there is
	for i := range noise {
		noise[i] = byte('0' + rnd.IntN(64))
	}
	if err := r.Write(&Event{At: started, Text: string(noise)}); err != nil {
		t.Fatalf("the first write is only buffered: %v", err)
	}
	tick <- started
	tick <- started
	if err := r.Write(&Event{At: started, Text: "more"}); !errors.Is(err, errFull) {
		t.Errorf("Write returned %v, want %v", err, errFull)
	}
	if err := r.Close(); !errors.Is(err, errFull) {
		t.Errorf("Close returned %v, want %v", err, errFull)
	}
	if _, err := newRecording(&fullDisk{room: 10}, testRun(), nil); !errors.Is(err, errFull) {
		t.Errorf("a disk without room for the header: %v, want %v", err, errFull)
	}
}

func TestCreateSaysWhatFailed(t *testing.T) {
	_, err := Create(filepath.Join(t.TempDir(), "missing", "run.jsonl.zst"), testRun())
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "create the recording") {
		t.Errorf("got %v", err)
	}
}

func TestRecordThatIsNoJSON(t *testing.T) {
	var file closer
	r, err := newRecording(&file, testRun(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(&Sample{Detail: json.RawMessage("{")}); err == nil || !strings.Contains(err.Error(), "record a sample") {
		t.Errorf("got %v", err)
	}
	if err := r.Close(); err == nil {
		t.Error("Close forgot the error")
	}
}

// The documentation promises this pipe.
func TestOtherToolsReadRecordings(t *testing.T) {
	for _, tool := range []string{"zstdcat", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: %s is not installed", tool)
		}
	}
	path := filepath.Join(t.TempDir(), "run.jsonl.zst")
	if err := os.WriteFile(path, record(t, everyRecord()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", `zstdcat "$1" | jq -c 'select(.type=="sample") | .cell'`, "sh", path).Output()
	if err != nil || string(out) != "3\n1\n" {
		t.Errorf("printed %q, %v", out, err)
	}
}
