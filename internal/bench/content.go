package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/perf/benchfmt"
)

// randomContent runs gen's own benchmark on one core.
func randomContent(ctx context.Context, b *bench) error {
	output, _, err := b.command(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkRandom$",
		"-cpu", "1", "-count", strconv.Itoa(rounds), "./gen").finish()
	if err != nil {
		return err
	}
	f := figure{name: "random content", unit: gigabytes, limit: 3e9, atLeast: true}
	results := benchfmt.NewReader(bytes.NewReader(output), "gen")
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
		return fmt.Errorf("BenchmarkRandom gave %d speeds, want %d", len(f.ours), rounds)
	}
	b.print(f)
	return nil
}

// base64Stream takes the time that uploads of 1 GiB spend in their own body
// reader. Zeros cost next to nothing to make: what is left is the encoding.
func base64Stream(ctx context.Context, b *bench) (err error) {
	sink, err := b.sink(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_, stopErr := sink.stop()
		err = errors.Join(err, stopErr)
	}()
	f := figure{name: "base64 stream, input", unit: gigabytes, limit: 2.5e9, atLeast: true}
	for range rounds {
		row, _, err := b.upload(ctx, sink.url, "base64", gibibyte, "--content", "zeros")
		if err != nil {
			return err
		}
		f.ours = append(f.ours, gibibyte/row.Produce)
	}
	b.print(f)
	return nil
}
