package upload

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"couchgauge/gen"
	"couchgauge/internal/couch"
	"couchgauge/internal/servertest"
	"couchgauge/results"
)

// kept is a sink that keeps all records.
type kept struct {
	mu      sync.Mutex
	cells   []*results.Cell
	samples []*results.Sample
	events  []*results.Event
}

func (k *kept) Write(r results.Record) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch r := r.(type) {
	case *results.Cell:
		k.cells = append(k.cells, r)
	case *results.Sample:
		k.samples = append(k.samples, r)
	case *results.Event:
		k.events = append(k.events, r)
	}
	return nil
}

// text names a sample's cell.
func (k *kept) text(s *results.Sample) string {
	text := ""
	for _, l := range k.cells[s.Cell].Levels {
		text += l.Factor + "=" + l.Text + " "
	}
	return text
}

func sizes(t testing.TB, text string) []gen.Size {
	t.Helper()
	list, err := gen.ParseSizes(text)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func open(t testing.TB, url string) *couch.Server {
	t.Helper()
	s, err := couch.Open(url, couch.Options{IdleTimeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// database creates a database that the test deletes.
func database(t testing.TB, s *couch.Server) string {
	t.Helper()
	all := s.NewDatabases(couch.NewRunID(time.Now(), rand.New(rand.NewPCG(rand.Uint64(), 0))))
	name, err := all.Create(t.Context(), "test", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := all.DeleteAll(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("after the test: %v", err)
		}
	})
	return name
}

// run measures a plan on a database of its own.
func run(t *testing.T, url string, p Plan) (*kept, results.Outcome, error) {
	t.Helper()
	s := open(t, url)
	k := &kept{}
	out, err := Run{Plan: p, Server: s, Database: database(t, s), Sink: k}.Measure(t.Context())
	return k, out, err
}

// allVerified fails the test for each sample that failed or was not verified.
func allVerified(t *testing.T, k *kept, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("run: %v", err)
	}
	for _, s := range k.samples {
		if s.Error != "" || !s.Verified {
			t.Errorf("%sround %d: verified %v, error %q", k.text(s), s.Round, s.Verified, s.Error)
		}
	}
}

// methodsOf are the methods that a server has. PouchDB Server takes a form
// only for a document that exists.
func methodsOf(s servertest.Server, docs string) []string {
	if s.Pouch && docs == New {
		return []string{"raw", "base64", "multipart", "bulk"}
	}
	return Methods()
}

func TestEveryMethodStoresEverySize(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s servertest.Server) {
		p := Plan{
			Methods: methodsOf(s, New),
			Sizes:   sizes(t, "0B,1B,1048575B,1048576B,1048577B"), // U11
			Samples: 2,
			Warmup:  1,
		}
		k, out, err := run(t, s.URL, p)
		allVerified(t, k, err)
		if want := 2 * 5 * len(p.Methods); out.Samples != want || out.Verified != want || out.Failed != 0 {
			t.Errorf("outcome %+v: want %d samples, all verified", out, want)
		}
	})
}

func TestEveryFactor(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s servertest.Server) {
		all, small := methodsOf(s, New), sizes(t, "0,1,100000")
		json := []string{"raw", "base64", "bulk"}
		zipped := json
		if s.Pouch {
			zipped = json[1:] // it stores the gzip stream as if that were the attachment
		}
		for _, c := range []struct {
			name string
			plan Plan
		}{
			{"attachments", Plan{Methods: all, Attachments: []int{3}}},
			{"attachments read back", Plan{Methods: all, Attachments: []int{2}, Verify: VerifyBytes}},
			{"awkward names", Plan{Methods: all, Attachments: []int{7}, Names: Awkward}}, // U17, fact 10
			{"concurrency", Plan{Methods: all, Concurrency: []int{3}, Attachments: []int{2}}},
			{"existing documents", Plan{Methods: Methods(), Docs: []string{Existing}}},
			{"expect", Plan{Methods: json, Expect: []bool{true}}},
			{"new connections", Plan{Methods: all, KeepAlive: []bool{false}}},
			{"new_edits", Plan{Methods: []string{"base64", "multipart", "bulk"}, NewEdits: []bool{false}}},
			{"chunked", Plan{Methods: json, Transfer: []string{Chunked}}},
			{"gzip", Plan{Methods: zipped, Contents: []gen.Content{gen.Text, gen.Random}, Encoding: []string{Gzip}}},
			{"gzip read back", Plan{Methods: zipped, Encoding: []string{Gzip}, Verify: VerifyBytes}},
			{"gzip chunked", Plan{Methods: zipped, Encoding: []string{Gzip}, Transfer: []string{Chunked}}},
			{"text", Plan{Methods: all, Contents: []gen.Content{gen.Text}, ContentTypes: []string{"text/plain"}}}, // facts 8, 9
			{"text read back", Plan{Methods: all, Contents: []gen.Content{gen.Text}, ContentTypes: []string{"text/plain"}, Verify: VerifyBytes}},
			{"appended", Plan{Methods: all, Append: 4}},
		} {
			t.Run(c.name, func(t *testing.T) {
				c.plan.Sizes, c.plan.Samples = small, 2
				k, out, err := run(t, s.URL, c.plan)
				allVerified(t, k, err)
				if want := len(c.plan.Cells()) * 2; out.Verified != want {
					t.Errorf("outcome %+v, want %d verified", out, want)
				}
			})
		}
	})
}

// TestServerThatKeepsGzipAsContent: PouchDB Server ignores Content-Encoding on
// an attachment, so that what it gives back is not what was sent.
func TestServerThatKeepsGzipAsContent(t *testing.T) {
	p := Plan{Sizes: sizes(t, "1000"), Contents: []gen.Content{gen.Text}, Encoding: []string{Gzip}, Samples: 1}
	k, out, err := run(t, servertest.Pouch(t).URL, p)
	if err != nil || out.Failed != 1 || !strings.Contains(k.samples[0].Error, `stored attachment "attachment-0.bin" differs`) {
		t.Errorf("outcome %+v, error %v, %+v", out, err, k.samples)
	}
}
