package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-kivik/kivik/v4"
	"github.com/go-kivik/kivik/v4/couchdb"

	"couchgauge/gen"
	"couchgauge/replicate/engine"
)

// BenchmarkCouchDB times the engine, CouchDB's own replicator and
// kivik.Replicate in turn on the same source, with startup_jitter pinned, and
// reports the medians and their ratios. One iteration is one round of all.
//
//	COUCHGAUGE_TEST_URL=http://admin:PASSWORD@HOST:5984 go test -run '^$' -bench CouchDB -benchtime 5x ./replicate/engine
func BenchmarkCouchDB(b *testing.B) {
	type way struct {
		name string
		time func(s *server, source string, docs int) time.Duration
	}
	couchDB := way{"couchdb", func(s *server, source string, docs int) time.Duration { return s.own(source, docs, `{}`) }}
	single := way{"without_bulk_get", func(s *server, source string, docs int) time.Duration {
		return s.own(source, docs, `{"use_bulk_get":false}`)
	}}
	kivikWay := way{"kivik", (*server).kivik}
	for _, c := range []struct {
		name       string
		docs       int
		size       int64 // of the JSON
		attachment int
		against    []way
	}{
		{"docs=10000/size=10kB", 10_000, 10_000, 0, []way{couchDB, single}},
		{"docs=1000/attachment=100kB", 1000, 300, 100_000, []way{couchDB}},
		{"docs=1000/size=10kB", 1000, 10_000, 0, []way{couchDB, kivikWay}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := couch(b)
			s.pinJitter()
			source := s.create()
			s.fill(source, c.docs, c.size, c.attachment)
			ways := append([]way{{"engine", (*server).engine}}, c.against...)
			took := make([][]time.Duration, len(ways))
			b.ResetTimer()
			for range b.N {
				for i, w := range ways {
					took[i] = append(took[i], w.time(s, source, c.docs))
				}
			}
			b.ReportMetric(0, "ns/op")
			for i, w := range ways {
				b.ReportMetric(median(took[i]).Seconds(), w.name+"-s")
				if i > 0 {
					b.ReportMetric(float64(median(took[0]))/float64(median(took[i])), "engine/"+w.name)
				}
			}
		})
	}
}

func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}

// pinJitter sets the longest pause before a job to 1 ms (fact 21), and the
// old value back after the test.
func (s *server) pinJitter() {
	const key = "_node/_local/_config/replicator/startup_jitter"
	code, old := s.try("GET", key, nil)
	s.do("PUT", key, []byte(`"1"`), nil)
	s.t.Cleanup(func() {
		if code == 200 {
			s.try("PUT", key, old)
		} else {
			s.try("DELETE", key, nil)
		}
	})
}

// fill stores the documents that couchgauge measures with.
func (s *server) fill(db string, docs int, size int64, attachment int) {
	s.t.Helper()
	template, err := gen.DocTemplate(size)
	if err != nil {
		s.t.Fatal(err)
	}
	seeded := gen.Documents{Seed: 1, Template: template}
	random := rand.NewChaCha8([32]byte{1})
	const batch = 100
	for at := 0; at < docs; at += batch {
		body := []byte(`{"docs":[`)
		for i := at; i < min(docs, at+batch); i++ {
			if i > at {
				body = append(body, ',')
			}
			body = seeded.Append(body, int64(i))
			if attachment > 0 {
				data := make([]byte, attachment)
				random.Read(data)
				js, _ := json.Marshal(data)
				body = fmt.Appendf(body[:len(body)-1], `,"_attachments":{"a.bin":{"content_type":"application/octet-stream","data":%s}}}`, js)
			}
		}
		s.do("POST", db+"/_bulk_docs", append(body, "]}"...), nil)
	}
}

// kivik times kivik.Replicate into a new database.
func (s *server) kivik(source string, docs int) time.Duration {
	s.t.Helper()
	target := s.create()
	defer s.try("DELETE", target, nil)
	client, err := kivik.New("couch", s.base, couchdb.OptionNoRequestCompression())
	if err != nil {
		s.t.Fatal(err)
	}
	defer client.Close()
	start := time.Now()
	res, err := kivik.Replicate(context.Background(), client.DB(target), client.DB(source))
	took := time.Since(start)
	if err != nil || res.DocsWritten != docs {
		s.t.Fatalf("kivik.Replicate wrote %d of %d documents: %v", res.DocsWritten, docs, err)
	}
	return took
}

// own times CouchDB's replicator into a new database.
func (s *server) own(source string, docs int, options string) time.Duration {
	s.t.Helper()
	target := s.create()
	defer s.try("DELETE", target, nil)
	job := map[string]any{"source": s.base + "/" + source, "target": s.base + "/" + target}
	if err := json.Unmarshal([]byte(options), &job); err != nil {
		s.t.Fatal(err)
	}
	body, _ := json.Marshal(job)
	var res struct {
		History []struct {
			Written int `json:"docs_written"`
		}
	}
	start := time.Now()
	s.do("POST", "_replicate", body, &res)
	took := time.Since(start)
	if len(res.History) == 0 || res.History[0].Written != docs {
		s.t.Fatalf("CouchDB's replicator wrote %+v of %d documents", res.History, docs)
	}
	return took
}

// engine times the engine into a new database.
func (s *server) engine(source string, docs int) time.Duration {
	s.t.Helper()
	target := s.create()
	defer s.try("DELETE", target, nil)
	start := time.Now()
	res, err := engine.New(s.peer(source), s.peer(target), engine.Options{}).Run(context.Background())
	took := time.Since(start)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.DocsWritten != int64(docs) || res.DocWriteFailures != 0 {
		s.t.Fatalf("the engine wrote %d of %d documents, failures %+v", res.DocsWritten, docs, res.Failures)
	}
	return took
}
