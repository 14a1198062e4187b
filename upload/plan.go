package upload

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"couchgauge/gen"
	"couchgauge/internal/rounds"
)

// Levels with names.
const (
	Length   = "length"   // Transfer: Content-Length
	Chunked  = "chunked"  // Transfer: Transfer-Encoding: chunked
	Identity = "identity" // Encoding
	Gzip     = "gzip"     // Encoding: Content-Encoding: gzip
	New      = "new"      // Docs: the upload creates the document
	Existing = "existing" // Docs: it is created before, outside the timed part

	VerifyDigest = "digest" // length, and MD5 where the server stores the bytes as sent
	VerifyBytes  = "bytes"  // read back and compare
	VerifyOff    = "off"

	Plain   = "plain"   // Names: attachment-0.bin
	Awkward = "awkward" // Names: legal ones that are easily mangled (fact 10)
)

// Plan says what is measured: its cells are the product of the levels. A nil
// list is one level, the default; a level that is given twice counts once.
type Plan struct {
	Methods      []string      // default raw
	Sizes        []gen.Size    // no default
	Attachments  []int         // default 1
	Contents     []gen.Content // default random
	ContentTypes []string      // default application/octet-stream
	Concurrency  []int         // default 1
	Expect       []bool        // default off
	Transfer     []string      // default length
	Encoding     []string      // default identity
	KeepAlive    []bool        // default on
	NewEdits     []bool        // default on
	Docs         []string      // default new

	Append  int    // > 0: so many attachments one after another onto one document, a cell for each
	Names   string // default plain
	Samples int    // per cell
	Warmup  int    // before them, per cell
	Seed    uint64
	Order   string        // "interleaved" (default), "random" or "sequential"
	MaxTime time.Duration // no more samples of a cell after so long, but at least 3; 0 = no limit
	Timeout time.Duration // no byte moves for so long: the upload failed; 0 = wait for ever
	Verify  string        // default digest
}

// or returns the levels of list, each once, or the default if there is no list.
func or[T comparable](list []T, level T) []T {
	if list == nil {
		return []T{level}
	}
	var once []T
	for _, l := range list {
		if !slices.Contains(once, l) {
			once = append(once, l)
		}
	}
	return once
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// factor is one list of the plan: how many levels, and how a cell takes one.
type factor struct {
	levels int
	set    func(c *Cell, level int)
}

// list makes the factor of a list.
func list[T any](levels []T, field func(*Cell) *T) factor {
	return factor{len(levels), func(c *Cell, i int) { *field(c) = levels[i] }}
}

// factors lists them in the order in which cells are numbered: the last one
// changes fastest.
func (p Plan) factors() []factor {
	ordinals := make([]int, max(1, p.Append))
	for i := range ordinals {
		ordinals[i] = min(p.Append, i+1) // 0 without Append
	}
	return []factor{
		list(p.sizes(), func(c *Cell) *gen.Size { return &c.Size }),
		list(or(p.Contents, gen.Random), func(c *Cell) *gen.Content { return &c.Content }),
		list(or(p.ContentTypes, "application/octet-stream"), func(c *Cell) *string { return &c.ContentType }),
		list(or(p.Attachments, 1), func(c *Cell) *int { return &c.Attachments }),
		list(or(p.Concurrency, 1), func(c *Cell) *int { return &c.Concurrency }),
		list(or(p.Expect, false), func(c *Cell) *bool { return &c.Expect }),
		list(or(p.Transfer, Length), func(c *Cell) *string { return &c.Transfer }),
		list(or(p.Encoding, Identity), func(c *Cell) *string { return &c.Encoding }),
		list(or(p.KeepAlive, true), func(c *Cell) *bool { return &c.KeepAlive }),
		list(or(p.NewEdits, true), func(c *Cell) *bool { return &c.NewEdits }),
		list(or(p.Docs, New), func(c *Cell) *string { return &c.Docs }),
		list(or(p.Methods, "raw"), func(c *Cell) *string { return &c.Method }),
		list(ordinals, func(c *Cell) *int { return &c.Ordinal }),
	}
}

// sizes are the levels of Sizes; of several texts of one size the first stays.
func (p Plan) sizes() []gen.Size {
	var once []gen.Size
	for _, s := range p.Sizes {
		if !slices.ContainsFunc(once, func(o gen.Size) bool { return o.Bytes == s.Bytes }) {
			once = append(once, s)
		}
	}
	return once
}

// Cells returns the cells that are measured: the product of the levels without
// the combinations that their method cannot do. The ordinals of one document
// follow each other.
func (p Plan) Cells() []Cell {
	return slices.DeleteFunc(p.product(), func(c Cell) bool { return p.impossible(c) != nil })
}

// product is Cells and the impossible ones.
func (p Plan) product() []Cell {
	cells := []Cell{{}}
	for _, f := range p.factors() {
		grown := make([]Cell, 0, len(cells)*f.levels)
		for _, c := range cells {
			for level := range f.levels {
				f.set(&c, level)
				grown = append(grown, c)
			}
		}
		cells = grown
	}
	return cells
}

// Check tells whether the plan can be run as it is written; its errors are
// for whoever wrote the command line.
func (p Plan) Check() error {
	if len(p.Sizes) == 0 {
		return fmt.Errorf("no size is given: say which, such as 10B,1MB")
	}
	if p.Samples < 1 {
		return fmt.Errorf("%d samples per cell: at least 1 is needed", p.Samples)
	}
	if p.Warmup < 0 || p.Append < 0 {
		return fmt.Errorf("warm-ups and appended attachments cannot be negative")
	}
	for _, m := range p.Methods {
		if _, err := methodByName(m); err != nil {
			return err
		}
	}
	if err := p.checkLists(); err != nil {
		return err
	}
	for _, n := range slices.Concat(p.Attachments, p.Concurrency) {
		if n < 1 {
			return fmt.Errorf("attachments and concurrency must be 1 or more, not %d", n)
		}
	}
	for _, a := range p.Attachments {
		if a > 1 && p.Append > 0 {
			return fmt.Errorf("%d attachments at once and %d appended one by one exclude each other: give one of them", a, p.Append)
		}
	}
	err := errors.Join(
		oneOf("transfer", p.Transfer, Length, Chunked),
		oneOf("encoding", p.Encoding, Identity, Gzip),
		oneOf("docs", p.Docs, New, Existing),
		oneOf("order", nonEmpty(p.Order), rounds.Orders()...),
		oneOf("verify", nonEmpty(p.Verify), VerifyDigest, VerifyBytes, VerifyOff),
		oneOf("names", nonEmpty(p.Names), Plain, Awkward),
	)
	if err != nil || len(p.Cells()) > 0 {
		return err
	}
	first := p.product()[0]
	return fmt.Errorf("nothing of this can be measured: %s: %w", first, p.impossible(first))
}

// checkLists refuses lists and words that are empty.
func (p Plan) checkLists() error {
	if slices.Contains(p.ContentTypes, "") {
		return errors.New("a content type is empty: name one, such as text/plain")
	}
	return errors.Join(
		named("method", p.Methods),
		named("attachments", p.Attachments),
		named("content", p.Contents),
		named("content-type", p.ContentTypes),
		named("concurrency", p.Concurrency),
		named("expect", p.Expect),
		named("transfer", p.Transfer),
		named("encoding", p.Encoding),
		named("keep-alive", p.KeepAlive),
		named("new-edits", p.NewEdits),
		named("docs", p.Docs),
	)
}

// named refuses a list of levels that names none.
func named[T any](what string, list []T) error {
	if list != nil && len(list) == 0 {
		return fmt.Errorf("no level of %s is given: name one", what)
	}
	return nil
}

func oneOf(what string, given []string, allowed ...string) error {
	for _, g := range given {
		if !slices.Contains(allowed, g) {
			return fmt.Errorf("%s %q is unknown: use one of %s", what, g, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// Bytes is how many bytes of bodies the plan writes at most: all samples and
// warm-ups, before any compression. Heads add some 300 bytes a request.
func (p Plan) Bytes() int64 {
	subjects, _, err := p.subjects()
	if err != nil {
		return 0 // nothing is written by a plan that Check refuses
	}
	var n int64
	for _, s := range subjects {
		if s.impossible == nil {
			n += p.bodies(s) * int64(p.Samples+p.Warmup)
		}
	}
	return n
}

func (p Plan) schedule() rounds.Schedule {
	return rounds.Schedule{Warmup: p.Warmup, Samples: p.Samples, Order: p.Order, Seed: p.Seed}
}
