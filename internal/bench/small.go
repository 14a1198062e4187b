package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"

	"couchgauge/results"
)

//go:embed put.lua
var putScript []byte

// smallUploads compares 10-byte raw uploads with wrk: uploads a second over
// one connection and over 16, to the sink. Ours are counted from the start of
// the first sample to the end of the last, with all that is done in between.
func smallUploads(ctx context.Context, b *bench) (err error) {
	if b.missing("wrk") {
		return nil
	}
	script := filepath.Join(b.temporary, "put.lua")
	if err := os.WriteFile(script, putScript, 0o600); err != nil {
		return err
	}
	sink, err := b.sink(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_, stopErr := sink.stop()
		err = errors.Join(err, stopErr)
	}()
	for _, connections := range []int{1, 16} {
		f := figure{name: fmt.Sprintf("raw 10 B, connections: %d", connections), unit: perSecond, limit: 0.5, atLeast: true}
		for range rounds {
			ours, err := b.uploadsPerSecond(ctx, sink.url, connections)
			if err != nil {
				return err
			}
			peer, err := b.wrk(ctx, script, sink.url+database+"/document/a.bin", connections)
			if err != nil {
				return err
			}
			f.ours, f.peer = append(f.ours, ours), append(f.peer, peer)
		}
		b.print(f)
	}
	return nil
}

// uploadsPerSecond lets couchgauge upload 10 bytes over and over for about
// three seconds.
func (b *bench) uploadsPerSecond(ctx context.Context, url string, connections int) (float64, error) {
	recording := filepath.Join(b.temporary, "small.jsonl.zst")
	defer os.Remove(recording)
	_, _, err := b.upload(ctx, url, "raw", 10, "--concurrency", strconv.Itoa(connections),
		"--samples", "1000000", "--max-time", "3s", "--max-bytes", "1TB", "-o", recording)
	if err != nil {
		return 0, err
	}
	file, err := os.Open(recording)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var uploads int
	var first, last time.Time
	err = results.Read(file, func(r results.Record) error {
		if s, ok := r.(*results.Sample); ok {
			if uploads == 0 {
				first = s.At
			}
			uploads += connections
			last = s.At.Add(time.Duration(s.Duration))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return float64(uploads) / last.Sub(first).Seconds(), nil
}

var (
	requestsPerSecond = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	wrkErrors         = regexp.MustCompile(`(Non-2xx|Socket errors).*`)
)

// wrk runs wrk for three seconds and returns its requests per second.
func (b *bench) wrk(ctx context.Context, script, url string, connections int) (float64, error) {
	threads := min(connections, runtime.NumCPU())
	output, _, err := b.command(ctx, "wrk", "-t", strconv.Itoa(threads), "-c", strconv.Itoa(connections),
		"-d", "3s", "-s", script, url).finish()
	if err != nil {
		return 0, err
	}
	if bad := wrkErrors.Find(output); bad != nil {
		return 0, fmt.Errorf("wrk: %s", bad)
	}
	found := requestsPerSecond.FindSubmatch(output)
	if found == nil {
		return 0, fmt.Errorf("wrk printed no requests per second: %s", output)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}
