package replicate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"couchgauge/gen"
	"couchgauge/internal/rounds"
)

// Plan says what is measured. Its lists are the levels of factors; the cells
// are their product. An empty list means the one level in brackets.
type Plan struct {
	// Data of a source. Each list is a factor.
	Docs            []int64          // [1000]
	DocSizes        []gen.Size       // of a document's JSON [1kB]; unused with Template
	Template        *gen.Template    // of the documents, instead of a size
	Attachments     []int            // per document [0; 1 when AttachmentSizes are given]
	AttachmentSizes []AttachmentSize // [1kB where there are attachments]
	Content         gen.Content      // of attachments [random]
	Revs            []int            // length of each leaf's history [1]
	Conflicts       []int            // leaves per document [1]
	Deleted         []float64        // share of the documents [0]
	Split           []int64          // numbers of documents that the bytes of Docs × (document + attachments) are split into
	Updates         int              // rounds of updates that keep the attachments, replicated after each

	// How it is replicated. Each list is a factor.
	Topologies []string  // [1-1]
	N          []int     // of the topologies that have one [2]
	Filters    []Filter  // [none]
	Config     []Setting // of the replicating servers
	Set        []Setting // of the jobs
	Drivers    []string  // [replicate]

	// Continuous replication, if For is set.
	Rate float64       // documents per second, written to all sources together
	For  time.Duration // how long they are written

	Samples, Warmup int           // per cell
	MaxTime         time.Duration // a cell that took so long gets no more samples than 3; 0 = no limit
	Order           string        // "interleaved", "random" or "sequential"
	Seed            uint64
	Timeout         time.Duration // a sample ends when nothing has moved for so long; 0 = never
	Verify          Verify

	At           At     // who runs a job [target]
	ReplicatorDB string // for the driver replicator [_replicator]
	JobDatabases bool   // a replicator database of its own for every job
	NoPin        bool   // leave the replicator's random start-up delay as it is
	Keep         bool   // do not delete the databases
	Q, Replicas  int    // of the databases; 0 = the server's default

	templates map[int64]*gen.Template // by size
}

// At says which server runs a job.
type At string

// Who runs a job.
const (
	AtTarget     At = "target" // pull
	AtSource     At = "source" // push
	AtReplicator At = "replicator"
)

// Verify says how far what arrived is compared with what was there. Leaf
// revisions are always compared.
type Verify string

// How far attachments are compared.
const (
	VerifyDigest Verify = "digest" // length, and digest where it tells something (fact 9)
	VerifyBytes  Verify = "bytes"
	VerifyOff    Verify = "off" // nothing is compared, not even leaves
)

func (p Plan) schedule() rounds.Schedule {
	return rounds.Schedule{Warmup: p.Warmup, Samples: p.Samples, Order: p.Order, Seed: p.Seed}
}

// withDefaults fills what was left empty.
func (p Plan) withDefaults() Plan {
	p.Docs = orOne(p.Docs, 1000)
	p.DocSizes = orOne(p.DocSizes, gen.Size{Text: "1kB", Bytes: 1000})
	if p.Template != nil {
		p.DocSizes = []gen.Size{{Text: "template", Bytes: p.Template.Size()}}
	}
	if p.templates == nil {
		p.templates = map[int64]*gen.Template{}
	}
	if len(p.Attachments) == 0 && len(p.AttachmentSizes) > 0 {
		p.Attachments = []int{1}
	}
	p.Attachments = orOne(p.Attachments, 0)
	p.AttachmentSizes = orOne(p.AttachmentSizes, AttachmentSize{Size: gen.Size{Text: "1kB", Bytes: 1000}})
	if p.Content == "" {
		p.Content = gen.Random
	}
	p.Revs = orOne(p.Revs, 1)
	p.Conflicts = orOne(p.Conflicts, 1)
	p.Deleted = orOne(p.Deleted, 0)
	p.Topologies = orOne(p.Topologies, "1-1")
	p.N = orOne(p.N, 2)
	p.Filters = orOne(p.Filters, Filter{})
	p.Drivers = orOne(p.Drivers, "replicate")
	if p.Order == "" {
		p.Order = rounds.Interleaved
	}
	if p.Verify == "" {
		p.Verify = VerifyDigest
	}
	if p.At == "" {
		p.At = AtTarget
	}
	if p.ReplicatorDB == "" {
		p.ReplicatorDB = "_replicator"
	}
	return p
}

func orOne[T any](list []T, one T) []T {
	if len(list) == 0 {
		return []T{one}
	}
	return list
}

// continuous says whether jobs go on until they are stopped.
func (p Plan) continuous() bool { return p.For > 0 }

// maxDocument is the greatest document in bytes that servers take unless told
// otherwise (fact 11).
const maxDocument = 8_000_000

// Check says what is wrong with the plan.
func (p Plan) Check() error {
	p = p.withDefaults()
	for _, name := range p.Topologies {
		t, err := topologyOf(name)
		if err != nil {
			return err
		}
		for _, n := range p.N {
			if n < t.least {
				return fmt.Errorf("topology %s needs an n of %d or more, not %d", name, t.least, n)
			}
			if n > maxN {
				return fmt.Errorf("n of %d is too many databases: %d is the most", n, maxN)
			}
		}
	}
	for _, name := range p.Drivers {
		if _, err := driverOf(name); err != nil {
			return err
		}
	}
	if !slices.Contains(rounds.Orders(), p.Order) {
		return fmt.Errorf("order %q is unknown: use one of %s", p.Order, strings.Join(rounds.Orders(), ", "))
	}
	if !slices.Contains([]Verify{VerifyDigest, VerifyBytes, VerifyOff}, p.Verify) {
		return fmt.Errorf("verification %q is unknown: use digest, bytes or off", p.Verify)
	}
	if err := p.checkData(); err != nil {
		return err
	}
	switch {
	case p.Samples < 1:
		return errors.New("a plan needs one sample or more")
	case p.Warmup < 0:
		return errors.New("a plan cannot have less than no warm-up samples")
	case p.continuous() && !(p.Rate > 0):
		return errors.New("continuous replication needs a rate: how many documents are written per second")
	case p.continuous() && slices.ContainsFunc(p.Filters, func(f Filter) bool { return !f.followsNew() }):
		return errors.New("with continuous replication it must be known which new documents pass: use a filter selector, js or view with a share")
	case p.continuous() && p.Updates > 0:
		return errors.New("updates are rounds of one-shot replication: they cannot be continuous")
	case p.Updates > 0 && slices.ContainsFunc(p.Topologies, func(t string) bool { return t != "1-1" }):
		return errors.New("updates are replicated from one source to one target: use topology 1-1")
	}
	return nil
}

// maxN bounds the databases of a topology.
const maxN = 99

func (p Plan) checkData() error {
	positive := map[string]bool{
		"docs":      slices.Min(p.Docs) >= 1,
		"revs":      slices.Min(p.Revs) >= 1,
		"conflicts": slices.Min(p.Conflicts) >= 1,
	}
	for _, name := range []string{"docs", "revs", "conflicts"} {
		if !positive[name] {
			return fmt.Errorf("%s must be 1 or more", name)
		}
	}
	if slices.Min(p.Attachments) < 0 {
		return errors.New("attachments must be 0 or more")
	}
	if slices.Min(p.Deleted) < 0 || slices.Max(p.Deleted) > 1 {
		return errors.New("the deleted share must be between 0 and 1")
	}
	if p.Updates < 0 {
		return errors.New("updates must be 0 or more")
	}
	if p.Updates > 0 && (slices.Max(p.Conflicts) > 1 || slices.Max(p.Deleted) > 0) {
		return errors.New("updates work on documents without conflicts and deletions")
	}
	if len(p.Split) > 0 {
		if len(p.Docs) > 1 {
			return errors.New("a split needs one number of documents to start from: give --docs one level")
		}
		if slices.Min(p.Split) < 1 {
			return errors.New("a split is into 1 document or more")
		}
		if p.Template != nil {
			return errors.New("a split changes the documents' size: it cannot use a template")
		}
	}
	for _, c := range p.grid() {
		if err := p.checkSize(c.shape.docs, c.docBytes); err != nil {
			return err
		}
	}
	return nil
}

func (p Plan) checkSize(docs, docBytes int64) error {
	if docs > sourceDocs {
		return fmt.Errorf("%d documents are too many: %d is the most", docs, int64(sourceDocs))
	}
	_, err := p.templateOf(docBytes)
	return err
}

// templateOf is the template of documents of that size.
func (p Plan) templateOf(docBytes int64) (*gen.Template, error) {
	if p.Template != nil {
		return p.Template, nil
	}
	if docBytes > maxDocument {
		return nil, fmt.Errorf("documents of %s are more than servers take (max_document_size, 8 MB): "+
			"give the bytes to attachments, as in --attachments 1 --attachment-size 10MiB", gen.FormatBytes(docBytes))
	}
	if t := p.templates[docBytes]; t != nil {
		return t, nil
	}
	t, err := gen.DocTemplate(docBytes)
	if err != nil {
		return nil, err
	}
	p.templates[docBytes] = t
	return t, nil
}
