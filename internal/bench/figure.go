package main

import (
	"fmt"
	"slices"
)

// unit formats a figure.
type unit func(float64) string

func seconds(v float64) string   { return fmt.Sprintf("%.3f s", v) }
func perSecond(v float64) string { return fmt.Sprintf("%.0f/s", v) }
func gigabytes(v float64) string { return fmt.Sprintf("%.2f GB/s", v/1e9) }
func mebibytes(v float64) string { return fmt.Sprintf("%.1f MiB", v/(1<<20)) }

// figure is one line of the report.
type figure struct {
	name string
	unit unit
	ours []float64
	peer []float64 // empty: the median of ours is held against the limit, not a ratio

	limit   float64 // what is promised of the ratio ours to peer
	atLeast bool    // more is better
}

const (
	layout  = "%-30s %12s %12s %7s  %-14s %s\n"
	spacing = "%-30s %12s %12s %7s  %s\n"
)

var heading = fmt.Sprintf(spacing, "", "couchgauge", "peer", "ratio", "promised")

func (b *bench) print(f figure) {
	ours := median(f.ours)
	value, theirs, ratio, promised := ours, "", "", f.unit(f.limit)
	if len(f.peer) > 0 {
		value = ours / median(f.peer)
		theirs, ratio = f.unit(median(f.peer)), fmt.Sprintf("%.2f", value)
		promised = fmt.Sprintf("%.2f", f.limit)
	}
	sign, kept := "≤ ", value <= f.limit
	if f.atLeast {
		sign, kept = "≥ ", value >= f.limit
	}
	verdict := "kept"
	if !kept {
		verdict = "MISSED"
	}
	fmt.Fprintf(b.out, layout, f.name, f.unit(ours), theirs, ratio, sign+promised, verdict)
}

// median is the middle value, or the mean of the two middle ones.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
