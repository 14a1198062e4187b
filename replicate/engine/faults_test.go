package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"couchgauge/replicate/engine"
)

// eager is a replication that does not pause between tries. It keeps the
// pauses it would have made.
func eager(source, target engine.Peer, o engine.Options) (*engine.Replication, *[]time.Duration) {
	r := engine.New(source, target, o)
	var mu sync.Mutex
	pauses := new([]time.Duration)
	r.SetSleep(func(ctx context.Context, d time.Duration) error {
		if d >= 30*time.Second { // the time to the next checkpoint
			<-ctx.Done()
			return ctx.Err()
		}
		mu.Lock()
		*pauses = append(*pauses, d)
		mu.Unlock()
		return ctx.Err()
	})
	return r, pauses
}

// once runs fault for the first request to each method and path.
func once(fault func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request, []byte) bool {
	var seen sync.Map
	return func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if _, again := seen.LoadOrStore(r.Method+" "+r.URL.Path, true); again {
			return false
		}
		return fault(w, r)
	}
}

func TestFaultsAreTriedAgain(t *testing.T) {
	faults := map[string]func(http.ResponseWriter, *http.Request) bool{
		"hang up":     func(w http.ResponseWriter, _ *http.Request) bool { return hangUp(w) },
		"429":         func(w http.ResponseWriter, _ *http.Request) bool { return refuse(w, 429, "too_many_requests", "") },
		"503":         func(w http.ResponseWriter, _ *http.Request) bool { return refuse(w, 503, "unavailable", "") },
		"500 in HTML": func(w http.ResponseWriter, _ *http.Request) bool { http.Error(w, "<html>", 500); return true },
		"half an answer": func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, `{"results":[{"seq":"1","id":"a`)
			return hangUp(w)
		},
	}
	for name, fault := range faults {
		for _, side := range []string{"source", "target"} {
			t.Run(name+"/"+side, func(t *testing.T) {
				s := reference(t)
				a, b := s.create(), s.create()
				s.hard(a)
				source, target := s.peer(a), s.peer(b)
				p := s.watch(once(fault))
				if side == "source" {
					source = p.peer(a)
				} else {
					target = p.peer(b)
				}
				r, pauses := eager(source, target, engine.Options{})
				res, err := r.Run(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if res.DocWriteFailures != 0 {
					t.Errorf("failures: %+v", res.Failures)
				}
				same(t, s, a, s, b)
				if res.Retries == 0 || len(*pauses) != int(res.Retries) {
					t.Errorf("%d retries with %d pauses", res.Retries, len(*pauses))
				}
			})
		}
	}
}

func TestStreamsBreakOffAnywhere(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.hard(a)
	behind := s.watch(nil)
	// Every answer to the source's large requests ends after some bytes, more
	// of them each time.
	var n atomic.Int64
	p := s.watch(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if r.Method == "PUT" || strings.HasSuffix(r.URL.Path, a) || strings.Contains(r.URL.Path, "_local") {
			return false
		}
		req, _ := http.NewRequest(r.Method, behind.url+r.URL.RequestURI(), bytes.NewReader(body))
		req.Header = r.Header
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Error(err)
			return hangUp(w)
		}
		defer res.Body.Close()
		for k, v := range res.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(res.StatusCode)
		limit := n.Add(1) * 3000
		if _, err := io.CopyN(w, res.Body, limit); err == nil {
			w.(http.Flusher).Flush()
			return hangUp(w)
		}
		return true
	})
	r, _ := eager(p.peer(a), s.peer(b), engine.Options{RetriesPerRequest: 1000})
	res, err := r.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if res.DocWriteFailures != 0 || res.Retries == 0 {
		t.Errorf("failures %+v, retries %d", res.Failures, res.Retries)
	}
	same(t, s, a, s, b)
}

func TestRetriesEnd(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.bulk(a, doc("x", 1, 0, ""))
	p := s.watch(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		return strings.HasSuffix(r.URL.Path, "_bulk_docs") && refuse(w, 503, "unavailable", "try later")
	})
	r, pauses := eager(s.peer(a), p.peer(b), engine.Options{RetriesPerRequest: 3})
	_, err := r.Run(context.Background())
	var refused *engine.Error
	if !errors.As(err, &refused) || refused.Status != 503 || refused.Reason != "try later" {
		t.Fatalf("error %v", err)
	}
	count(t, "requests", p.to("POST", "_bulk_docs"), 4)
	count(t, "pauses", *pauses, 3)
	for i, d := range *pauses {
		if full := 250 * time.Millisecond << i; d < full/2 || d > full {
			t.Errorf("pause %d: %v, want %v to %v", i, d, full/2, full)
		}
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.bulk(a, doc("x", 1, 0, ""))
	p := s.watch(once(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "_bulk_docs") {
			return false
		}
		w.Header().Set("Retry-After", "7")
		return refuse(w, 429, "too_many_requests", "")
	}))
	r, pauses := eager(s.peer(a), p.peer(b), engine.Options{})
	if _, err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(*pauses, []time.Duration{7 * time.Second}) {
		t.Errorf("pauses %v, want 7s", *pauses)
	}
}

func TestWrongPasswordIsOneRequest(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	p := s.watch(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		return refuse(w, 401, "unauthorized", "Name or password is incorrect.")
	})
	source := p.peer(a)
	source.URL = strings.Replace(source.URL, "//", "//who:hunter2@", 1)
	_, err := engine.New(source, s.peer(b), engine.Options{}).Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "401") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v", err)
	}
	count(t, "requests to the source", p.all(), 1)
	if user, pass, _ := (&http.Request{Header: p.all()[0].Header}).BasicAuth(); user != "who" || pass != "hunter2" {
		t.Errorf("credentials %q %q", user, pass)
	}
}

func TestTargetMissing(t *testing.T) {
	s := reference(t)
	_, err := engine.New(s.peer(s.create()), s.peer(s.name()), engine.Options{}).Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "create_target") {
		t.Errorf("error %v", err)
	}
}

// picky answers _bulk_docs as a target that refuses some documents.
func picky(s *server, refuses func(id string) bool) *spy {
	return s.watch(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if !strings.HasSuffix(r.URL.Path, "_bulk_docs") {
			return false
		}
		var m struct {
			NewEdits bool `json:"new_edits"`
			Docs     []map[string]any
		}
		if err := json.Unmarshal(body, &m); err != nil || m.NewEdits {
			s.t.Errorf("_bulk_docs %.100s: %v", body, err)
		}
		var kept []map[string]any
		errs := []map[string]string{}
		for _, d := range m.Docs {
			if id := d["_id"].(string); refuses(id) {
				errs = append(errs, map[string]string{"id": id, "rev": d["_rev"].(string), "error": "forbidden", "reason": "not here"})
			} else {
				kept = append(kept, d)
			}
		}
		forward, _ := json.Marshal(map[string]any{"new_edits": false, "docs": kept})
		_, path, _ := strings.Cut(r.URL.Path, "/")
		s.do("POST", path, forward, nil)
		w.WriteHeader(201)
		json.NewEncoder(w).Encode(errs)
		return true
	})
}

func TestRefusedDocumentsAreCountedAndNamed(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	for i := range 1000 {
		s.bulk(a, doc(fmt.Sprint("d", i), 1+i%2, 0, ""))
	}
	p := picky(s, func(id string) bool { return strings.HasSuffix(id, "7") })
	res := run(t, s.peer(a), p.peer(b), engine.Options{})
	if res.DocsRead != 1000 || res.DocsWritten != 900 || res.DocWriteFailures != 100 {
		t.Errorf("read %d, wrote %d, failed %d", res.DocsRead, res.DocsWritten, res.DocWriteFailures)
	}
	count(t, "named", res.Failures, 100)
	for _, f := range res.Failures {
		if !strings.HasSuffix(f.ID, "7") || f.Rev == "" || f.Error != "forbidden" || f.Reason != "not here" {
			t.Errorf("failure %+v", f)
		}
	}
	count(t, "stored", keys(s.leaves(b)), 900)
	if h := res.History[0]; h.DocWriteFailures != 100 {
		t.Errorf("history %+v", h)
	}
}

func keys[K comparable, V any](m map[K]V) []K {
	var list []K
	for k := range m {
		list = append(list, k)
	}
	return list
}

func TestTooLargeParcelsAreHalved(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	for i := range 50 {
		s.bulk(a, doc(fmt.Sprint("d", i), 1, 0, `,"s":"`+strings.Repeat("x", 1000)+`"`))
	}
	s.bulk(a, doc("huge", 1, 0, `,"s":"`+strings.Repeat("x", 20_000)+`"`))
	const limit = 5000
	p := s.watch(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return r.Method == "POST" && len(body) > limit && refuse(w, 413, "too_large", "the request entity is too large")
	})
	res := run(t, s.peer(a), p.peer(b), engine.Options{})
	if res.DocsWritten != 50 || res.DocWriteFailures != 1 || len(res.Failures) != 1 || res.Failures[0].ID != "huge" {
		t.Errorf("wrote %d, failures %+v", res.DocsWritten, res.Failures)
	}
	count(t, "stored", keys(s.leaves(b)), 50)
}

func TestDocumentThatTheTargetCannotReadIsFound(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	for i := range 64 {
		s.bulk(a, doc(fmt.Sprint("d", i), 1, 0, ""))
	}
	p := s.watch(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return r.Method == "POST" && bytes.Contains(body, []byte(`"d33"`)) && strings.HasSuffix(r.URL.Path, "_bulk_docs") &&
			refuse(w, 400, "doc_validation", "Bad special document member: _x")
	})
	res := run(t, s.peer(a), p.peer(b), engine.Options{})
	if res.DocsWritten != 63 || len(res.Failures) != 1 || res.Failures[0].ID != "d33" || res.Failures[0].Error != "doc_validation" {
		t.Errorf("wrote %d, failures %+v", res.DocsWritten, res.Failures)
	}
}

func TestRefusedAttachmentsAreCountedAndNamed(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.bulk(a, doc("big", 1, 0, attached(1, map[string][]byte{"a": noise(2 << 20)}, "application/octet-stream")), doc("small", 1, 0, ""))
	p := s.watch(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return r.Method == "PUT" && strings.HasSuffix(r.URL.Path, "/big") && refuse(w, 413, "attachment_too_large", "a")
	})
	res := run(t, s.peer(a), p.peer(b), engine.Options{})
	if res.DocsWritten != 1 || len(res.Failures) != 1 || res.Failures[0].ID != "big" || res.Failures[0].Error != "attachment_too_large" {
		t.Errorf("wrote %d, failures %+v", res.DocsWritten, res.Failures)
	}
	count(t, "PUTs", p.to("PUT", "big"), 1)
}

func TestDocumentGoneFromTheSource(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.bulk(a, doc("here", 2, 0, ""), doc("gone", 2, 0, ""))
	p := s.watch(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if strings.HasSuffix(r.URL.Path, "/gone") {
			return refuse(w, 404, "not_found", "missing")
		}
		if strings.HasSuffix(r.URL.Path, "_bulk_get") {
			_, path, _ := strings.Cut(r.URL.RequestURI(), "/")
			_, answer := s.try("POST", path, bytes.ReplaceAll(body, []byte(`"gone"`), []byte(`"never"`)))
			w.Header().Set("Content-Type", "application/json")
			w.Write(answer)
			return true
		}
		return false
	})
	res := run(t, p.peer(a), s.peer(b), engine.Options{})
	if res.DocsWritten != 1 || len(res.Failures) != 1 || res.Failures[0].ID != "gone" || res.Failures[0].Error != "not_found" {
		t.Errorf("wrote %d, failures %+v", res.DocsWritten, res.Failures)
	}
}

func TestSilentServerIsGivenUp(t *testing.T) {
	s := reference(t)
	a, b := s.create(), s.create()
	s.bulk(a, doc("x", 1, 0, ""))
	var silent atomic.Int64
	p := s.watch(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if strings.HasSuffix(r.URL.Path, "_bulk_docs") && silent.Add(1) == 1 {
			<-r.Context().Done()
			return true
		}
		return false
	})
	r, pauses := eager(s.peer(a), p.peer(b), engine.Options{ConnectionTimeout: 200 * time.Millisecond})
	if _, err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(*pauses) != 1 {
		t.Errorf("%d tries again, want 1", len(*pauses))
	}
	same(t, s, a, s, b)
}
