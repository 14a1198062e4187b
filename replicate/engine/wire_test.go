package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"couchgauge/replicate/engine"
)

func TestNothingIsAskedThatNeedNotBe(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	for i := range 200 {
		s.bulk(a, doc(fmt.Sprint("d", i), 1, 0, ""))
	}
	source, target := s.watch(nil), s.watch(nil)
	res := run(t, source.peer(a), target.peer(b), engine.Options{})
	count(t, "_revs_diff", target.to("POST", "_revs_diff"), 0)
	count(t, "_bulk_get", source.to("POST", "_bulk_get"), 0)
	count(t, "_bulk_docs", target.to("POST", "_bulk_docs"), 1)
	if res.FeedDocs != 200 || res.BulkGetAttempts != 0 || res.MissingFound != 200 {
		t.Errorf("%+v", res.Progress)
	}
	feeds := source.to("GET", "_changes")
	withDocs := 0
	for _, f := range feeds {
		if f.Query.Get("include_docs") == "true" {
			withDocs++
			if f.Query.Get("style") != "all_docs" {
				t.Errorf("query %v", f.Query)
			}
		}
	}
	if withDocs != 1 {
		t.Errorf("%d feeds with documents, want 1", withDocs)
	}
	same(t, s, a, s, b)

	// A target that holds something is asked, and the feed carries nothing.
	s.bulk(a, doc("d0", 2, 0, ""), doc("new", 1, 0, ""))
	source, target = s.watch(nil), s.watch(nil)
	no := false
	run(t, source.peer(a), target.peer(b), engine.Options{UseCheckpoints: &no})
	count(t, "_revs_diff", target.to("POST", "_revs_diff"), 1)
	count(t, "_bulk_get", source.to("POST", "_bulk_get"), 1)
	for _, f := range source.to("GET", "_changes") {
		if f.Query.Has("include_docs") {
			t.Errorf("the feed of a target that is not empty: %v", f.Query)
		}
	}
	same(t, s, a, s, b)
}

// The faster way of reading is found by trying both.
func TestWayOfReadingIsTried(t *testing.T) {
	for _, c := range []struct {
		name       string
		feed, bulk time.Duration
		fromFeed   bool
	}{
		{"_bulk_get is as fast", time.Second, time.Second, false},
		{"_bulk_get is a little slower", time.Second, 1400 * time.Millisecond, false},
		{"_bulk_get is slow", time.Second, 1600 * time.Millisecond, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := reference(t)
			a, b := s.create(), s.create()
			for at := range 20 {
				var docs []string
				for i := range 100 {
					docs = append(docs, doc(fmt.Sprintf("d%04d", at*100+i), 1, 0, ""))
				}
				s.bulk(a, docs...)
			}
			var now atomic.Int64
			p := s.watch(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				switch {
				case r.URL.Query().Has("include_docs"):
					now.Add(int64(c.feed))
				case strings.HasSuffix(r.URL.Path, "_bulk_get"):
					now.Add(int64(c.bulk))
				}
				return false
			})
			r := engine.New(p.peer(a), s.peer(b), engine.Options{})
			r.SetNow(func() time.Time { return time.Unix(1, now.Load()) })
			res, err := r.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if got := res.FeedDocs; got != 0 != c.fromFeed || res.DocsWritten != 2000 {
				t.Errorf("%d documents of %d came with the feed", got, res.DocsWritten)
			}
			if want, have := s.leaves(a), s.leaves(b); !maps.Equal(want, have) {
				t.Errorf("%d leaves of %d", len(have), len(want))
			}
		})
	}
}

func TestFeedWithoutUseIsOpenedAgain(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	for i := range 500 {
		s.bulk(a, doc(fmt.Sprint("d", i), 3, 0, ""))
	}
	p := s.watch(nil)
	res := run(t, p.peer(a), s.peer(b), engine.Options{})
	if res.FeedDocs != 0 || res.BulkGetDocs != 500 {
		t.Errorf("%+v", res.Progress)
	}
	with := 0
	for _, f := range p.to("GET", "_changes") {
		if f.Query.Has("include_docs") {
			with++
		} else if !f.Query.Has("limit") && !f.Query.Has("since") {
			t.Errorf("the second feed starts at the beginning: %v", f.Query)
		}
	}
	if with != 1 {
		t.Errorf("%d feeds with documents", with)
	}
	same(t, s, a, s, b)
}

func TestDocumentThatChangesWhileTheFeedIsRead(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.bulk(a, doc("x", 2, 0, `,"n":2`))
	// The feed says 1-…, but shows the document as it is by now.
	old, _ := revision(1, 0)
	p := s.watch(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if !strings.HasSuffix(r.URL.Path, "_changes") || r.URL.Query().Has("limit") {
			return false
		}
		fmt.Fprintf(w, `{"results":[{"seq":"1-x","id":"x","changes":[{"rev":%q}],"doc":%s}],"last_seq":"1-x"}`, old, doc("x", 2, 0, `,"n":2`))
		return true
	})
	res := run(t, p.peer(a), s.peer(b), engine.Options{})
	if res.FeedDocs != 0 {
		t.Errorf("a document of another revision was taken from the feed")
	}
	same(t, s, a, s, b)
}

func TestWithoutBulkGet(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		error  string
	}{
		{"1.x takes it for a document", 400, "bad_request"}, {"not found", 404, "not_found"}, {"not allowed", 405, "method_not_allowed"},
		{"not written", 501, "not_implemented"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := reference(t)
			a, b := s.create(), s.create()
			s.hard(a)
			p := s.watch(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				return strings.HasSuffix(r.URL.Path, "_bulk_get") && refuse(w, c.status, c.error, "")
			})
			res := run(t, p.peer(a), s.peer(b), engine.Options{})
			if res.BulkGetDocs != 0 || res.DocWriteFailures != 0 {
				t.Errorf("%+v", res.Progress)
			}
			same(t, s, a, s, b)
		})
	}
	t.Run("not wanted", func(t *testing.T) {
		s := reference(t)
		a, b := s.create(), s.create()
		s.hard(a)
		p := s.watch(nil)
		no := false
		run(t, p.peer(a), s.peer(b), engine.Options{UseBulkGet: &no})
		count(t, "_bulk_get", p.to("POST", "_bulk_get"), 0)
		for _, f := range p.to("GET", "_changes") {
			if f.Query.Has("include_docs") {
				t.Errorf("documents in the feed: %v", f.Query)
			}
		}
		same(t, s, a, s, b)
	})
}

func TestSourceWithoutMultipart(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.hard(a)
	p := s.watch(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		r.Header.Set("Accept", "application/json")
		return strings.HasSuffix(r.URL.Path, "_bulk_get") && refuse(w, 404, "not_found", "")
	})
	run(t, p.peer(a), s.peer(b), engine.Options{})
	same(t, s, a, s, b)
}

func TestTargetThatIsNoCouchDBGetsPlainAttachments(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	content := bytes.Repeat([]byte("compresses well "), 30_000)
	s.bulk(a, doc("t", 2, 0, attached(2, map[string][]byte{"t.txt": content}, "text/plain")))
	p := s.watch(nil)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pass(t, p.url, renamed{w}, r)
	}))
	defer h.Close()
	run(t, s.peer(a), engine.Peer{URL: h.URL + "/" + b}, engine.Options{})
	puts := p.to("PUT", "t")
	count(t, "PUTs", puts, 1)
	if !bytes.Contains(puts[0].Body, content) || bytes.Contains(puts[0].Body, []byte("gzip")) {
		t.Error("the attachment did not arrive as it is")
	}
	same(t, s, a, s, b)
}

// renamed answers as a server of another name.
type renamed struct{ http.ResponseWriter }

func (r renamed) WriteHeader(status int) {
	r.Header().Set("Server", "other")
	r.ResponseWriter.WriteHeader(status)
}

func TestCompressedAttachmentsStaySo(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	content := bytes.Repeat([]byte("compresses well "), 30_000)
	s.bulk(a, doc("t", 2, 0, attached(2, map[string][]byte{"t.txt": content}, "text/plain")))
	p := s.watch(nil)
	run(t, s.peer(a), p.peer(b), engine.Options{})
	puts := p.to("PUT", "t")
	count(t, "PUTs", puts, 1)
	if n := puts[0].Length; n <= 0 || n > int64(len(content)/10) {
		t.Errorf("%d bytes travelled for %d", n, len(content))
	}
	same(t, s, a, s, b)
}

// R8: an attachment and updates that do not touch it.
func TestKnownAttachmentsTravelAsStubs(t *testing.T) {
	for _, size := range []int{5000, 3 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := reference(t)
			a, b := s.create(), s.create()
			s.bulk(a, doc("x", 1, 0, attached(1, map[string][]byte{"a.bin": noise(size)}, "application/octet-stream")))
			run(t, s.peer(a), s.peer(b), engine.Options{})
			for gen := 2; gen < 5; gen++ {
				stub := fmt.Sprintf(`,"n":%d,"_attachments":{"a.bin":{"stub":true,"revpos":1,"content_type":"application/octet-stream","length":%d}}`, gen, size)
				s.bulk(a, doc("x", gen, 0, stub))
				p := s.watch(nil)
				res := run(t, s.peer(a), p.peer(b), engine.Options{})
				if res.DocsWritten != 1 || res.BytesWritten > 3000 || res.BytesRead > 5000 {
					t.Errorf("generation %d: wrote %d documents, read %d bytes, wrote %d", gen, res.DocsWritten, res.BytesRead, res.BytesWritten)
				}
				same(t, s, a, s, b)
			}
		})
	}
}

func TestTargetWithoutTheAttachmentItShouldHave(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.bulk(a, doc("x", 1, 0, attached(1, map[string][]byte{"a.bin": noise(5000)}, "application/octet-stream")))
	run(t, s.peer(a), s.peer(b), engine.Options{})
	s.bulk(a, doc("x", 2, 0, `,"_attachments":{"a.bin":{"stub":true,"revpos":1,"content_type":"application/octet-stream","length":5000}}`), doc("y", 2, 0, ""))
	p := s.watch(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return bytes.Contains(body, []byte(`"stub":true`)) && refuse(w, 412, "missing_stub", "id:x, name:a.bin")
	})
	res := run(t, s.peer(a), p.peer(b), engine.Options{})
	if res.DocsWritten != 2 || res.DocsRead != 2 || res.DocWriteFailures != 0 {
		t.Errorf("%+v", res.Progress)
	}
	count(t, "PUTs with the attachment", p.to("PUT", "x"), 1)
	same(t, s, a, s, b)
}

// CouchDB can wait 300 s for the content of a multipart message that has
// none, so empty attachments travel in the document, whatever way it goes.
func TestEmptyAttachmentsAreNotStreamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		source func(http.ResponseWriter, *http.Request, []byte) bool
	}{
		{"multipart", func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			return strings.HasSuffix(r.URL.Path, "/_bulk_get") && refuse(w, 404, "not_found", "missing")
		}},
		{"stubs", func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if r.URL.Query().Has("open_revs") {
				r.Header.Set("Accept", "application/json")
			}
			return strings.HasSuffix(r.URL.Path, "/_bulk_get") && refuse(w, 404, "not_found", "missing")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := reference(t)
			a, b := s.create(), s.create()
			empty := attached(1, map[string][]byte{"a.bin": {}, "b.txt": {}}, "application/octet-stream")
			s.bulk(a, doc("x", 1, 0, empty), doc("y", 1, 0, ""))
			refused := false
			target := s.watch(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
				if refused || !strings.HasSuffix(r.URL.Path, "/_bulk_docs") || !bytes.Contains(body, []byte("a.bin")) {
					return false
				}
				refused = true // so that it is copied alone, too
				return refuse(w, 412, "missing_stub", "id:x, name:a.bin")
			})
			res := run(t, s.watch(c.source).peer(a), target.peer(b), engine.Options{})
			if res.DocsWritten != 2 || res.DocWriteFailures != 0 || !refused {
				t.Errorf("%+v, refused once: %v", res.Progress, refused)
			}
			for _, r := range target.all() {
				if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
					t.Errorf("%s %s is multipart", r.Method, r.Path)
				}
			}
			same(t, s, a, s, b)
		})
	}
}

func TestWinningRevsOnly(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	for i := range 100 {
		for leaf := range 10 {
			s.bulk(a, doc(fmt.Sprint("d", i), 2, leaf+1, ""))
		}
	}
	run(t, s.peer(a), s.peer(b), engine.Options{WinningRevsOnly: true})
	count(t, "leaves", keys(s.leaves(b)), 100)
	run(t, s.peer(a), s.peer(b), engine.Options{})
	count(t, "leaves", keys(s.leaves(b)), 1000)
	same(t, s, a, s, b)
}

func TestFilters(t *testing.T) {
	s := reference(t)
	a := s.create()
	for i := range 300 {
		s.bulk(a, doc(fmt.Sprint("d", i), 1+i%2, 0, fmt.Sprintf(`,"n":%d`, i)))
	}
	for _, c := range []struct {
		name string
		o    engine.Options
		want int
	}{
		{"doc_ids", engine.Options{DocIDs: []string{"d1", "d2", "none", "d3"}}, 3},
		{"no doc_ids", engine.Options{DocIDs: []string{}}, 0},
		{"selector", engine.Options{Selector: json.RawMessage(`{"n":{"$lt":10}}`)}, 10},
		{"since", engine.Options{SinceSeq: "now"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := s.create()
			run(t, s.peer(a), s.peer(b), c.o)
			count(t, "leaves", keys(s.leaves(b)), c.want)
		})
	}
}

func TestFilterFunctionOnCouchDB(t *testing.T) {
	s := couch(t)
	a, b := s.create(), s.create()
	s.bulk(a, doc("_design/f", 1, 0, `,"filters":{"min":"function(doc, req) { return doc.n >= req.query.min; }"}`))
	for i := range 50 {
		s.bulk(a, doc(fmt.Sprint("d", i), 1+i%2, 0, fmt.Sprintf(`,"n":%d`, i)))
	}
	o := engine.Options{Filter: "f/min", QueryParams: map[string]string{"min": "40"}}
	first := run(t, s.peer(a), s.peer(b), o)
	count(t, "leaves", keys(s.leaves(b)), 10)
	o.QueryParams = map[string]string{"min": "45"}
	if other := run(t, s.peer(a), s.peer(b), o); other.ReplicationID == first.ReplicationID {
		t.Error("other parameters, same replication id")
	}
}

func TestSmallestSettings(t *testing.T) {
	for _, c := range []engine.Options{
		{WorkerProcesses: 1, WorkerBatchSize: 1, HTTPConnections: 1},
		{WorkerProcesses: 16, WorkerBatchSize: 3, HTTPConnections: 2},
		{WorkerProcesses: 1, WorkerBatchSize: 100_000, HTTPConnections: 50},
	} {
		t.Run(fmt.Sprint(c.WorkerProcesses, c.WorkerBatchSize, c.HTTPConnections), func(t *testing.T) {
			s := reference(t)
			a, b := s.create(), s.create()
			s.hard(a)
			var now, most atomic.Int64
			p := s.watch(nil)
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := now.Add(1)
				defer now.Add(-1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				pass(t, p.url, w, r)
			}))
			defer h.Close()
			run(t, s.peer(a), engine.Peer{URL: h.URL + "/" + b}, c)
			if limit := int64(max(2, c.HTTPConnections)); most.Load() > limit {
				t.Errorf("%d requests to the target at a time, want at most %d", most.Load(), limit)
			}
			same(t, s, a, s, b)
		})
	}
}

// pass sends a request on and its answer back.
func pass(t *testing.T, to string, w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	req, _ := http.NewRequest(r.Method, to+r.URL.RequestURI(), bytes.NewReader(body))
	req.Header = r.Header
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Error(err)
		return
	}
	defer res.Body.Close()
	for k, v := range res.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(res.StatusCode)
	io.Copy(w, res.Body)
}

func TestFeedThatEndsInAnError(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.bulk(a, doc("x", 1, 0, ""), doc("y", 1, 0, ""))
	var broken atomic.Bool
	p := s.watch(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if !strings.HasSuffix(r.URL.Path, "_changes") || r.URL.Query().Has("limit") || broken.Swap(true) {
			return false
		}
		rev, _ := revision(1, 0)
		fmt.Fprintf(w, `{"results":[{"seq":null,"id":"x","changes":[{"rev":%q}]},{"error":"timeout","reason":"x"}]}`, rev)
		return true
	})
	r, _ := eager(p.peer(a), s.peer(b), engine.Options{})
	res, err := r.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if res.Retries != 1 {
		t.Errorf("%d retries", res.Retries)
	}
	same(t, s, a, s, b)
}

// A server that ends a continuous feed at once is not asked in a loop.
func TestContinuousFeedThatEnds(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.bulk(a, doc("x", 1, 0, ""))
	p := s.watch(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.URL.Query().Get("feed") != "continuous" {
			return false
		}
		io.WriteString(w, `{"last_seq":null,"pending":0}`+"\n")
		return true
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var pauses []time.Duration
	r := engine.New(p.peer(a), s.peer(b), engine.Options{Continuous: true})
	r.SetSleep(func(ctx context.Context, d time.Duration) error {
		if d >= 30*time.Second { // the next checkpoint
			<-ctx.Done()
			return ctx.Err()
		}
		if pauses = append(pauses, d); len(pauses) == 5 {
			cancel()
		}
		return ctx.Err()
	})
	if _, err := r.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if pauses[4] < pauses[0] {
		t.Errorf("pauses %v do not grow", pauses)
	}
	same(t, s, a, s, b)
}

// The target dies after the twelfth _bulk_docs and every request after it, so
// that no last checkpoint is written: for the databases that is a replicator
// that was killed.
func TestKilledGoesOnFromItsCheckpoint(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	for at := range 20 {
		var docs []string
		for i := range 100 {
			docs = append(docs, doc(fmt.Sprintf("d%04d", at*100+i), 2, 0, ""))
		}
		s.bulk(a, docs...)
	}
	var n atomic.Int64
	var revived atomic.Bool
	due, recorded := make(chan struct{}), make(chan struct{})
	p := s.watch(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if revived.Load() {
			return false
		}
		if strings.HasSuffix(r.URL.Path, "_bulk_docs") {
			if n.Add(1) == 6 {
				close(due)
				<-recorded
			}
		} else if n.Load() <= 12 {
			return false
		}
		return n.Load() > 12 && refuse(w, 404, "dead", "no_db_file")
	})
	r := engine.New(s.peer(a), p.peer(b), engine.Options{WorkerBatchSize: 100, WorkerProcesses: 1})
	pauses := 0
	r.SetSleep(func(ctx context.Context, _ time.Duration) error { // from one checkpoint to the next
		if pauses++; pauses == 1 {
			<-due
			return nil
		}
		close(recorded)
		<-ctx.Done()
		return ctx.Err()
	})
	first, err := r.Run(context.Background())
	if err == nil {
		t.Fatal("the target died and Run says nothing")
	}
	revived.Store(true)
	second := run(t, s.peer(a), p.peer(b), engine.Options{})
	if second.StartSeq == nil || second.MissingChecked >= 2000 || second.MissingChecked == 0 {
		t.Errorf("the second run starts at %s and checks %d revisions", second.StartSeq, second.MissingChecked)
	}
	if len(second.History) != 2 || second.History[1].SessionID != first.SessionID {
		t.Errorf("history %+v", second.History)
	}
	if want, have := s.leaves(a), s.leaves(b); !maps.Equal(want, have) {
		t.Errorf("%d leaves of %d", len(have), len(want))
	}
}

func TestStoppedByTheUser(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	for i := range 500 {
		s.bulk(a, doc(fmt.Sprintf("d%04d", i), 2, 0, ""))
	}
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	var n atomic.Int64
	p := s.watch(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if strings.HasSuffix(r.URL.Path, "_bulk_docs") && n.Add(1) == 6 {
			cancel(stop)
		}
		return false
	})
	first, err := engine.New(s.peer(a), p.peer(b), engine.Options{WorkerBatchSize: 50, WorkerProcesses: 1}).Run(ctx)
	if !errors.Is(err, stop) {
		t.Fatalf("error %v, want the cause", err)
	}
	if first.CheckpointedSeq == nil {
		t.Fatal("no checkpoint at the end")
	}
	second := run(t, s.peer(a), p.peer(b), engine.Options{})
	if string(second.StartSeq) != string(first.CheckpointedSeq) || second.MissingChecked >= 500 {
		t.Errorf("the second run starts at %s, the first ended at %s; checked %d", second.StartSeq, first.CheckpointedSeq, second.MissingChecked)
	}
	if len(second.History) != 2 || second.History[1].SessionID != first.SessionID {
		t.Errorf("history %+v", second.History)
	}
	same(t, s, a, s, b)
}

func TestContinuous(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.hard(a)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := engine.New(s.peer(a), s.peer(b), engine.Options{Continuous: true})
	done := make(chan error, 1)
	go func() {
		_, err := r.Run(ctx)
		done <- err
	}()
	arrives := func(id string) {
		t.Helper()
		since := "0"
		for {
			var feed struct {
				Results []struct{ ID string }
				LastSeq json.RawMessage `json:"last_seq"`
			}
			s.do("GET", b+"/_changes?feed=longpoll&timeout=20000&since="+since, nil, &feed)
			if len(feed.Results) == 0 {
				t.Fatalf("%s did not arrive", id)
			}
			for _, row := range feed.Results {
				if row.ID == id {
					return
				}
			}
			since = strings.Trim(string(feed.LastSeq), `"`)
		}
	}
	arrives("long")
	for i := range 5 {
		id := fmt.Sprint("later-", i)
		s.bulk(a, doc(id, 1+i, 0, attached(1+i, map[string][]byte{"a": noise(10)}, "application/octet-stream")))
		arrives(id)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	p := r.Progress()
	if p.CheckpointedSeq == nil || string(p.CheckpointedSeq) != string(p.ThroughSeq) {
		t.Errorf("checkpoint %s, through %s", p.CheckpointedSeq, p.ThroughSeq)
	}
	same(t, s, a, s, b)
}

func TestDatabaseMadeAnewMeanwhile(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.bulk(a, doc("x", 1, 0, ""))
	p := s.watch(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if strings.HasSuffix(r.URL.Path, "_ensure_full_commit") {
			w.WriteHeader(201)
			io.WriteString(w, `{"ok":true,"instance_start_time":"1999"}`)
			return true
		}
		return false
	})
	if _, err := engine.New(s.peer(a), p.peer(b), engine.Options{}).Run(context.Background()); err == nil || !strings.Contains(err.Error(), "created again") {
		t.Errorf("error %v", err)
	}
}

// A source that makes up a large attachment, and a target that reads it.
func TestMemoryDoesNotGrowWithAnAttachment(t *testing.T) {
	const size = 256 << 20
	rev, _ := revision(1, 0)
	stub := fmt.Sprintf(`{"_id":"x","_rev":%q,"_attachments":{"a.bin":{"content_type":"application/octet-stream","revpos":1,"length":%d,"KIND":true}}}`, rev, size)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/_changes"):
			fmt.Fprintf(w, `{"results":[{"seq":"1","id":"x","changes":[{"rev":%q}],"doc":%s}],"last_seq":"1"}`, rev, strings.Replace(stub, "KIND", "stub", 1))
		case strings.HasSuffix(r.URL.Path, "/x"):
			w.Header().Set("Content-Type", `multipart/mixed; boundary="o"`)
			fmt.Fprintf(w, "--o\r\nContent-Type: multipart/related; boundary=\"i\"\r\n\r\n--i\r\nContent-Type: application/json\r\n\r\n%s\r\n--i\r\n\r\n", strings.Replace(stub, "KIND", "follows", 1))
			zeros := make([]byte, 1<<20)
			for range size >> 20 {
				w.Write(zeros)
			}
			io.WriteString(w, "\r\n--i--\r\n--o--")
		case strings.Contains(r.URL.Path, "_local"):
			refuse(w, 404, "not_found", "missing")
		default:
			io.WriteString(w, `{"doc_count":1,"update_seq":"1"}`)
		}
	}))
	defer source.Close()
	var stored atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == "PUT":
			n, _ := io.Copy(io.Discard, r.Body)
			stored.Store(n)
			if n != r.ContentLength {
				t.Errorf("%d bytes, Content-Length %d", n, r.ContentLength)
			}
			w.WriteHeader(201)
			io.WriteString(w, `{"ok":true}`)
		case strings.Contains(r.URL.Path, "_local"):
			refuse(w, 404, "not_found", "missing")
		default:
			io.WriteString(w, `{"update_seq":0}`)
		}
	}))
	defer target.Close()
	no := false
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := run(t, engine.Peer{URL: source.URL + "/a"}, engine.Peer{URL: target.URL + "/b"}, engine.Options{UseCheckpoints: &no})
	runtime.ReadMemStats(&after)
	if stored.Load() <= size || res.DocsWritten != 1 {
		t.Fatalf("stored %d bytes, %+v", stored.Load(), res.Progress)
	}
	// All that was ever allocated, by three parties, is less than a tenth of it.
	if n := after.TotalAlloc - before.TotalAlloc; n > size/10 {
		t.Errorf("%d bytes allocated for an attachment of %d", n, size)
	}
}
