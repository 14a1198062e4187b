package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"golang.org/x/perf/benchfmt"
)

func randomContent(ctx context.Context, b *bench) error {
	return b.oneCore(ctx, "random content", "./gen", "Random", 3e9)
}

func base64Stream(ctx context.Context, b *bench) error {
	return b.oneCore(ctx, "base64 stream, input", "./upload", "Base64", 2.5e9)
}

// oneCore runs a benchmark of a package on one core and holds its bytes per
// second against the limit.
func (b *bench) oneCore(ctx context.Context, name, folder, benchmark string, limit float64) error {
	output, _, err := b.command(ctx, "go", "test", "-run", "^$", "-bench", "^Benchmark"+benchmark+"$",
		"-cpu", "1", "-count", strconv.Itoa(rounds), folder).finish()
	if err != nil {
		return err
	}
	f := figure{name: name, unit: gigabytes, limit: limit, atLeast: true}
	results := benchfmt.NewReader(bytes.NewReader(output), folder)
	for results.Scan() {
		if r, ok := results.Result().(*benchfmt.Result); ok {
			if speed, ok := r.Value("B/s"); ok {
				f.ours = append(f.ours, speed)
			}
		}
	}
	if err := results.Err(); err != nil {
		return err
	}
	if len(f.ours) != rounds {
		return fmt.Errorf("benchmark %s in %s gave %d speeds, want %d", benchmark, folder, len(f.ours), rounds)
	}
	b.print(f)
	return nil
}
