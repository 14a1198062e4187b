package main

import (
	"strings"
	"time"

	"couchgauge/gen"
	"couchgauge/internal/rounds"
	"couchgauge/upload"

	"github.com/spf13/cobra"
)

// defaultSeed makes two runs send the same bytes unless told otherwise.
const defaultSeed = 1

// uploadFlags are the words of the command line; plan makes levels of them.
type uploadFlags struct {
	methods, contents, contentTypes       []string
	attachments, concurrency              []string
	expect, keepAlive, newEdits           []string
	transfer, encoding, docs              []string
	sizes, maxBytes, order, verify, names string
	append, samples, warmup, q, n         int
	seed                                  uint64
	maxTime, timeout                      time.Duration
	keep                                  bool
	format, file                          string
}

func (u *uploadFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&u.methods, "method", []string{"raw", "base64", "multipart"}, "upload APIs: raw, base64, multipart, form, bulk")
	f.StringVar(&u.sizes, "size", "10^1..10^7", "sizes of an attachment: 10,1kB or 10^1..10^9 or 1kB..16MB*4")
	f.StringSliceVar(&u.attachments, "attachments", []string{"1"}, "attachments per document (bulk: documents per request)")
	f.StringSliceVar(&u.contents, "content", []string{string(gen.Random)}, strings.Join(contentNames(), ", "))
	f.StringSliceVar(&u.contentTypes, "content-type", []string{"application/octet-stream"}, "type of the attachments; CouchDB compresses text/* and some others")
	f.StringSliceVar(&u.concurrency, "concurrency", []string{"1"}, "uploads at once")
	f.StringSliceVar(&u.expect, "expect", []string{"off"}, "ask with Expect: 100-continue before sending, as curl does: on, off")
	f.StringSliceVar(&u.transfer, "transfer", []string{"length"}, "how the body's end is told: length, chunked")
	f.StringSliceVar(&u.encoding, "encoding", []string{"identity"}, "of the request body: identity, gzip")
	f.StringSliceVar(&u.keepAlive, "keep-alive", []string{"on"}, "reuse connections: on, off")
	f.StringSliceVar(&u.newEdits, "new-edits", []string{"on"}, "let the server make revisions; off names them as a replicator does")
	f.StringSliceVar(&u.docs, "docs", []string{"new"}, "the upload creates the document, or adds to one that exists: new, existing")
	f.IntVar(&u.append, "append", 0, "put so many attachments one after another onto one document, a cell for each")
	f.IntVar(&u.samples, "samples", 10, "samples per cell")
	f.IntVar(&u.warmup, "warmup", 1, "samples per cell before them, left out")
	f.Uint64Var(&u.seed, "seed", defaultSeed, "of the content and the order")
	f.StringVar(&u.order, "order", rounds.Interleaved, "of the samples: "+strings.Join(rounds.Orders(), ", "))
	f.DurationVar(&u.maxTime, "max-time", 0, "take no more samples of a cell after so long, but at least 3")
	f.DurationVar(&u.timeout, "timeout", 5*time.Minute, "fail an upload when no byte moved for so long; 0 waits for ever")
	f.StringVar(&u.maxBytes, "max-bytes", "20GB", "refuse a plan that writes more")
	f.StringVar(&u.verify, "verify", "digest", "compare what was stored: digest, bytes, off")
	f.StringVar(&u.names, "names", "plain", "of the attachments: plain, awkward (legal ones that are easily mangled)")
	f.BoolVar(&u.keep, "keep", false, "keep the run's database")
	f.IntVar(&u.q, "q", 0, "shards of the database (default the server's)")
	f.IntVar(&u.n, "n", 0, "copies of the database (default the server's)")
	f.StringVarP(&u.file, "output", "o", "", "keep the recording in this file (.jsonl.zst)")
	addFormat(cmd, &u.format)
	complete(cmd, "method", upload.Methods()...)
	complete(cmd, "content", contentNames()...)
	for _, flag := range []string{"expect", "keep-alive", "new-edits"} {
		complete(cmd, flag, "on", "off")
	}
	complete(cmd, "transfer", upload.Length, upload.Chunked)
	complete(cmd, "encoding", upload.Identity, upload.Gzip)
	complete(cmd, "docs", upload.New, upload.Existing)
	complete(cmd, "order", rounds.Orders()...)
	complete(cmd, "verify", upload.VerifyDigest, upload.VerifyBytes, upload.VerifyOff)
	complete(cmd, "names", upload.Plain, upload.Awkward)
}

// plan is what the flags ask for.
func (u *uploadFlags) plan() (upload.Plan, error) {
	p := upload.Plan{
		Methods: u.methods, ContentTypes: u.contentTypes,
		Transfer: u.transfer, Encoding: u.encoding, Docs: u.docs,
		Append: u.append, Names: u.names, Samples: u.samples, Warmup: u.warmup, Seed: u.seed,
		Order: u.order, MaxTime: u.maxTime, Timeout: u.timeout, Verify: u.verify,
	}
	var err error
	if p.Sizes, err = gen.ParseSizes(u.sizes); err != nil {
		return p, usagef("--size: %w", err)
	}
	if p.Contents, err = parseList("content", u.contents, gen.ParseContent); err != nil {
		return p, err
	}
	if p.Attachments, err = parseList("attachments", u.attachments, parseCount); err != nil {
		return p, err
	}
	if p.Concurrency, err = parseList("concurrency", u.concurrency, parseCount); err != nil {
		return p, err
	}
	if p.Expect, err = parseList("expect", u.expect, parseSwitch); err != nil {
		return p, err
	}
	if p.KeepAlive, err = parseList("keep-alive", u.keepAlive, parseSwitch); err != nil {
		return p, err
	}
	if p.NewEdits, err = parseList("new-edits", u.newEdits, parseSwitch); err != nil {
		return p, err
	}
	if err := p.Check(); err != nil {
		return p, usagef("%w", err)
	}
	return p, nil
}

// shape describes the data for the header.
func (u *uploadFlags) shape() map[string]string {
	return map[string]string{
		"sizes":        u.sizes,
		"content":      strings.Join(u.contents, ", "),
		"content type": strings.Join(u.contentTypes, ", "),
		"attachments":  strings.Join(u.attachments, ", ") + " per document",
		"verify":       u.verify,
	}
}

// contentNames are the words for gen's kinds of content.
func contentNames() []string {
	var names []string
	for _, c := range gen.Contents() {
		names = append(names, string(c))
	}
	return names
}
