package engine_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	rand2 "math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"couchgauge/internal/servertest"
	"couchgauge/replicate/engine"
)

// server is a CouchDB-compatible server that a test talks to, as admin.
type server struct {
	servertest.Server
	t    testing.TB
	base string // with credentials, no closing slash
}

func on(t testing.TB, s servertest.Server) *server {
	return &server{s, t, strings.TrimRight(s.URL, "/")}
}

func reference(t testing.TB) *server { return on(t, servertest.Reference(t)) }

func couch(t testing.TB) *server { return on(t, servertest.Couch(t)) }

// name is a new database name; the database is deleted after the test.
func (s *server) name() string {
	name := "couchgauge-test-" + strings.ToLower(rand.Text())
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

// leaf is one revision of one document.
type leaf struct{ id, rev string }

// leaves lists every leaf of a database.
func (s *server) leaves(db string) map[leaf]bool {
	s.t.Helper()
	var feed struct {
		Results []struct {
			ID      string
			Changes []struct{ Rev string }
		}
	}
	s.do("GET", db+"/_changes?style=all_docs", nil, &feed)
	all := map[leaf]bool{}
	for _, row := range feed.Results {
		for _, c := range row.Changes {
			all[leaf{row.ID, c.Rev}] = true
		}
	}
	return all
}

// doc is one revision of a document, attachments inline, decoded.
func (s *server) doc(db string, l leaf) map[string]any {
	s.t.Helper()
	path := strings.ReplaceAll(url.PathEscape(l.id), "+", "%2B")
	if name, ok := strings.CutPrefix(l.id, "_design/"); ok {
		path = "_design/" + name // the escaped form is answered by a redirect
	}
	var v map[string]any
	s.do("GET", db+"/"+path+"?revs=true&attachments=true&rev="+l.rev, nil, &v)
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
			t.Errorf("the target lacks %v", leaf)
			continue
		}
		x, y := a.doc(adb, leaf), b.doc(bdb, leaf)
		if xs, ys := flat(x, b.Pouch), flat(y, b.Pouch); xs != ys {
			t.Errorf("%v differs:\nsource %.500s\ntarget %.500s", leaf, xs, ys)
		}
	}
	for leaf := range have {
		if !want[leaf] {
			t.Errorf("the target has %v, which the source has not", leaf)
		}
	}
}

// flat writes a decoded document with sorted keys. Digests are left out: they
// differ between servers for the same content (fact 9). So is revpos where
// the target is a PouchDB, which makes its own.
func flat(v map[string]any, pouch bool) string {
	if atts, ok := v["_attachments"].(map[string]any); ok {
		for _, a := range atts {
			delete(a.(map[string]any), "digest")
			if pouch {
				delete(a.(map[string]any), "revpos")
			}
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
// Branches part after the first generation.
func revision(gen int, branch int) (rev, revisions string) {
	ids := make([]string, gen)
	for i := range ids {
		g := gen - i
		if g > 1 {
			ids[i] = fmt.Sprintf("%016x%016x", branch, g)
		} else {
			ids[i] = strings.Repeat("a1", 16)
		}
	}
	js, _ := json.Marshal(ids)
	return fmt.Sprintf("%d-%s", gen, ids[0]), fmt.Sprintf(`{"start":%d,"ids":%s}`, gen, js)
}

// doc is a document of a made-up revision; members start with a comma.
func doc(id string, gen, branch int, members string) string {
	rev, revisions := revision(gen, branch)
	js, _ := json.Marshal(id)
	return fmt.Sprintf(`{"_id":%s,"_rev":%q,"_revisions":%s%s}`, js, rev, revisions, members)
}

// attached is a member _attachments with content inline.
func attached(revpos int, atts map[string][]byte, contentType string) string {
	var list []string
	for name, data := range atts {
		n, _ := json.Marshal(name)
		d, _ := json.Marshal(data)
		list = append(list, fmt.Sprintf(`%s:{"content_type":%q,"revpos":%d,"data":%s}`, n, contentType, revpos, d))
	}
	slices.Sort(list)
	return `,"_attachments":{` + strings.Join(list, ",") + "}"
}

// noise does not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	rand2.NewChaCha8([32]byte{1}).Read(b)
	return b
}
