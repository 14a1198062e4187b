package replicate

import (
	"strings"
	"testing"
)

func TestFitCost(t *testing.T) {
	var points []point
	for _, docs := range []float64{1, 10, 100, 1000, 10000} {
		points = append(points, point{docs: docs, bytes: 10 << 20, seconds: 0.25 + 0.0005*docs})
	}
	c, err := fitCost(points)
	if err != nil {
		t.Fatal(err)
	}
	if c.document < 0.00049 || c.document > 0.00051 || c.start < 0.249 || c.start > 0.251 {
		t.Errorf("cost %+v, want 0.25 s and 0.5 ms a document", c)
	}
	if s := c.String(); !strings.Contains(s, "each document costs 500µs") || !strings.Contains(s, "10 MiB cost 250ms") {
		t.Errorf("it says %q", s)
	}
	for _, bad := range [][]point{nil, points[:1], {points[0], points[0]}, {points[0], {docs: 2}}} {
		if _, err := fitCost(bad); err == nil {
			t.Errorf("%v gave a cost", bad)
		}
	}
}
