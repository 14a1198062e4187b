package results

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	started = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	methods = []string{"raw", "base64", "multipart", "form", "bulk"}
)

// testRun is a header with everything in it.
func testRun() *Run {
	return &Run{
		Format: FormatVersion, ID: "7f3a", Command: "upload",
		CommandLine: "couchgauge upload --size 10^1..10^7 http://couch.example:5984/",
		Version:     "v0.1.0", Started: started, Seed: 42, Order: "interleaved", Samples: 10, Warmup: 1,
		Client: Client{Go: "go1.26.0", OS: "linux", Kernel: "6.1.0", CPU: "Example CPU 3.0 GHz", CPUs: 4, Memory: 16 << 30},
		Servers: []Server{{
			Role: "server", URL: "http://couch.example:5984/",
			Welcome: json.RawMessage(`{"couchdb":"Welcome","version":"3.5.0","git_sha":"11f0d3643","uuid":"6b2c2d0ff0ee1fbbd5d9b52d0ab0c5c7","features":["access-ready","partitioned","pluggable-storage-engines","reshard","scheduler"],"vendor":{"name":"The Apache Software Foundation"}}`),
			Header:  "CouchDB/3.5.0 (Erlang OTP/25)", Erlang: "25.3.2.15", JSEngine: "spidermonkey 91", OS: "unknown (not told)",
			Q: "2", N: "1",
			Limits:     map[string]string{"couchdb/max_document_size": "8000000", "couchdb/max_attachment_size": "1073741824", "chttpd/max_http_request_size": "4294967296"},
			Replicator: map[string]string{"startup_jitter": "default (not set)"},
			Connect:    seconds(0.00008), RoundTrip: seconds(0.00021), EmptyDocPut: seconds(0.0013),
		}},
		Data: map[string]string{"content": "random"},
	}
}

func seconds(s float64) Seconds { return Seconds(s * 1e9) }

// builder makes a run's records.
type builder struct {
	t     *testing.T
	sink  *Collector
	cells int
	at    time.Time
}

func build(t *testing.T, run *Run) *builder {
	t.Helper()
	b := &builder{t: t, sink: NewCollector(), at: run.Started}
	b.write(run)
	return b
}

func (b *builder) write(r Record) {
	b.t.Helper()
	if err := b.sink.Write(r); err != nil {
		b.t.Fatal(err)
	}
}

// cell adds a cell and returns its ID.
func (b *builder) cell(baseline int, payload int64, levels ...Level) int {
	b.t.Helper()
	id := b.cells
	b.cells++
	if baseline < 0 {
		baseline = id
	}
	b.write(&Cell{ID: id, Baseline: baseline, Payload: payload, Levels: levels})
	return id
}

// sample adds a successful sample.
func (b *builder) sample(cell int, duration float64, measures map[string]float64) {
	b.t.Helper()
	b.at = b.at.Add(time.Duration(duration * 1e9))
	b.write(&Sample{Cell: cell, At: b.at, Duration: seconds(duration), Measures: measures, Status: 201, Verified: true})
}

func (b *builder) end() *Summary {
	b.t.Helper()
	b.write(&End{At: b.at, Reason: "complete"})
	return b.sink.Summary()
}

func uploadLevels(method, size string, bytes int64, more ...Level) []Level {
	return append([]Level{
		{Factor: "method", Text: method, Value: method},
		{Factor: "size_bytes", Text: size, Value: bytes},
		{Factor: "attachments", Text: "1", Value: 1},
		{Factor: "content", Text: "random", Value: "random"},
		{Factor: "concurrency", Text: "1", Value: 1},
	}, more...)
}

// manual are the times measured by hand in 2011 (seconds by size 10^n and
// method): one sample each.
var manual = [][]float64{
	{0.136, 0.014, 0.013}, {0.014, 0.016, 0.015}, {0.015, 0.017, 1.027}, {0.015, 0.018, 2.020}, {0.017, 0.035, 2.027},
	{0.054, 0.202, 1.133}, {0.361, 1.859, 2.318}, {3.531, 19.336, 15.820}, {36.594, 204.152, 345.110},
}

var manualEncode = [][]float64{
	{0.000015, 0.000009}, {0.000012, 0.000011}, {0.000016, 0.000021}, {0.000057, 0.000090}, {0.000361, 0.000801},
	{0.003541, 0.005455}, {0.043847, 0.059307}, {0.472431, 0.822210},
}

// manualSummary is the run of 2011, with samples per cell around its times.
func manualSummary(t *testing.T, samples, methodCount int) *Summary {
	b := build(t, testRun())
	rnd := rand.New(rand.NewPCG(1, 2))
	size := int64(1)
	for n, times := range manual {
		size *= 10
		raw := -1
		for m, method := range methods[:methodCount] {
			time := times[m%3]
			id := b.cell(raw, size, uploadLevels(method, fmt.Sprintf("10^%d", n+1), size)...)
			if m == 0 {
				raw = id
			}
			for i := range samples {
				d := time
				if i > 0 {
					d *= 1 + 0.1*(rnd.Float64()-0.5)
				}
				measures := map[string]float64{
					"connect_s": 0, "produce_s": d * 0.1, "send_s": d * 0.3, "wait_s": d * 0.59, "receive_s": d * 0.01,
					"wire_bytes": float64(size + 300), "accepted_202": 0,
				}
				if method == "base64" && n < len(manualEncode) {
					measures["encode_s"], measures["decode_s"] = manualEncode[n][0], manualEncode[n][1]
				}
				b.sample(id, d, measures)
			}
		}
	}
	return b.end()
}
