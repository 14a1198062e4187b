package main

import (
	"context"
	"errors"
	"fmt"

	"couchgauge/gen"
	"couchgauge/internal/couch"
	"couchgauge/results"
	"couchgauge/upload"

	"github.com/spf13/cobra"
)

func newUpload() *cobra.Command {
	var flags uploadFlags
	cmd := &cobra.Command{
		Use:   "upload [URL]",
		Short: "Measure attachment uploads: method x size",
		Long: `Measure how long a server takes to store attachments by each upload API, verify
what it stored, and tabulate the time for each size and method. Every flag whose
value can be a list is varied: the cells are the product of all lists.

Without a URL the reference server inside this binary is measured.`,
		Example: `  couchgauge upload
  couchgauge upload http://admin:secret@127.0.0.1:5984
  couchgauge upload --size 2MB --method raw,multipart --expect on,off URL
  couchgauge upload --size 1kB..16MB*4 --format markdown -o run.jsonl.zst URL`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := flags.plan()
			if err != nil {
				return err
			}
			if err := errors.Join(checkFormat(flags.format, levels(plan)), checkRecording(flags.file)); err != nil {
				return err
			}
			if err := refuseLarge(plan.Bytes(), flags.maxBytes); err != nil {
				return err
			}
			return runUpload(cmd, args, plan, flags)
		},
	}
	flags.register(cmd)
	return cmd
}

// levels are the cells of a plan as far as a table's shape depends on them.
func levels(plan upload.Plan) []results.Cell {
	var cells []results.Cell
	for i, c := range plan.Cells() {
		cells = append(cells, results.Cell{ID: i, Levels: c.Levels()})
	}
	return cells
}

// refuseLarge holds a plan to --max-bytes.
func refuseLarge(planned int64, limit string) error {
	most, err := parseBytes("max-bytes", limit)
	if err != nil {
		return err
	}
	if planned > most {
		return usagef("the plan writes %s, more than --max-bytes %s allows: choose fewer samples, sizes or methods, or raise it",
			gen.RoundBytes(planned), limit)
	}
	return nil
}

// runUpload takes the samples of plan on the server that args name.
func runUpload(cmd *cobra.Command, args []string, plan upload.Plan, flags uploadFlags) (err error) {
	ctx := cmd.Context()
	server, stop, err := target(args, plan.Timeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	welcome, err := hello(ctx, server)
	if err != nil {
		return err
	}
	if welcome.Discards() && plan.Verify != upload.VerifyOff {
		plan.Verify = upload.VerifyOff
		fmt.Fprintf(cmd.ErrOrStderr(), "%s stores nothing: nothing can be verified there\n", server.URL())
	}
	id := newRunID()
	databases := server.NewDatabases(id)
	defer func() {
		if !flags.keep {
			err = errors.Join(err, deleteAll(server, databases))
		}
	}()
	db, err := databases.Create(ctx, "upload", flags.q, flags.n)
	if err != nil {
		return err
	}
	if flags.keep {
		fmt.Fprintf(cmd.ErrOrStderr(), "database %s is kept: couchgauge clean removes it\n", db)
	}
	described, err := describe(ctx, server, "server", db)
	if err != nil {
		return err
	}
	run := newRun(ctx, id, "upload")
	run.Seed, run.Order, run.Samples, run.Warmup = plan.Seed, plan.Order, plan.Samples, plan.Warmup
	run.Servers, run.Data = []results.Server{described}, flags.shape()
	s, err := begin(run, flags.file, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	cells := len(plan.Cells())
	fmt.Fprintf(cmd.ErrOrStderr(), "%s, %s and %s of each, %s to write to %s\n", count(cells, "cell"),
		count(plan.Samples, "sample"), count(plan.Warmup, "warm-up"), gen.RoundBytes(plan.Bytes()), server.URL())
	var progress upload.Progress
	done := showBytes(cmd.ErrOrStderr(), &progress)
	_, runErr := upload.Run{Plan: plan, Server: server, Database: db, Sink: s, Progress: &progress}.Measure(ctx)
	done()
	return s.end(ctx, runErr, cmd.OutOrStdout(), flags.format)
}

// deleteAll deletes a run's databases, also after an interrupt.
func deleteAll(server *couch.Server, d *couch.Databases) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupPatience)
	defer cancel()
	if err := d.DeleteAll(ctx); err != nil {
		return fmt.Errorf("%w: couchgauge clean %s removes it later", err, server.URL())
	}
	return nil
}
