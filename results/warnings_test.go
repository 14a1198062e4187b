package results

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// scene is a run with one raw cell of 8 MB over a round trip of 93 ms, unless
// changed.
type scene struct {
	trip     time.Duration
	connect  time.Duration
	load     float64 // on 4 CPUs
	levels   []Level // instead of uploadLevels'
	size     int64
	times    []float64
	measures func(d float64) map[string]float64
	failure  *Sample
	doubtful bool // not verified
}

func (c scene) summary(t *testing.T) *Summary {
	run := testRun()
	run.Servers[0].RoundTrip, run.Servers[0].Connect = Seconds(c.trip), Seconds(c.connect)
	run.Client.Load1 = c.load
	b := build(t, run)
	levels := uploadLevels("raw", fmt.Sprint(c.size), c.size)
	for _, l := range c.levels {
		levels[slices.IndexFunc(levels, func(old Level) bool { return old.Factor == l.Factor })] = l
	}
	id := b.cell(-1, c.size, levels...)
	for _, d := range c.times {
		s := &Sample{Cell: id, Duration: seconds(d), Verified: !c.doubtful}
		if c.measures != nil {
			s.Measures = c.measures(d)
		}
		b.write(s)
	}
	if c.failure != nil {
		c.failure.Cell = id
		b.write(c.failure)
	}
	return b.end()
}

// shares divides a duration into phases.
func shares(phase map[string]float64) func(float64) map[string]float64 {
	return func(d float64) map[string]float64 {
		m := map[string]float64{}
		for name, share := range phase {
			m[name] = d * share
		}
		return m
	}
}

// always adds the same figure to every sample.
func always(name string, v float64) func(float64) map[string]float64 {
	return func(float64) map[string]float64 { return map[string]float64{name: v} }
}

func TestWarnings(t *testing.T) {
	ms := time.Millisecond
	sent := shares(map[string]float64{"send_s": 0.9, "wait_s": 0.1})
	waited := shares(map[string]float64{"send_s": 0.1, "wait_s": 0.9})
	steady := []float64{0.100, 0.101, 0.102, 0.103, 0.104, 0.105, 0.106, 0.107}
	slow := []float64{3.300, 3.301, 3.302, 3.303, 3.304, 3.305}
	for _, tt := range []struct {
		name  string
		scene scene
		code  string
		want  string // "" = no such warning
	}{
		{"nothing wrong", scene{times: steady}, "", ""},

		{"a failure", scene{times: steady, failure: &Sample{Error: "413 too_large"}}, "failed", "1 of 9 samples failed: 413 too_large"},
		{"no failure", scene{times: steady}, "failed", ""},

		{"given up at 60 s", scene{failure: &Sample{Duration: seconds(60.3), Error: "500 timeout"}}, "gave_up", "failed after 60.3 s: CouchDB gives up an update after 60 s"},
		{"failed at once", scene{failure: &Sample{Duration: seconds(0.1), Error: "500 timeout"}}, "gave_up", ""},
		{"failed late", scene{failure: &Sample{Duration: seconds(300), Error: "500 timeout"}}, "gave_up", ""},

		{"not verified", scene{times: steady, doubtful: true}, "unverified", "was not compared for 8 samples"},
		{"verified", scene{times: steady, failure: &Sample{Error: "no"}}, "unverified", ""},

		{"202", scene{times: steady, measures: always("accepted_202", 1)}, "accepted_202", "8 answers were 202 instead of 201"},
		{"201", scene{times: steady, measures: always("accepted_202", 0)}, "accepted_202", ""},

		{"429", scene{times: steady, measures: func(float64) map[string]float64 {
			return map[string]float64{"retries_429": 2, "waited_429_s": 0.5}
		}}, "retries_429", "16 answers were 429, too many requests (raw 8000000): 4.00 s of waiting"},
		{"no 429", scene{times: steady, measures: always("retries_429", 0)}, "retries_429", ""},

		{"no 100 Continue", scene{times: []float64{1.01, 1.02, 1.03, 1.04, 1.05, 1.06}, measures: always("wait_continue_s", 1.001)}, "expect", "1.00 s of the median is the wait for 100 Continue (wait_continue_s), which the server never sent"},
		{"100 Continue", scene{times: steady, measures: always("wait_continue_s", 0.004)}, "expect", ""},
		{"far away", scene{times: slow, measures: always("wait_continue_s", 3)}, "expect", ""},

		// 8 MB in 2.97 s of sending at 93 ms: 250 kB each.
		{"a fixed window", scene{trip: 93 * ms, times: slow, measures: sent}, "window", "2.97 s of sending at a round trip of 93.0 ms is at most 244 KiB per round trip: a fixed receive buffer"},
		{"a slow server nearby", scene{trip: 93 * ms, connect: ms / 5, times: slow, measures: sent}, "window", ""},
		{"a window, by the time to connect", scene{trip: 200 * ms, connect: 93 * ms, times: slow, measures: sent}, "window", "at a round trip of 93.0 ms"},
		{"near", scene{trip: ms / 5, times: slow, measures: sent}, "window", ""},
		{"the server's time", scene{trip: 93 * ms, times: slow, measures: waited}, "window", ""},
		{"few round trips", scene{trip: 500 * ms, times: slow, measures: sent}, "window", ""},
		{"a wide link", scene{trip: 93 * ms, size: 1e9, times: slow, measures: sent}, "window", ""},
		{"several connections", scene{trip: 93 * ms, times: slow, measures: sent, levels: []Level{{"concurrency", "4", 4}}}, "window", ""},

		{"a busy machine", scene{times: steady, load: 6.1}, "busy", "load 6.10 on 4 CPUs"},
		{"a machine at work", scene{times: steady, load: 6}, "busy", ""},

		{"the client's cost", scene{times: steady, measures: shares(map[string]float64{"produce_s": 0.62, "send_s": 0.38})}, "client_cost", "up to 62%"},
		{"a cheap client", scene{times: steady, measures: shares(map[string]float64{"produce_s": 0.4, "send_s": 0.6})}, "client_cost", ""},

		{"waiting for the server", scene{trip: ms, times: steady, measures: waited}, "server_time", "90% of the median is wait, 93.1 ms after the body was sent (a round trip takes 1.00 ms)"},
		{"waiting for the network", scene{trip: 60 * ms, times: steady, measures: waited}, "server_time", ""},
		{"waiting for a server that is slow to answer anything", scene{trip: 60 * ms, connect: ms, times: steady, measures: waited}, "server_time", "a round trip takes 1.00 ms"},
		{"not waiting", scene{trip: ms, times: steady, measures: sent}, "server_time", ""},

		{"few samples", scene{times: steady[:5]}, "few_samples", "1 of 1 row came from fewer than 6 samples"},
		{"enough samples", scene{times: steady[:6]}, "few_samples", ""},

		{"a wide interval", scene{times: []float64{0.1, 0.1, 0.11, 0.13, 0.15, 0.16}}, "wide", "up to -17+33%"},
		{"a narrow interval", scene{times: steady}, "wide", ""},

		{"an outlier", scene{times: append(slices.Clone(steady), 0.9)}, "outliers", "1 of 9 samples are outliers (slowest: raw 8000000, 8.65 times its median)"},
		{"far in deviations, near in time", scene{times: append(slices.Clone(steady), 0.120)}, "outliers", ""},
		{"all the same but one", scene{times: []float64{1, 1, 1, 1, 1, 1, 9}}, "outliers", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.scene.size == 0 {
				tt.scene.size = 8e6
			}
			if tt.scene.trip == 0 {
				tt.scene.trip = ms
			}
			found := tt.scene.summary(t).Warnings
			for _, w := range found {
				if strings.Contains(w.Text, "\n") {
					t.Errorf("more than a line: %s", w.Text)
				}
			}
			i := slices.IndexFunc(found, func(w Warning) bool { return w.Code == tt.code || tt.code == "" })
			switch {
			case tt.want == "" && i >= 0:
				t.Errorf("warns for nothing: %s", found[i].Text)
			case tt.want != "" && i < 0:
				t.Errorf("no %s in %v", tt.code, found)
			case tt.want != "" && !strings.Contains(found[i].Text, tt.want):
				t.Errorf("got %s\nwant %q in it", found[i].Text, tt.want)
			}
		})
	}
}

func TestWindowMustBeTheSameForAllSizes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		second float64 // seconds for 16 MB
		warns  bool
	}{{"twice the bytes, twice the time", 6.6, true}, {"twice the bytes, the same time", 3.4, false}} {
		t.Run(tt.name, func(t *testing.T) {
			run := testRun()
			run.Servers[0].Connect = seconds(0.093)
			b := build(t, run)
			for i, d := range []float64{3.3, tt.second} {
				size := int64(8e6 * (i + 1))
				id := b.cell(-1, size, uploadLevels("raw", fmt.Sprint(size), size)...)
				b.sample(id, d, map[string]float64{"send_s": d})
			}
			if got := len(findWindow(b.end())) > 0; got != tt.warns {
				t.Errorf("warns: %v, want %v", got, tt.warns)
			}
		})
	}
}

func TestOrdinals(t *testing.T) {
	for _, tt := range []struct {
		name    string
		middles []float64
		want    string
	}{
		{"slower and slower", []float64{0.02, 0.03, 0.04, 0.05}, "number 4 takes 2.5"},
		{"steady", []float64{0.02, 0.02, 0.02, 0.02}, ""},
		{"twice as long, with some noise", []float64{0.02, 0.026, 0.025, 0.035, 0.04}, "number 5 takes 1.96"},
		{"up and down", []float64{0.02, 0.05, 0.03, 0.04}, ""},
		{"two", []float64{0.02, 0.05}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := build(t, testRun())
			rnd := rand.New(rand.NewPCG(1, 2))
			for i, middle := range tt.middles {
				id := b.cell(-1, 1e6, uploadLevels("raw", "1MB", 1e6, Level{"ordinal", fmt.Sprint(i + 1), i + 1})...)
				for _, d := range around(rnd, middle, 8) {
					b.sample(id, d, nil)
				}
			}
			got := strings.Join(findOrdinal(b.end()), "\n")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}

func TestDrift(t *testing.T) {
	for _, tt := range []struct {
		name   string
		growth float64 // over the run
		want   string
	}{{"slower and slower", 0.6, "took 1.2"}, {"faster and faster", -0.4, "took 0.7"}, {"steady", 0, ""}, {"a little", 0.05, ""}} {
		t.Run(tt.name, func(t *testing.T) {
			b := build(t, testRun())
			rnd := rand.New(rand.NewPCG(1, 2))
			cells := []int{b.cell(-1, 10, uploadLevels("raw", "10B", 10)...), b.cell(-1, 1e6, uploadLevels("raw", "1MB", 1e6)...)}
			for round := range 20 {
				for i, id := range cells {
					middle := []float64{0.001, 0.5}[i] * (1 + tt.growth*float64(round)/20)
					b.sample(id, around(rnd, middle, 1)[0], nil)
				}
			}
			got := strings.Join(findDrift(b.end()), "\n")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}

func TestEventsAreToldOnce(t *testing.T) {
	b := build(t, testRun())
	for i := range 2 * maxEvents {
		b.write(&Event{Warning: true, Text: fmt.Sprintf("event %d", i/2)})
	}
	b.write(&Event{Text: "no warning"})
	s := b.end()
	if n := len(s.Warnings); n != maxEvents/2+1 || s.Warnings[0].Text != "event 0" || s.Warnings[n-1].Text != "50 more warnings are in the recording only" {
		t.Errorf("%d warnings: %v", n, s.Warnings)
	}
}

func TestManyFailuresAreCounted(t *testing.T) {
	b := build(t, testRun())
	for i := range maxFailures + 3 {
		id := b.cell(-1, 1, uploadLevels("raw", fmt.Sprint(i), int64(i))...)
		b.write(&Sample{Cell: id, Error: "no"})
	}
	got := findFailed(b.end())
	if n := len(got); n != maxFailures+1 || !strings.HasPrefix(got[n-1], "samples failed in 3 more cells") {
		t.Errorf("%d lines, the last: %s", n, got[n-1])
	}
}

func TestNamesOfRows(t *testing.T) {
	s := manualSummary(t, 1, 3) // rows in order of size, then method
	all := s.where(func(*Row) bool { return true })
	five := manualSummary(t, 1, 5)
	for _, tt := range []struct {
		name string
		s    *Summary
		rows []*Row
		want string
	}{
		{"one", s, all[1:2], "base64 10^1"},
		{"of one size", s, all[:3], "raw, base64, multipart 10^1"},
		{"of two sizes", s, all[1:4], "base64, multipart 10^1; raw 10^2"},
		{"many", s, all[1:9], "base64, multipart 10^1; raw, base64, multipart 10^2 and 3 more"},
		{"all", s, all, "all rows"},
		{"five of one size", five, five.where(func(r *Row) bool { return r.levelText("size_bytes") == "10^9" }), "raw, base64, multipart, form, bulk 10^9"},
		{"expect too", expectSummary(t), expectSummary(t).where(func(r *Row) bool { return r.levelText("expect") == "on" }), "raw expect=on, multipart expect=on, form expect=on"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.s.names(tt.rows); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNamesOfAllRowsOfASize(t *testing.T) {
	b := build(t, testRun())
	for _, size := range []string{"1kB", "1MB"} {
		for ordinal := range maxNames + 1 {
			b.sample(b.cell(-1, 1, uploadLevels("raw", size, 1, Level{"ordinal", fmt.Sprint(ordinal), ordinal})...), 1, nil)
		}
	}
	s := b.end()
	if got := s.names(s.where(func(r *Row) bool { return r.levelText("size_bytes") == "1MB" })); got != "all rows of 1MB" {
		t.Errorf("got %q", got)
	}
}
