package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"couchgauge/replicate/engine"
)

// BenchmarkCouchDB times the engine and CouchDB's own replicator in turn on
// the same source, with startup_jitter pinned, and reports the medians and
// their ratio. One iteration is one round of all.
//
//	COUCHGAUGE_TEST_URL=http://admin:PASSWORD@HOST:5984 go test -run '^$' -bench CouchDB -benchtime 5x ./replicate/engine
func BenchmarkCouchDB(b *testing.B) {
	for _, c := range []struct {
		name        string
		docs        int
		size        int // of the JSON
		attachment  int
		withoutBulk bool // time CouchDB without _bulk_get too
	}{
		{name: "docs=10000/size=10kB", docs: 10000, size: 10000, withoutBulk: true},
		{name: "docs=1000/attachment=100kB", docs: 1000, size: 300, attachment: 100_000},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := couch(b)
			s.pinJitter()
			source := s.create()
			s.fill(source, c.docs, c.size, c.attachment)
			var ours, theirs, slow []time.Duration
			for range b.N {
				theirs = append(theirs, s.own(source, c.docs, `{}`))
				ours = append(ours, s.engine(source, c.docs))
				if c.withoutBulk {
					slow = append(slow, s.own(source, c.docs, `{"use_bulk_get":false}`))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(ours).Seconds(), "engine-s")
			b.ReportMetric(median(theirs).Seconds(), "couchdb-s")
			b.ReportMetric(float64(median(ours))/float64(median(theirs)), "engine/couchdb")
			if c.withoutBulk {
				b.ReportMetric(float64(median(ours))/float64(median(slow)), "engine/without_bulk_get")
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

// fill stores documents that look like orders, seeded.
func (s *server) fill(db string, docs, size, attachment int) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima")
	const batch = 100
	for at := 0; at < docs; at += batch {
		var list []string
		for i := at; i < min(docs, at+batch); i++ {
			var d strings.Builder
			fmt.Fprintf(&d, `{"_id":"doc-%06d","type":"order","items":[`, i)
			for n := 0; d.Len() < size-200; n++ {
				if n > 0 {
					d.WriteByte(',')
				}
				fmt.Fprintf(&d, `{"sku":"%08x","qty":%d,"price":%.2f,"text":"`, rng.Uint32(), rng.IntN(99), 100*rng.Float64())
				for range 30 {
					d.WriteString(words[rng.IntN(len(words))] + " ")
				}
				d.WriteString(`"}`)
			}
			d.WriteString("]")
			if attachment > 0 {
				data := make([]byte, attachment)
				for k := range data {
					data[k] = byte(rng.Uint32())
				}
				js, _ := json.Marshal(data)
				fmt.Fprintf(&d, `,"_attachments":{"a.bin":{"content_type":"application/octet-stream","data":%s}}`, js)
			}
			d.WriteString("}")
			list = append(list, d.String())
		}
		s.do("POST", db+"/_bulk_docs", []byte(`{"docs":[`+strings.Join(list, ",")+`]}`), nil)
	}
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
	if testing.Verbose() {
		s.t.Logf("%v: %+v", took, res.Timers)
	}
	return took
}
