package results

import (
	"math"
	"testing"
)

func TestRowCountsOnlySuccessfulSamples(t *testing.T) {
	b := build(t, testRun())
	id := b.cell(-1, 1000, uploadLevels("raw", "1kB", 1000)...)
	b.write(&Sample{Cell: id, Warmup: true, Duration: seconds(9), Verified: true})
	b.sample(id, 0.002, nil)
	b.sample(id, 0.004, nil)
	b.write(&Sample{Cell: id, Duration: seconds(8), Error: "stored length differs"})
	r := b.end().Rows[0]
	if r.Samples != 3 || r.Failed != 1 || r.Verified != 2 || r.FirstError != "stored length differs" {
		t.Errorf("samples %d, failed %d, verified %d, first error %q", r.Samples, r.Failed, r.Verified, r.FirstError)
	}
	if r.Median != 0.003 || r.Min != 0.002 || r.Max != 0.004 || r.P95 != 0.004 || !math.IsNaN(r.CILow) {
		t.Errorf("median %v, min %v, max %v, p95 %v, interval from %v", r.Median, r.Min, r.Max, r.P95, r.CILow)
	}
}
