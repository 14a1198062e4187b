package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
)

const gibibyte = 1 << 30

// row is the part of a row of couchgauge's JSON that we read.
type row struct {
	Samples  int     `json:"samples"`
	Failed   int     `json:"failed"`
	Error    string  `json:"first_error"`
	Verified int     `json:"verified"`
	Median   float64 `json:"median_s"`
	Produce  float64 `json:"produce_s"` // in the median sample
}

// upload has couchgauge upload one attachment once, without a warm-up. Flags
// come on top.
func (b *bench) upload(ctx context.Context, url, method string, size int64, flags ...string) (row, usage, error) {
	return finishUpload(b.uploadCommand(ctx, url, method, size, flags...))
}

func (b *bench) uploadCommand(ctx context.Context, url, method string, size int64, flags ...string) *process {
	arguments := append([]string{"upload", "--method", method, "--size", strconv.FormatInt(size, 10) + "B",
		"--samples", "1", "--warmup", "0", "--verify", "off", "--format", "json"}, flags...)
	return b.command(ctx, b.program, append(arguments, url)...)
}

func finishUpload(p *process) (row, usage, error) {
	output, u, err := p.finish()
	var table struct {
		Rows []row `json:"rows"`
	}
	if bad := json.Unmarshal(output, &table); bad != nil || len(table.Rows) != 1 {
		return row{}, u, errors.Join(err, fmt.Errorf("couchgauge printed %d rows, want 1 (%v)", len(table.Rows), bad))
	}
	r := table.Rows[0]
	if err != nil || r.Failed > 0 || r.Samples == 0 {
		return r, u, fmt.Errorf("%d samples and %d failed ones, the first: %q: %w", r.Samples, r.Failed, r.Error, err)
	}
	return r, u, nil
}

// compareWithCurl sends 1 GiB to the sink by one method: made and encoded on
// the way by couchgauge, from a file with the same bytes by curl. Times are
// each one's own of the transfer; CPU is the whole process's, its start and
// couchgauge's questions to the server included.
func compareWithCurl(ctx context.Context, b *bench, method string) (err error) {
	if b.missing("curl") {
		return nil
	}
	sink, err := b.sink(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_, stopErr := sink.stop()
		err = errors.Join(err, stopErr)
	}()
	body, err := b.prepare(ctx, sink, method, gibibyte)
	if err != nil {
		return err
	}
	defer os.Remove(body.file)
	wall := figure{name: method + " 1 GiB, time", unit: seconds, limit: 1.15}
	cpu := figure{name: method + " 1 GiB, CPU", unit: seconds, limit: 1.3}
	if method == "raw" {
		wall.limit = 1
	}
	for range rounds {
		row, ours, err := b.upload(ctx, sink.url, method, gibibyte)
		if err != nil {
			return err
		}
		time, peer, err := b.curl(ctx, sink, body)
		if err != nil {
			return err
		}
		wall.ours, wall.peer = append(wall.ours, row.Median), append(wall.peer, time)
		cpu.ours, cpu.peer = append(cpu.ours, ours.cpu.Seconds()), append(cpu.peer, peer.cpu.Seconds())
	}
	b.print(wall)
	if method == "raw" {
		b.print(cpu)
	}
	return nil
}
