package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{4, 1}, 2.5},
		{[]float64{9, 1, 2}, 2},
		{[]float64{1, 8, 4, 2}, 3},
	} {
		if got := median(test.values); got != test.want {
			t.Errorf("median of %v: %v, want %v", test.values, got, test.want)
		}
	}
}

func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		name   string
		figure figure
		want   string
	}{
		{"a ratio that is small enough", figure{unit: seconds, ours: []float64{1}, peer: []float64{1}, limit: 1},
			"1.000 s 1.000 s 1.00 ≤ 1.00 kept"},
		{"a ratio that is too large", figure{unit: seconds, ours: []float64{3}, peer: []float64{2}, limit: 1.15},
			"3.000 s 2.000 s 1.50 ≤ 1.15 MISSED"},
		{"a ratio that is large enough", figure{unit: perSecond, ours: []float64{5}, peer: []float64{10}, limit: 0.5, atLeast: true},
			"5/s 10/s 0.50 ≥ 0.50 kept"},
		{"a speed that is too small", figure{unit: gigabytes, ours: []float64{2e9, 1e9, 4e9}, limit: 3e9, atLeast: true},
			"2.00 GB/s ≥ 3.00 GB/s MISSED"},
		{"a memory that is small enough", figure{unit: mebibytes, ours: []float64{48 << 20}, limit: 64 << 20},
			"48.0 MiB ≤ 64.0 MiB kept"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			(&bench{out: &out}).print(test.figure)
			if got := strings.Join(strings.Fields(out.String()), " "); got != test.want {
				t.Errorf("printed %q, want %q", got, test.want)
			}
		})
	}
}

func TestResident(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc here")
	}
	if got := resident(os.Getpid()); got < 1<<20 || got > 1<<40 {
		t.Errorf("%d bytes resident in this test, want some MiB", got)
	}
}
