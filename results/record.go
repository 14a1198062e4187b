package results

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// FormatVersion is the version of the recording format that this package
// writes. Readers accept it and older ones.
const FormatVersion = 1

// Record is one line of a recording: *Run, *Cell, *Sample, *Reading, *Event
// or *End. In JSON each carries its kind in "type".
type Record interface{ Kind() string }

// Run is the header: the first record, with all that somebody needs to judge
// the figures and to take them again.
type Run struct {
	Format      int               `json:"format"`
	ID          string            `json:"id"`           // also in the names of the run's databases
	Command     string            `json:"command"`      // "upload", "replicate", "count"
	CommandLine string            `json:"command_line"` // as typed, without credentials
	Version     string            `json:"version"`      // of couchgauge
	Started     time.Time         `json:"started"`
	Seed        uint64            `json:"seed"`
	Order       string            `json:"order"`
	Samples     int               `json:"samples"` // asked for, per cell
	Warmup      int               `json:"warmup"`  // before them, per cell
	Client      Client            `json:"client"`
	Servers     []Server          `json:"servers"`
	Data        map[string]string `json:"data"` // the data's shape, for people: "content": "random"
	Notes       []string          `json:"notes,omitempty"`
}

// Client is the machine that measures.
type Client struct {
	Go     string `json:"go"`
	OS     string `json:"os"`
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	Memory int64  `json:"memory_bytes"`

	// Load1 is the machine's 1-minute load average before the run: what
	// waited for a CPU then was not ours. 0 = not known.
	Load1 float64 `json:"load1,omitempty"`
}

// Server is one measured server as it described itself. What it would not
// tell is "unknown (…)" with the reason.
type Server struct {
	Role        string            `json:"role"`    // "server", "source", "target", "both sides", "replicator"
	URL         string            `json:"url"`     // without credentials
	Welcome     json.RawMessage   `json:"welcome"` // verbatim
	Header      string            `json:"server_header"`
	Proxy       string            `json:"proxy,omitempty"` // what answers in front of it, if anything
	Reference   bool              `json:"reference"`       // couchgauge's own reference server
	Erlang      string            `json:"erlang"`
	JSEngine    string            `json:"js_engine"`
	OS          string            `json:"os"`
	Q           string            `json:"q"`
	N           string            `json:"n"`
	Limits      map[string]string `json:"limits"`              // by configuration key
	Replicator  map[string]string `json:"replicator"`          // [replicator] settings
	Connect     Seconds           `json:"connect_s,omitempty"` // of a TCP connection: one round trip of the network
	RoundTrip   Seconds           `json:"round_trip_s"`        // of GET / on a warm connection
	EmptyDocPut Seconds           `json:"empty_doc_put_s"`
}

// Cell is one combination of levels, written before its first sample.
type Cell struct {
	ID       int     `json:"cell"`
	Server   int     `json:"server"`   // index in Run.Servers
	Baseline int     `json:"baseline"` // ID of the cell it is compared with; its own for a baseline
	Levels   []Level `json:"levels"`
	Payload  int64   `json:"payload_bytes"` // per sample; 0 = not a transfer

	// Impossible says why this combination cannot be measured ("form is
	// multipart/form-data, which cannot be chunked"). Such a cell has no
	// samples, and that is no failure.
	Impossible string `json:"impossible,omitempty"`
}

// Level is one value of a factor. Factor is the name of the row's column.
type Level struct {
	Factor string `json:"factor"`
	Text   string `json:"text"`  // as the user gave it
	Value  any    `json:"value"` // string, bool or number, as rows show it
}

// Sample is one timed operation of a cell.
type Sample struct {
	Cell     int                `json:"cell"`
	Round    int                `json:"round"` // from 0; warm-ups count from 0 on their own
	Warmup   bool               `json:"warmup,omitempty"`
	At       time.Time          `json:"at"`
	Duration Seconds            `json:"duration_s"`
	Measures map[string]float64 `json:"measures,omitempty"` // by column name: "connect_s", "wire_bytes"; absent = not measured
	Status   int                `json:"status,omitempty"`   // HTTP status of the last response
	Verified bool               `json:"verified"`           // what the server stored was compared and is right
	Error    string             `json:"error,omitempty"`    // why it does not count as a time
	Detail   json.RawMessage    `json:"detail,omitempty"`   // a command's own particulars: per-job times
}

// Reading is a server-side reading taken between samples.
type Reading struct {
	Server int                `json:"server"`
	At     time.Time          `json:"at"`
	Values map[string]float64 `json:"values"`
}

// Event is something worth telling that is not a time.
type Event struct {
	At      time.Time `json:"at"`
	Warning bool      `json:"warning,omitempty"` // shown under the table
	Cell    *int      `json:"cell,omitempty"`
	Text    string    `json:"text"`
}

// End is the last record. A recording without it is partial.
type End struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"` // "complete", "interrupted", "stopped"
	Error  string    `json:"error,omitempty"`
}

func (*Run) Kind() string     { return "run" }
func (*Cell) Kind() string    { return "cell" }
func (*Sample) Kind() string  { return "sample" }
func (*Reading) Kind() string { return "server" }
func (*Event) Kind() string   { return "event" }
func (*End) Kind() string     { return "end" }

// Sink takes records as they happen. A recording, a collector of rows and a
// progress display are sinks.
type Sink interface{ Write(Record) error }

// Seconds is a duration whose JSON form is a number of seconds.
type Seconds time.Duration

// MarshalJSON writes seconds with nanosecond resolution.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(s).Seconds(), 'f', -1, 64), nil
}

// UnmarshalJSON reads a number of seconds, to the nearest nanosecond.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("read a duration in seconds: %w", err)
	}
	ns := math.Round(f * float64(time.Second))
	if !(math.Abs(ns) < math.MaxInt64) {
		return fmt.Errorf("read a duration in seconds: %s is out of range", b)
	}
	*s = Seconds(ns)
	return nil
}
