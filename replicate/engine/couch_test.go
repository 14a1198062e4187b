package engine_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"couchgauge/replicate/engine"
)

// server is a CouchDB-compatible server that a test talks to, as admin.
type server struct {
	t    testing.TB
	base string // with credentials
}

// couch is the server named by COUCHGAUGE_TEST_URL.
func couch(t testing.TB) *server {
	t.Helper()
	base := os.Getenv("COUCHGAUGE_TEST_URL")
	if base == "" {
		t.Skip("COUCHGAUGE_TEST_URL is not set: give it a CouchDB's URL, with an admin's name and password")
	}
	return &server{t, strings.TrimRight(base, "/")}
}

// name is a new database name; the database is deleted after the test.
func (s *server) name() string {
	name := "couchgauge-engine-" + strings.ToLower(rand.Text())
	s.t.Cleanup(func() { s.try("DELETE", name, nil) })
	return name
}

// create makes a database.
func (s *server) create() string {
	s.t.Helper()
	name := s.name()
	s.do("PUT", name, nil, nil)
	return name
}

func (s *server) try(method, path string, body []byte) (int, []byte) {
	req, err := http.NewRequest(method, s.base+"/"+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, b
}

// do sends a request that must succeed and decodes the answer into v.
func (s *server) do(method, path string, body []byte, v any) {
	s.t.Helper()
	code, b := s.try(method, path, body)
	if code > 299 {
		s.t.Fatalf("%s %s: %d %s", method, path, code, b)
	}
	if v != nil {
		if err := json.Unmarshal(b, v); err != nil {
			s.t.Fatalf("%s %s: %v: %.200s", method, path, err, b)
		}
	}
}

// bulk stores documents as they are, revisions included.
func (s *server) bulk(db string, docs ...string) {
	s.t.Helper()
	var errs []struct{ ID, Error, Reason string }
	s.do("POST", db+"/_bulk_docs", []byte(`{"new_edits":false,"docs":[`+strings.Join(docs, ",")+`]}`), &errs)
	for _, e := range errs {
		if e.Error != "" {
			s.t.Fatalf("store %s: %s: %s", e.ID, e.Error, e.Reason)
		}
	}
}

func (s *server) peer(db string) engine.Peer { return engine.Peer{URL: s.base + "/" + db} }

// leaves lists every leaf of a database: document id, revision, and whether
// it is deleted.
func (s *server) leaves(db string) map[string]bool {
	s.t.Helper()
	var feed struct {
		Results []struct {
			ID      string
			Changes []struct{ Rev string }
		}
	}
	s.do("GET", db+"/_changes?style=all_docs", nil, &feed)
	all := map[string]bool{}
	for _, row := range feed.Results {
		for _, c := range row.Changes {
			all[row.ID+" "+c.Rev] = true
		}
	}
	return all
}

// doc is one revision of a document, attachments inline, decoded.
func (s *server) doc(db, leaf string) map[string]any {
	s.t.Helper()
	id, rev, _ := strings.Cut(leaf, " ")
	var v map[string]any
	s.do("GET", db+"/"+strings.ReplaceAll(url.PathEscape(id), "+", "%2B")+"?revs=true&attachments=true&rev="+rev, nil, &v)
	return v
}

// same fails unless both databases hold the same leaves with the same content.
func same(t testing.TB, a *server, adb string, b *server, bdb string) {
	t.Helper()
	have, want := b.leaves(bdb), a.leaves(adb)
	if len(want) == 0 {
		t.Fatal("the source holds nothing: the comparison proves nothing")
	}
	for leaf := range want {
		if !have[leaf] {
			t.Errorf("the target lacks %s", leaf)
			continue
		}
		x, y := a.doc(adb, leaf), b.doc(bdb, leaf)
		if xs, ys := flat(x), flat(y); xs != ys {
			t.Errorf("%s differs:\nsource %.500s\ntarget %.500s", leaf, xs, ys)
		}
	}
	for leaf := range have {
		if !want[leaf] {
			t.Errorf("the target has %s, which the source has not", leaf)
		}
	}
}

// flat writes a decoded document with sorted keys. Digests are left out:
// they differ between servers for the same content (fact 9).
func flat(v map[string]any) string {
	if atts, ok := v["_attachments"].(map[string]any); ok {
		for _, a := range atts {
			delete(a.(map[string]any), "digest")
		}
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// run replicates and fails on an error.
func run(t testing.TB, source, target engine.Peer, o engine.Options) engine.Result {
	t.Helper()
	res, err := engine.New(source, target, o).Run(context.Background())
	if err != nil {
		t.Fatalf("replicate: %v", err)
	}
	return res
}

// revision is a made-up revision of generation gen with the history before it.
func revision(gen int, branch string) (rev string, revisions string) {
	ids := make([]string, gen)
	for i := range ids {
		g := gen - i
		b := "a"
		if g > 1 {
			b = branch
		}
		ids[i] = fmt.Sprintf("%s%031d", b, g)
	}
	js, _ := json.Marshal(ids)
	return fmt.Sprintf("%d-%s", gen, ids[0]), fmt.Sprintf(`{"start":%d,"ids":%s}`, gen, js)
}
