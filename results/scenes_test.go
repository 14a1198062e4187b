package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// The runs that golden files are made of.

// around returns n times within 4 % of a middle.
func around(rnd *rand.Rand, middle float64, n int) []float64 {
	times := make([]float64, n)
	for i := range times {
		times[i] = middle * (0.96 + 0.08*rnd.Float64())
	}
	return times
}

// expectSummary is the run that fact 2 describes.
func expectSummary(t *testing.T) *Summary {
	b := build(t, testRun())
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, expect := range []string{"on", "off"} {
		raw := -1
		for _, method := range []string{"raw", "multipart", "form"} {
			id := b.cell(raw, 2e6, uploadLevels(method, "2MB", 2e6, Level{"expect", expect, expect})...)
			if method == "raw" {
				raw = id
			}
			for _, d := range around(rnd, 0.03, 10) {
				m := map[string]float64{"connect_s": 0, "wait_continue_s": 0, "produce_s": d / 10, "send_s": d / 2, "wait_s": d * 0.4, "receive_s": 0}
				if expect == "on" && method != "raw" {
					m["wait_continue_s"] = 1
					d++
				}
				b.sample(id, d, m)
			}
		}
	}
	return b.end()
}

// failuresSummary has a cell without a time, one with a failure, one that was
// not reached, and texts that need care in every format.
func failuresSummary(t *testing.T) *Summary {
	b := build(t, testRun())
	rnd := rand.New(rand.NewPCG(1, 2))
	raw := b.cell(-1, 1e6, uploadLevels("raw", "1MB", 1e6)...)
	for _, d := range around(rnd, 0.02, 8) {
		b.sample(raw, d, map[string]float64{"send_s": d / 2, "wait_s": d / 2, "accepted_202": 1})
	}
	b.write(&Sample{Cell: raw, At: b.at, Duration: seconds(0.01), Error: `put attachment "a.bin": 500 <b>|oops|</b>, *again* [x](y)` + "\nsecond line\tand a tab"})
	multipart := b.cell(raw, 1e6, uploadLevels("multipart", "1MB", 1e6)...)
	for range 3 {
		b.write(&Sample{Cell: multipart, At: b.at, Duration: seconds(60.2), Status: 500, Error: `put document to couchgauge-7f3a: 500 timeout: gave up after 31 MB of 64 MB`})
	}
	b.cell(raw, 1e6, uploadLevels("form", "1MB", 1e6)...)
	b.write(&Event{At: b.at, Warning: true, Text: "the listener disappeared after request 700; the last good cell was raw 1MB"})
	b.write(&End{At: b.at, Reason: "stopped", Error: "stopped: connection refused"})
	return b.sink.Summary()
}

// impossibleSummary has combinations that no method can send.
func impossibleSummary(t *testing.T) *Summary {
	b := build(t, testRun())
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, transfer := range []string{"length", "chunked"} {
		raw := -1
		for _, method := range []string{"raw", "multipart", "form"} {
			cell := &Cell{ID: b.cells, Baseline: max(raw, 0), Payload: 1e6, Levels: uploadLevels(method, "1MB", 1e6, Level{"transfer", transfer, transfer})}
			b.cells++
			if method == "raw" {
				raw, cell.Baseline = cell.ID, cell.ID
			}
			if transfer == "chunked" && method != "raw" {
				cell.Impossible = "CouchDB needs the length"
			}
			b.write(cell)
			if cell.Impossible != "" {
				continue
			}
			for _, d := range around(rnd, 0.02, 8) {
				b.sample(cell.ID, d, map[string]float64{"send_s": d / 2, "wait_s": d / 2})
			}
		}
	}
	return b.end()
}

// serversSummary is one cell on each of two servers.
func serversSummary(t *testing.T) *Summary {
	run := testRun()
	second := run.Servers[0]
	second.URL = "http://other.example:5984/"
	run.Servers = append(run.Servers, second)
	b := build(t, run)
	for server := range run.Servers {
		b.write(&Cell{ID: server, Server: server, Payload: 1000, Levels: uploadLevels("raw", "1kB", 1000)})
		b.sample(server, 0.002, nil)
	}
	return b.end()
}

// emptySummary is of attachments without a byte, too noisy to tell methods
// apart.
func emptySummary(t *testing.T) *Summary {
	b := build(t, testRun())
	rnd := rand.New(rand.NewPCG(1, 2))
	raw := -1
	for _, method := range methods[:3] {
		id := b.cell(raw, 0, uploadLevels(method, "0B", 0)...)
		if raw < 0 {
			raw = id
		}
		for range 10 {
			d := 0.0102 * math.Exp(rnd.NormFloat64())
			b.sample(id, d, map[string]float64{"send_s": d / 4, "wait_s": d * 3 / 4})
		}
	}
	return b.end()
}

// concurrencySummary is of uploads started together, which the server takes
// one after another.
func concurrencySummary(t *testing.T) *Summary {
	b := build(t, testRun())
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := int64(1); n <= 16; n *= 4 {
		raw := -1
		for _, method := range methods[:2] {
			levels := uploadLevels(method, "1MB", 1e6)
			levels[4] = Level{"concurrency", fmt.Sprint(n), n}
			id := b.cell(raw, n*1e6, levels...)
			if method == "raw" {
				raw = id
			}
			for _, d := range around(rnd, 0.02*float64(n), 10) {
				b.sample(id, d, map[string]float64{"send_s": d / 2, "wait_s": d / 2})
			}
		}
	}
	return b.end()
}

// appendSummary is case U2: four attachments, one after another, to one
// document.
func appendSummary(t *testing.T) *Summary {
	b := build(t, testRun())
	rnd := rand.New(rand.NewPCG(1, 2))
	for ordinal := 1; ordinal <= 4; ordinal++ {
		id := b.cell(-1, 1e6, uploadLevels("raw", "1MB", 1e6, Level{"ordinal", fmt.Sprint(ordinal), ordinal})...)
		for _, d := range around(rnd, 0.02*float64(1+ordinal), 10) {
			m := map[string]float64{"send_s": d / 2, "wait_s": d / 2}
			if ordinal > 2 {
				m["accepted_202"] = 1
			}
			b.sample(id, d, m)
		}
	}
	return b.end()
}

// replicationSummary is the optimisation of 2022 and two settings that make
// no difference (case T2).
func replicationSummary(t *testing.T) *Summary {
	run := testRun()
	run.Command, run.CommandLine = "replicate", "couchgauge replicate --set use_bulk_get=true,false"
	run.Data = nil
	source := run.Servers[0]
	source.Role, source.URL = "source", "http://uk.example:5984/source"
	target := run.Servers[0]
	target.Role, target.URL = "target", "http://us.example:5984/target"
	run.Servers = []Server{target, source}
	b := build(t, run)
	levels := func(bulkGet bool, processes int) []Level {
		return []Level{
			{"driver", "replicate", "replicate"}, {"topology", "1-1", "1-1"}, {"docs", "1000000", 1000000}, {"doc_bytes", "10kB", 10000},
			{"use_bulk_get", fmt.Sprint(bulkGet), bulkGet}, {"worker_processes", fmt.Sprint(processes), processes},
		}
	}
	base := -1
	for _, c := range []struct {
		bulkGet   bool
		processes int
		times     []float64
	}{
		{true, 4, []float64{1518, 1548, 1518, 1521, 1533, 1550}},
		{true, 16, []float64{1530, 1510, 1549, 1525, 1540, 1512}},
		{false, 4, []float64{4578, 4583, 4553, 4560, 4570, 4590}},
		{false, 16, []float64{4600}},
	} {
		id := b.cell(base, 10e9, levels(c.bulkGet, c.processes)...)
		if base < 0 {
			base = id
		}
		for _, d := range c.times {
			m := map[string]float64{"startup_s": 0.51, "docs_per_s": 1e6 / d, "bytes_per_s": 1e10 / d, "doc_write_failures": 0, "bulk_get_docs": 0}
			if c.bulkGet {
				m["bulk_get_docs"] = 1e6
			}
			b.sample(id, d, m)
		}
	}
	return b.end()
}

// driversSummary compares drivers: one tells of its stages, and one row is of
// filling the source.
func driversSummary(t *testing.T) *Summary {
	run := testRun()
	run.Command, run.CommandLine, run.Data = "replicate", "couchgauge replicate --driver replicator,couchgauge", nil
	b := build(t, run)
	rnd := rand.New(rand.NewPCG(1, 2))
	base := -1
	for _, c := range []struct {
		driver  string
		middle  float64
		samples int
	}{{"fill", 1.1, 1}, {"replicator", 4.1, 7}, {"couchgauge", 1.9, 7}} {
		levels := []Level{{"driver", c.driver, c.driver}, {"docs", "10000", 10000}, {"doc_bytes", "10kB", 10000}}
		if c.driver != "fill" {
			levels = append(levels, Level{"topology", "1-1", "1-1"})
		}
		id := b.cell(base, 1e8, levels...)
		if c.driver != "fill" && base < 0 {
			base = id
		}
		for _, d := range around(rnd, c.middle, c.samples) {
			m := map[string]float64{"docs_per_s": 10000 / d, "bytes_per_s": 1e8 / d}
			if c.driver == "couchgauge" {
				m["changes_s"], m["diff_s"], m["read_s"], m["write_s"] = 0.2, 0, 1.5, 3.8
				m["read_wait_out_s"], m["write_wait_in_s"] = 2.1, 0.05
			}
			b.sample(id, d, m)
		}
		b.write(&Sample{Cell: id, Error: c.driver + " did not answer"})
	}
	return b.end()
}

// countSummary is the count comparison of 2016, one server of it.
func countSummary(t *testing.T) *Summary {
	run := testRun()
	run.Command, run.CommandLine, run.Data = "count", "couchgauge count", nil
	b := build(t, run)
	base := -1
	for i, d := range []float64{1.488, 2.907, 4.237, 5.435} {
		matches := float64(i+1) * 100_000
		id := b.cell(base, 0, Level{"way", "view", "view"}, Level{"matches", fmt.Sprint(matches), matches})
		if base < 0 {
			base = id
		}
		for k := range 10 {
			b.sample(id, d+float64(k-5)/1000, map[string]float64{"counted": matches})
		}
	}
	return b.end()
}

// cutOffSummary is a run that was killed, behind a proxy, on the reference
// server.
func cutOffSummary(t *testing.T) *Summary {
	run := testRun()
	run.Servers[0].Reference = true
	run.CommandLine += " --format text --samples 10 -o a-recording-with-a-long-name.jsonl.zst"
	run.Servers[0].Proxy = "nginx/1.24.0"
	run.Servers[0].Limits = map[string]string{"couchdb/max_document_size": "unknown (not admin)", "couchdb/max_attachment_size": "unknown (not admin)"}
	b := build(t, run)
	id := b.cell(-1, 1000, uploadLevels("raw", "1kB", 1000)...)
	b.sample(id, 0.002, nil)
	b.at = b.at.Add(time.Second)
	return b.sink.Summary()
}
