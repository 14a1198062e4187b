package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"couchgauge/internal/couch"
	"couchgauge/replicate"
	"couchgauge/results"

	"github.com/spf13/cobra"
)

func newClean() *cobra.Command {
	var run, replicatorDB string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "clean URL",
		Short: "Remove databases, end jobs and restore settings that a killed run left",
		Long: `Remove the databases that runs of couchgauge left on a server, end their
replications, and restore the server's settings that they had changed. Only
databases whose names are exactly of couchgauge's form are touched. Runs that
are still going on would lose theirs: name one run with --run, or look first
with --dry-run.`,
		Args: needs("the URL of a server", cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			server, err := openServer(args[0], 0)
			if err != nil {
				return err
			}
			if _, err := hello(ctx, server); err != nil {
				return err
			}
			said := false
			c := cleaner{server: server, run: run, dryRun: dryRun, say: func(format string, a ...any) {
				said = true
				fmt.Fprintf(cmd.OutOrStdout(), format+"\n", a...)
			}}
			err = errors.Join(c.jobs(ctx, replicatorDB), c.databases(ctx), c.settings(ctx), c.recordings())
			if err == nil && !said {
				c.say("nothing of run %s at %s", run, server.URL())
			}
			return err
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "only what the run with this id left")
	cmd.Flags().StringVar(&replicatorDB, "replicator-db", "_replicator", "where replications may have left their documents")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be done")
	return cmd
}

// cleaner removes what killed runs left on one server.
type cleaner struct {
	server *couch.Server
	run    string // only this run's; empty = any
	dryRun bool
	say    func(format string, a ...any)
}

// jobs ends replications before their databases go.
func (c cleaner) jobs(ctx context.Context, replicatorDB string) error {
	jobs, err := replicate.LeftoverJobs(ctx, c.server, replicatorDB)
	if err != nil {
		return err
	}
	var errs []error
	for _, j := range jobs {
		if c.run != "" && j.Run != c.run {
			continue
		}
		if c.dryRun {
			c.say("would end %v", j)
			continue
		}
		if err := j.Stop(ctx, c.server); err != nil {
			errs = append(errs, err)
			continue
		}
		c.say("ended %v", j)
	}
	return errors.Join(errs...)
}

func (c cleaner) databases(ctx context.Context) error {
	names, err := c.server.Leftovers(ctx)
	if err != nil {
		return err
	}
	var errs []error
	found, deleted := 0, 0
	for _, name := range names {
		if c.run != "" && couch.RunOf(name) != c.run {
			continue
		}
		found++
		if c.dryRun {
			c.say("would delete %s", name)
			continue
		}
		if err := c.server.DeleteLeftover(ctx, name); err != nil {
			errs = append(errs, err)
			continue
		}
		c.say("deleted %s", name)
		deleted++
	}
	switch {
	case found == 0 && c.run != "": // there may be more of it than databases
	case !c.dryRun:
		c.say("%s deleted at %s", count(deleted, "database"), c.server.URL())
	case found == 0:
		c.say("no database to delete at %s", c.server.URL())
	}
	return errors.Join(errs...)
}

func (c cleaner) settings(ctx context.Context) error {
	dir, err := couch.StateDir(os.Getenv)
	if err != nil {
		return err
	}
	journals, err := c.server.LeftoverJournals(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, j := range journals {
		if c.run != "" && !strings.HasPrefix(filepath.Base(j.Path()), c.run+"-") {
			continue
		}
		if c.dryRun {
			c.say("would restore the settings in %s", j.Path())
			continue
		}
		if err := j.Restore(ctx); err != nil {
			errs = append(errs, err)
			continue
		}
		c.say("restored the settings in %s", j.Path())
	}
	return errors.Join(errs...)
}

// recordings tells of those that runs on this server left; they may be all that
// there is of hours of measuring, so they are not removed.
func (c cleaner) recordings() error {
	dir, err := couch.StateDir(os.Getenv)
	if err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*"+recordingSuffix))
	if err != nil {
		return fmt.Errorf("look for recordings: %w", err)
	}
	for _, path := range paths {
		s, err := summarize(path)
		if err != nil || !c.measured(&s.Run) {
			continue // another server's, or one that has just begun
		}
		until := "ended"
		if s.End == nil {
			until = "was killed"
		}
		c.say("what run %s measured until it %s: couchgauge report %s (remove the file when done)", s.Run.ID, until, path)
	}
	return nil
}

// measured says whether the run was one of those to be cleaned up.
func (c cleaner) measured(run *results.Run) bool {
	return (c.run == "" || c.run == run.ID) &&
		slices.ContainsFunc(run.Servers, func(s results.Server) bool { return s.URL == c.server.URL() })
}
