package results

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestMethodVerdicts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		middles []float64 // by method
		samples int
		want    []string
	}{
		{"one is fastest", []float64{0.02, 0.04, 0.08}, 8, []string{"fastest at 1MB: raw; base64 takes 2.04x (1.97-2.06) as long, multipart takes 4.04x (3.95-4.08) as long"}},
		{"two are", []float64{0.04, 0.08, 0.04}, 8, []string{"fastest at 1MB: raw, multipart (no difference above the noise between them); base64 takes 2.04x (1.97-2.06) as long"}},
		{"none is", []float64{0.04, 0.04}, 8, []string{"at 1MB no method is faster than another above the noise: raw, base64"}},
		{"not the baseline", []float64{0.08, 0.04}, 8, []string{"fastest at 1MB: base64; raw takes 1.96x (1.94-2.03) as long"}},
		{"too few samples", []float64{0.02, 0.04}, 2, []string{"fastest at 1MB: raw; too few samples to tell: base64 1.98x?"}},
		{"one method", []float64{0.02}, 8, nil},
		{"one method has times", []float64{0.02, 0}, 8, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := build(t, testRun())
			rnd := rand.New(rand.NewPCG(1, 2))
			for i, middle := range tt.middles {
				id := b.cell(-1, 1e6, uploadLevels(methods[i], "1MB", 1e6)...)
				for _, d := range around(rnd, middle, tt.samples) {
					if middle > 0 {
						b.sample(id, d, nil)
					}
				}
			}
			if got := newPivot(b.end().Rows).methodVerdicts(); !slices.Equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestFactorVerdicts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		summary *Summary
		want    []string
	}{
		{"expect", expectSummary(t), []string{
			"multipart: expect=on takes 34.3x (34.0-34.8) as long as off", "form: expect=on takes 33.6x (33.4-34.7) as long as off",
		}},
		{"concurrency", concurrencySummary(t), []string{
			"raw: concurrency=16 takes 16.1x (15.7-16.2) as long as 1, for 16x the bytes", "base64: concurrency=16 takes 16.1x (15.5-16.3) as long as 1, for 16x the bytes",
		}},
		{"nothing varies", manualSummary(t, 10, 3), nil},
		{"ordinals have a warning of their own", appendSummary(t), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := newPivot(tt.summary.Rows).factorVerdicts(); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Replications have a verdict for those that are compared with each other, and
// rows that are compared with none have neither that nor a "1x".
func TestListVerdicts(t *testing.T) {
	row := func(id, baseline int, docs, driver string, seconds float64, n int) Row {
		r := Row{Cell: Cell{ID: id, Baseline: baseline, Levels: []Level{{Factor: "docs", Text: docs}, {Factor: "driver", Text: driver}}}}
		for i := range n {
			r.times = append(r.times, seconds*(1+float64(i)/1000))
		}
		r.Median = median(r.times)
		return r
	}
	rows := []Row{
		row(0, 0, "10", "replicate", 2, 6), row(1, 0, "10", "couchgauge", 1, 6),
		row(2, 2, "20", "replicate", 4, 6), row(3, 2, "20", "couchgauge", 1, 5),
	}
	got := listVerdicts(rows, []string{"docs", "driver"})
	if len(got) != 1 || !strings.HasPrefix(got[0], "fastest at docs=10: couchgauge; replicate takes 2.00x") {
		t.Errorf("%q, want one line, of the 10 documents", got)
	}
	if got := listVerdicts(rows[1:3], []string{"docs", "driver"}); got != nil {
		t.Errorf("rows that are not compared have the verdict %q", got)
	}
}
