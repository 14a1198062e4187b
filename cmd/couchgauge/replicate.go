package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"couchgauge/gen"
	"couchgauge/internal/couch"
	"couchgauge/internal/refserver"
	"couchgauge/replicate"
	"couchgauge/results"

	"github.com/spf13/cobra"
)

func newReplicate() *cobra.Command {
	var flags replicateFlags
	cmd := &cobra.Command{
		Use:   "replicate [SOURCE [TARGET]]",
		Short: "Measure replication: data shape x settings",
		Long: `Measure how long replication between CouchDB-compatible servers takes under
chosen settings, and verify every leaf revision that arrived. Every flag whose
value can be a list is varied: the cells are the product of all lists. Every
sample has fresh target databases.

SOURCE and TARGET are servers: couchgauge makes databases of its own on both.
Without a URL both sides are on the reference server inside this binary; with
one, both are on that server.`,
		Example: `  couchgauge replicate
  couchgauge replicate --set use_bulk_get=true,false --docs 10000 --doc-size 10kB URL
  couchgauge replicate --driver replicate,couchgauge --topology chain --n 4 URL
  couchgauge replicate --continuous --rate 200 --for 20s SOURCE TARGET`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := flags.plan()
			if err != nil {
				return err
			}
			if err := flags.contradictions(cmd.Flags().Changed); err != nil {
				return err
			}
			if err := errors.Join(checkFormat(flags.format, plan.Cells()), checkRecording(flags.file)); err != nil {
				return err
			}
			if err := refuseLarge(plan.Bytes(), flags.maxBytes); err != nil {
				return err
			}
			return runReplicate(cmd, args, plan, flags)
		},
	}
	flags.register(cmd)
	return cmd
}

// peers are the servers of a run.
type peers struct {
	source, target replicate.Peer
	replicator     *replicate.Peer // nil unless a third server runs the jobs
	servers        []results.Server
}

// writes says how much a plan writes to which servers.
func (p peers) writes(plan replicate.Plan) string {
	source, target := plan.BytesBySide()
	from, to := p.source.Server.URL(), p.target.Server.URL()
	if from == to {
		return fmt.Sprintf("%s to write to %s", gen.RoundBytes(source+target), to)
	}
	return fmt.Sprintf("%s to write to %s and %s to %s", gen.RoundBytes(source), from, gen.RoundBytes(target), to)
}

// runReplicate takes the samples of plan between the servers that args name.
func runReplicate(cmd *cobra.Command, args []string, plan replicate.Plan, flags replicateFlags) (err error) {
	ctx := cmd.Context()
	if len(args) == 0 {
		r, err := startReference("127.0.0.1:0", refserver.Options{})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		args = []string{r.URL}
	}
	id := newRunID()
	p, err := flags.meet(ctx, args, id)
	if err != nil {
		return err
	}
	stateDir, err := couch.StateDir(os.Getenv)
	if err != nil {
		return err
	}
	sink := &lateSink{}
	var progress replicate.Progress
	prepared, err := replicate.Prepare(ctx, replicate.Env{
		Source: p.source, Target: p.target, Replicator: p.replicator,
		RunID: id, StateDir: stateDir, Sink: sink, Progress: &progress,
	}, plan)
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupPatience)
		defer cancel()
		err = errors.Join(err, prepared.Close(ctx))
	}()
	if err != nil {
		var wrong *replicate.AddressError
		if errors.As(err, &wrong) {
			return &exitError{exitRefused, err}
		}
		return err
	}
	run := newRun(ctx, id, "replicate")
	run.Seed, run.Order, run.Samples, run.Warmup = plan.Seed, plan.Order, plan.Samples, plan.Warmup
	run.Servers, run.Data, run.Notes = p.servers, flags.shape(), prepared.Notes()
	s, err := begin(run, flags.file, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	sink.Sink = s
	fmt.Fprintf(cmd.ErrOrStderr(), "%s, %s and %s of each, about %s\n",
		count(len(prepared.Cells()), "cell"), count(plan.Samples, "sample"), count(plan.Warmup, "warm-up"), p.writes(plan))
	done := showDocuments(cmd.ErrOrStderr(), &progress)
	_, runErr := prepared.Measure(ctx)
	done()
	return s.end(ctx, runErr, cmd.OutOrStdout(), flags.format)
}

// lateSink is a sink whose recording begins after it was handed out.
type lateSink struct{ results.Sink }

// meet opens the servers, asks each once whether it takes our credentials, and
// describes them.
func (r *replicateFlags) meet(ctx context.Context, urls []string, runID string) (peers, error) {
	var p peers
	var err error
	if p.source, err = r.peer(urls[0], r.sourceAs); err != nil {
		return p, err
	}
	p.target = p.source
	if r.targetAs != "" {
		p.target.As = r.targetAs
	}
	roles := []string{"both sides"}
	met := []*replicate.Peer{&p.source}
	if len(urls) == 2 {
		if p.target, err = r.peer(urls[1], r.targetAs); err != nil {
			return p, err
		}
		roles = []string{"source", "target"}
		met = append(met, &p.target)
	}
	if !slices.Contains([]string{"source", "target"}, r.at) {
		replicator, err := r.peer(r.at, "")
		if err != nil {
			return p, err
		}
		p.replicator = &replicator
		roles = append(roles, "replicator")
		met = append(met, p.replicator)
	}
	for _, peer := range met {
		if _, err := hello(ctx, peer.Server); err != nil {
			return p, err
		}
	}
	for i, peer := range met {
		peer.Index = i
		s, err := r.describe(ctx, peer.Server, roles[i], runID)
		if err != nil {
			return p, err
		}
		p.servers = append(p.servers, s)
	}
	return p, nil
}

func (r *replicateFlags) peer(url, as string) (replicate.Peer, error) {
	s, err := openServer(url, r.timeout)
	if err != nil {
		return replicate.Peer{}, err
	}
	user, password := s.Credentials()
	return replicate.Peer{Server: s, User: user, Password: password, As: as}, nil
}

// describe describes a server by means of a database like the run's, which is
// deleted again.
func (r *replicateFlags) describe(ctx context.Context, s *couch.Server, role, runID string) (_ results.Server, err error) {
	databases := s.NewDatabases(runID)
	defer func() { err = errors.Join(err, deleteAll(s, databases)) }()
	db, err := databases.Create(ctx, "described", r.q, r.replicas)
	if err != nil {
		return results.Server{}, err
	}
	return describe(ctx, s, role, db)
}
