package replicate

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"couchgauge/gen"
	"couchgauge/internal/couch"
	"couchgauge/internal/servertest"

	"golang.org/x/sync/errgroup"
)

// A multipart message without parts keeps CouchDB 3.5 waiting for 300 s, so
// deleted documents must not travel as one.
func TestDeletedDocumentsAreFilledWithoutMultipart(t *testing.T) {
	proxy := servertest.CountingProxy(t, servertest.Reference(t).URL)
	s, err := couch.Open(proxy.URL, couch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const db = "deleted"
	if err := s.Control().JSON(t.Context(), http.MethodPut, db, nil, nil); err != nil {
		t.Fatal(err)
	}
	data := made(t, func(s *shape) {
		s.count, s.deleted = 1, 0.3
		s.attachment = gen.Attachment{Content: gen.Random, Seed: 1, Size: inlineMost + 1}
	})
	if _, err := fill(t.Context(), s, db, data, 0); err != nil {
		t.Fatal(err)
	}
	streamed := map[string]bool{}
	for _, r := range proxy.Requests() {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
			streamed[path.Base(r.Target)] = true
		}
	}
	for n := range data.docs {
		if got := streamed[docID(0, n)+"?new_edits=false"]; got == data.isDeleted(n) {
			t.Errorf("document %d, deleted %v: multipart %v", n, data.isDeleted(n), got)
		}
	}
}

// BenchmarkFill fills a database of the CouchDB that COUCHGAUGE_TEST_URL names,
// and sends the same documents in prepared bodies by a plain loop over as many
// connections, by turns. It reports the ratio of the medians of their documents
// per second: 1 is as fast as the loop.
func BenchmarkFill(b *testing.B) {
	url := os.Getenv("COUCHGAUGE_TEST_URL")
	if url == "" {
		b.Skip("no CouchDB: COUCHGAUGE_TEST_URL is not set")
	}
	url = strings.TrimSuffix(url, "/") + "/"
	s, err := couch.Open(url, couch.Options{})
	if err != nil {
		b.Fatal(err)
	}
	template, err := gen.DocTemplate(10_000)
	if err != nil {
		b.Fatal(err)
	}
	data := shape{docs: 10_000, template: template, revs: 1, conflicts: 1, seed: 1}
	bodies := prepareBodies(data)
	const rounds = 5
	var ours, loops []float64
	for b.Loop() {
		ours, loops = ours[:0], loops[:0]
		for round := range rounds {
			turns := []func(string) error{
				func(db string) error {
					took, err := fill(b.Context(), s, db, data, 0)
					ours = append(ours, took.Seconds())
					return err
				},
				func(db string) error {
					took, err := plainLoop(url+db+"/_bulk_docs", bodies)
					loops = append(loops, took.Seconds())
					return err
				},
			}
			if round%2 == 1 {
				slices.Reverse(turns)
			}
			for i, turn := range turns {
				inDatabase(b, s, fmt.Sprintf("couchgauge-bench-fill-%d-%d", round, i), turn)
			}
		}
	}
	slices.Sort(ours)
	slices.Sort(loops)
	b.ReportMetric(float64(data.docs)/ours[rounds/2], "docs/s")
	b.ReportMetric(float64(data.docs)/loops[rounds/2], "loop-docs/s")
	b.ReportMetric(loops[rounds/2]/ours[rounds/2], "of-loop")
}

// inDatabase does something in a database of its own.
func inDatabase(b *testing.B, s *couch.Server, db string, do func(db string) error) {
	b.Helper()
	if err := s.Control().JSON(b.Context(), http.MethodPut, db, nil, nil); err != nil {
		b.Fatal(err)
	}
	err := do(db)
	if derr := s.Control().JSON(b.Context(), http.MethodDelete, db, nil, nil); derr != nil {
		b.Error(derr)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// prepareBodies are the requests that fill makes.
func prepareBodies(data shape) [][]byte {
	f := filler{shape: data}
	var bodies [][]byte
	for from := int64(0); from < data.docs; from += f.batch() {
		body := []byte(`{"new_edits":false,"docs":[`)
		for i := from; i < min(from+f.batch(), data.docs); i++ {
			if i > from {
				body = append(body, ',')
			}
			body = data.appendInline(body, f.leafOf(i))
		}
		bodies = append(bodies, append(body, `]}`...))
	}
	return bodies
}

// plainLoop posts bodies over fillConnections connections.
func plainLoop(url string, bodies [][]byte) (time.Duration, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: fillConnections}}
	defer client.CloseIdleConnections()
	began := time.Now()
	var next atomic.Int64
	var g errgroup.Group
	for range fillConnections {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(bodies) {
					return nil
				}
				resp, err := client.Post(url, "application/json", bytes.NewReader(bodies[i]))
				if err != nil {
					return err
				}
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if err == nil && resp.StatusCode != http.StatusCreated {
					err = fmt.Errorf("status %d", resp.StatusCode)
				}
				if err != nil {
					return err
				}
			}
		})
	}
	err := g.Wait()
	return time.Since(began), err
}

// BenchmarkDocuments is the cost of making what is sent.
func BenchmarkDocuments(b *testing.B) {
	template, err := gen.DocTemplate(10_000)
	if err != nil {
		b.Fatal(err)
	}
	data := shape{docs: 1 << 40, template: template, revs: 1, conflicts: 1, seed: 1}
	var buffer []byte
	n := int64(0)
	for b.Loop() {
		buffer = data.appendInline(buffer[:0], leaf{n: n})
		n++
	}
	b.SetBytes(int64(len(buffer)))
}
