package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"couchgauge/gen"
	"couchgauge/internal/rounds"
	"couchgauge/replicate"

	"github.com/spf13/cobra"
)

// replicateFlags are the words of the command line; plan makes levels of them.
type replicateFlags struct {
	docs, attachments, revs, conflicts, deleted, split []string
	docSize, template, attachmentSize, content         string
	updates                                            int

	topologies, n, filters, set, config, drivers []string

	continuous    bool
	rate          float64
	duration      time.Duration
	at            string
	sourceAs      string
	targetAs      string
	replicatorDB  string
	jobDatabases  bool
	noPin         bool
	samples       int
	warmup        int
	seed          uint64
	order, verify string
	maxTime       time.Duration
	timeout       time.Duration
	maxBytes      string
	keep          bool
	q, replicas   int
	format, file  string
}

func (r *replicateFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVar(&r.docs, "docs", []string{"1000"}, "documents in the source")
	f.StringVar(&r.docSize, "doc-size", "1kB", "bytes of a document's JSON, as a list or a range")
	f.StringVar(&r.template, "template", "", "documents like a built-in template's ("+strings.Join(gen.BuiltinTemplates(), ", ")+") or the JSON document in a file, instead of a size")
	f.StringSliceVar(&r.attachments, "attachments", nil, "attachments per document (default 0, or 1 with --attachment-size)")
	f.StringVar(&r.attachmentSize, "attachment-size", "", "bytes of an attachment, as a list; 10x1B is ten of one byte")
	f.StringVar(&r.content, "content", string(gen.Random), "of attachments: "+strings.Join(contentNames(), ", "))
	f.StringSliceVar(&r.revs, "revs", []string{"1"}, "revisions in the history of each leaf")
	f.StringSliceVar(&r.conflicts, "conflicts", []string{"1"}, "leaves per document")
	f.StringSliceVar(&r.deleted, "deleted", []string{"0"}, "share of the documents that are deleted, 0 to 1")
	f.StringSliceVar(&r.split, "split", nil, "numbers of documents that the same total bytes are split into")
	f.IntVar(&r.updates, "updates", 0, "rounds of updates that keep the attachments, replicated after each")

	f.StringArrayVar(&r.set, "set", nil, "option of the job and its levels: use_bulk_get=true,false (may be repeated)")
	f.StringArrayVar(&r.config, "config", nil, "setting of the replicating server and its levels: replicator/startup_jitter=1,5000 (may be repeated; restored at the end)")
	f.StringSliceVar(&r.drivers, "driver", []string{"replicate"}, "how: "+strings.Join(replicate.Drivers(), ", "))
	f.StringSliceVar(&r.topologies, "topology", []string{"1-1"}, strings.Join(replicate.Topologies(), ", "))
	f.StringSliceVar(&r.n, "n", []string{"2"}, "databases of a topology that has several")
	f.StringArrayVar(&r.filters, "filter", nil, "which documents pass: "+strings.Join(replicate.Filters(), ", ")+" with a share, selector:0.01, or a file, js:@filter.js (may be repeated)")

	f.BoolVar(&r.continuous, "continuous", false, "jobs that go on while documents are written at a steady rate")
	f.Float64Var(&r.rate, "rate", 100, "documents written per second")
	f.DurationVar(&r.duration, "for", 20*time.Second, "how long they are written")

	f.StringVar(&r.at, "at", "target", "who runs the jobs: target (pull), source (push), or a URL")
	f.StringVar(&r.sourceAs, "source-as", "", "the source's base URL as the replicating server sees it")
	f.StringVar(&r.targetAs, "target-as", "", "the target's base URL as the replicating server sees it")
	f.StringVar(&r.replicatorDB, "replicator-db", "", "where the driver replicator writes its documents (default _replicator)")
	f.BoolVar(&r.jobDatabases, "databases-per-job", false, "a replicator database for each job")
	f.BoolVar(&r.noPin, "no-pin", false, "leave [replicator] startup_jitter as it is: every job then first sleeps up to 5 s")

	f.IntVar(&r.samples, "samples", 6, "samples per cell")
	f.IntVar(&r.warmup, "warmup", 1, "samples per cell before them, left out")
	f.Uint64Var(&r.seed, "seed", defaultSeed, "of the content and the order")
	f.StringVar(&r.order, "order", rounds.Interleaved, "of the samples: "+strings.Join(rounds.Orders(), ", "))
	f.StringVar(&r.verify, "verify", "digest", "compare attachments by digest, bytes; or off: nothing, not even leaves")
	f.DurationVar(&r.maxTime, "max-time", 0, "take no more samples of a cell after so long, but at least 3")
	f.DurationVar(&r.timeout, "timeout", 5*time.Minute, "fail a replication when nothing moved for so long; 0 waits for ever")
	f.StringVar(&r.maxBytes, "max-bytes", "20GB", "refuse a plan that writes more")
	f.BoolVar(&r.keep, "keep", false, "keep the run's databases")
	f.IntVar(&r.q, "q", 0, "shards of the databases (default the server's)")
	f.IntVar(&r.replicas, "copies", 0, "copies of the databases, n of CouchDB (default the server's)")
	f.StringVarP(&r.file, "output", "o", "", "keep the recording in this file (.jsonl.zst)")
	addFormat(cmd, &r.format)
	complete(cmd, "driver", replicate.Drivers()...)
	complete(cmd, "topology", replicate.Topologies()...)
	complete(cmd, "order", rounds.Orders()...)
	complete(cmd, "verify", string(replicate.VerifyDigest), string(replicate.VerifyBytes), string(replicate.VerifyOff))
}

// plan is what the flags ask for.
func (r *replicateFlags) plan() (replicate.Plan, error) {
	p := replicate.Plan{
		Updates: r.updates, Topologies: r.topologies, Drivers: r.drivers,
		Samples: r.samples, Warmup: r.warmup, MaxTime: r.maxTime, Order: r.order, Seed: r.seed,
		Timeout: r.timeout, Verify: replicate.Verify(r.verify), ReplicatorDB: r.replicatorDB,
		JobDatabases: r.jobDatabases, NoPin: r.noPin, Keep: r.keep, Q: r.q, Replicas: r.replicas,
	}
	switch r.at {
	case "target":
		p.At = replicate.AtTarget
	case "source":
		p.At = replicate.AtSource
	default:
		p.At = replicate.AtReplicator
	}
	if r.continuous {
		p.Rate, p.For = r.rate, r.duration
	}
	if err := r.data(&p); err != nil {
		return p, err
	}
	if err := r.settings(&p); err != nil {
		return p, err
	}
	if err := p.Check(); err != nil {
		return p, usagef("%w", err)
	}
	return p, nil
}

// data reads the flags of the source's data.
func (r *replicateFlags) data(p *replicate.Plan) (err error) {
	if p.DocSizes, err = gen.ParseSizes(r.docSize); err != nil {
		return usagef("--doc-size: %w", err)
	}
	if r.template != "" {
		if p.Template, err = documentTemplate(r.template, r.docSize); err != nil {
			return err
		}
	}
	if p.Content, err = gen.ParseContent(r.content); err != nil {
		return usagef("--content: %w", err)
	}
	if r.attachmentSize != "" {
		if p.AttachmentSizes, err = replicate.ParseAttachmentSizes(r.attachmentSize); err != nil {
			return usagef("--attachment-size: %w", err)
		}
	}
	if p.Docs, err = parseList("docs", r.docs, parseNumber); err != nil {
		return err
	}
	if p.Split, err = parseList("split", r.split, parseNumber); err != nil {
		return err
	}
	if p.Attachments, err = parseList("attachments", r.attachments, parseCountOrZero); err != nil {
		return err
	}
	if p.Revs, err = parseList("revs", r.revs, parseCount); err != nil {
		return err
	}
	if p.Conflicts, err = parseList("conflicts", r.conflicts, parseCount); err != nil {
		return err
	}
	p.Deleted, err = parseList("deleted", r.deleted, parseShare)
	return err
}

// settings reads the flags that say how it is replicated.
func (r *replicateFlags) settings(p *replicate.Plan) (err error) {
	if p.N, err = parseList("n", r.n, parseCount); err != nil {
		return err
	}
	if p.Set, err = parseList("set", r.set, replicate.ParseSet); err != nil {
		return err
	}
	if p.Config, err = parseList("config", r.config, replicate.ParseConfig); err != nil {
		return err
	}
	p.Filters, err = parseList("filter", r.filters, func(s string) (replicate.Filter, error) {
		return replicate.ParseFilter(s, os.ReadFile)
	})
	return err
}

// shape describes the data for the header.
func (r *replicateFlags) shape() map[string]string {
	shape := map[string]string{
		"docs":   strings.Join(r.docs, ", "),
		"verify": r.verify,
	}
	if r.template != "" {
		shape["template"] = r.template
	} else {
		shape["doc bytes"] = r.docSize
	}
	if r.attachmentSize != "" {
		shape["attachments"] = r.attachmentSize + " of " + r.content
	}
	if r.continuous {
		shape["written"] = fmt.Sprintf("%g per second for %v", r.rate, r.duration)
	}
	return shape
}

func parseNumber(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q: use a whole number from 1", s)
	}
	return n, nil
}

func parseCountOrZero(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q: use a whole number from 0", s)
	}
	return n, nil
}

func parseShare(s string) (float64, error) {
	share, err := strconv.ParseFloat(s, 64)
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, fmt.Errorf("%q: use a share from 0 to 1", s)
	}
	return share, nil
}
