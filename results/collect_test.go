package results

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRowCountsOnlySuccessfulSamples(t *testing.T) {
	b := build(t, testRun())
	id := b.cell(-1, 1000, uploadLevels("raw", "1kB", 1000)...)
	b.write(&Sample{Cell: id, Warmup: true, Duration: seconds(9), Verified: true, Measures: map[string]float64{"accepted_202": 1}})
	b.sample(id, 0.002, map[string]float64{"accepted_202": 1})
	b.sample(id, 0.004, nil)
	b.write(&Sample{Cell: id, Duration: seconds(8), Error: "stored length differs", Measures: map[string]float64{"accepted_202": 1}})
	b.write(&Sample{Cell: id, Duration: seconds(7), Error: "another"})
	r := b.end().Rows[0]
	if r.Samples != 4 || r.Failed != 2 || r.Verified != 2 || r.FirstError != "stored length differs" {
		t.Errorf("samples %d, failed %d, verified %d, first error %q", r.Samples, r.Failed, r.Verified, r.FirstError)
	}
	if r.Median != 0.003 || r.Min != 0.002 || r.Max != 0.004 || r.P95 != 0.004 || !math.IsNaN(r.CILow) {
		t.Errorf("median %v, min %v, max %v, p95 %v, interval from %v", r.Median, r.Min, r.Max, r.P95, r.CILow)
	}
	if got := r.Value("accepted_202"); got != 2.0 {
		t.Errorf("accepted_202 = %v, want the 2 of samples that are no warm-ups", got)
	}
}

func TestRowWithoutTimes(t *testing.T) {
	b := build(t, testRun())
	failed := b.cell(-1, 1000, uploadLevels("raw", "1kB", 1000)...)
	b.write(&Sample{Cell: failed, Error: "no"})
	b.cell(failed, 1000, uploadLevels("form", "1kB", 1000)...)
	for _, r := range b.end().Rows {
		for _, c := range []string{"median_s", "ci_low_s", "min_s", "max_s", "p95_s", "relative_low", "throughput_bytes_per_s", "send_s", "wire_bytes", "accepted_202"} {
			if got := r.Value(c); got != nil {
				t.Errorf("%s: %s = %v", r.levelText("method"), c, got)
			}
		}
	}
}

func TestPhasesAreThoseOfTheMedianSample(t *testing.T) {
	phases := func(send, wait float64) map[string]float64 {
		return map[string]float64{"send_s": send, "wait_s": wait}
	}
	for _, tt := range []struct {
		name             string
		samples          []map[string]float64 // their sum is the duration
		send, wait, both float64
	}{
		{"one", []map[string]float64{phases(1, 2)}, 1, 2, 3},
		{"odd", []map[string]float64{phases(9, 1), phases(1, 2), phases(3, 1)}, 3, 1, 4},
		{"even", []map[string]float64{phases(9, 1), phases(1, 2), phases(3, 1), phases(2, 6)}, 2.5, 3.5, 6},
		{"one of two lacks it", []map[string]float64{phases(2, 1), {"wait_s": 5}}, 1, 3, 4},
		{"nobody has it", []map[string]float64{{"wait_s": 5}}, nan, 5, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := build(t, testRun())
			id := b.cell(-1, 1000, uploadLevels("raw", "1kB", 1000)...)
			for _, m := range tt.samples {
				b.sample(id, m["send_s"]+m["wait_s"], m)
			}
			r := b.end().Rows[0]
			if send, wait := r.number("send_s"), r.number("wait_s"); !same(send, tt.send) || wait != tt.wait || r.Median != tt.both {
				t.Errorf("send %v, wait %v, median %v; want %v, %v, %v", send, wait, r.Median, tt.send, tt.wait, tt.both)
			}
		})
	}
}

func TestRelativeIsToTheBaseline(t *testing.T) {
	b := build(t, testRun())
	raw := b.cell(-1, 1000, uploadLevels("raw", "1kB", 1000)...)
	slower := b.cell(raw, 1000, uploadLevels("base64", "1kB", 1000)...)
	alike := b.cell(raw, 1000, uploadLevels("form", "1kB", 1000)...)
	orphan := b.cell(99, 1000, uploadLevels("bulk", "1kB", 1000)...)
	for i := range 6 {
		d := 0.010 + 0.001*float64(i)
		b.sample(raw, d, nil)
		b.sample(slower, 3*d, nil)
		b.sample(alike, 1.02*d, nil)
		b.sample(orphan, d, nil)
	}
	s := b.end()
	for _, tt := range []struct {
		id       int
		relative float64
		shown    string
	}{{raw, 1, "1x"}, {slower, 3, "3.00x"}, {alike, 1.02, "~"}, {orphan, nan, ""}} {
		r := s.row(tt.id)
		if !same(math.Round(r.Relative*1e9)/1e9, tt.relative) || r.timesText() != tt.shown {
			t.Errorf("%s: %v, shown as %q; want %v, %q", r.levelText("method"), r.Relative, r.timesText(), tt.relative, tt.shown)
		}
	}
	if r := s.row(alike); !(r.RelativeLow < 1 && r.RelativeHigh > 1) {
		t.Errorf("the interval %v to %v of what is alike does not hold 1", r.RelativeLow, r.RelativeHigh)
	}
}

func TestCollectorRefusesNonsense(t *testing.T) {
	c := NewCollector()
	if err := c.Write(&Sample{Cell: 7}); err == nil || !strings.Contains(err.Error(), "cell 7") {
		t.Errorf("a sample of no cell: %v", err)
	}
	if err := c.Write(&Cell{ID: 7}); err != nil {
		t.Fatal(err)
	}
	if err := c.Write(&Cell{ID: 7}); err == nil {
		t.Error("the same cell twice was taken")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	b := build(t, testRun())
	id := b.cell(-1, 10, uploadLevels("raw", "10B", 10)...)
	rnd := rand.New(rand.NewPCG(11, 12))
	const n = 5 * keep
	var all []float64
	var least, most time.Duration = math.MaxInt64, 0
	for range n {
		d := time.Duration(1e6 * math.Exp(rnd.NormFloat64()/2))
		all = append(all, d.Seconds())
		least, most = min(least, d), max(most, d)
		b.write(&Sample{Cell: id, Duration: Seconds(d), Verified: true, Measures: map[string]float64{"send_s": d.Seconds()}})
		b.write(&Event{Text: "noise"})
	}
	r := b.end().Rows[0]
	if got := len(r.data.series.points); got != keep || cap(r.data.series.points) > 2*keep {
		t.Errorf("%d points are kept, room for %d", got, cap(r.data.series.points))
	}
	if r.Samples != n || r.Verified != n || r.Min != least.Seconds() || r.Max != most.Seconds() {
		t.Errorf("samples %d, verified %d, min %v, max %v are not those of all", r.Samples, r.Verified, r.Min, r.Max)
	}
	slices.Sort(all)
	if whole := median(all); !(r.CILow <= whole && whole <= r.CIHigh) || math.Abs(r.Median/whole-1) > 0.02 {
		t.Errorf("median %v (%v to %v), of all samples %v", r.Median, r.CILow, r.CIHigh, whole)
	}
	if r.number("send_s") != r.Median {
		t.Errorf("the phase %v is not of the median sample, %v", r.number("send_s"), r.Median)
	}
}

func TestGrowth(t *testing.T) {
	// The growth that was reported in 2016 (case T6), in per cent.
	for i, want := range []float64{nan, 95.36, 45.75, 28.27} {
		r := countSummary(t).Rows[i]
		if got := math.Round(r.Growth*10000) / 100; !same(got, want) && math.Abs(got-want) > 0.06 {
			t.Errorf("row %d: growth %v %%, want %v %%", i, got, want)
		}
	}
}

func BenchmarkCollect(b *testing.B) {
	c := NewCollector()
	if err := c.Write(&Cell{}); err != nil {
		b.Fatal(err)
	}
	s := &Sample{Duration: 1e6, Measures: map[string]float64{"connect_s": 0, "produce_s": 0, "send_s": 1e-4, "wait_s": 9e-4, "receive_s": 0, "wire_bytes": 400, "accepted_202": 0}}
	for b.Loop() {
		if err := c.Write(s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	var file closer
	r, err := newRecording(&file, testRun(), nil)
	if err != nil {
		b.Fatal(err)
	}
	s := &Sample{Duration: 1e6, At: started, Measures: map[string]float64{"connect_s": 0, "produce_s": 0, "send_s": 1e-4, "wait_s": 9e-4, "receive_s": 0, "wire_bytes": 400, "accepted_202": 0}}
	for b.Loop() {
		if err := r.Write(s); err != nil {
			b.Fatal(err)
		}
	}
}
