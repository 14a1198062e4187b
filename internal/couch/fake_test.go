package couch

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fake is as much of a CouchDB as databases and settings need.
type fake struct {
	mu       sync.Mutex
	dbs      map[string]bool
	config   map[string]string // "section/key"
	requests []string          // "METHOD target"
	before   func(r *http.Request)
	refuse   map[string]int // "METHOD path prefix" to a status
}

func newFake(t testing.TB, dbs ...string) (*fake, *Server) {
	f := &fake{dbs: map[string]bool{}, config: map[string]string{}, refuse: map[string]int{}}
	for _, d := range dbs {
		f.dbs[d] = true
	}
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	return f, open(t, strings.Replace(srv.URL, "://", "://admin:hunter2@", 1), Options{})
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r.Method+" "+r.RequestURI)
	if f.before != nil {
		f.before(r)
	}
	for start, status := range f.refuse {
		if strings.HasPrefix(r.Method+" "+r.URL.Path, start) {
			w.WriteHeader(status)
			io.WriteString(w, `{"error":"refused","reason":"by the test"}`)
			return
		}
	}
	say := func(status int, v any) {
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(v)
	}
	fail := func(status int, code, reason string) {
		say(status, map[string]string{"error": code, "reason": reason})
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	switch key, isConfig := strings.CutPrefix(name, "_node/n1@h/_config/"); {
	case isConfig:
		old, set := f.config[key]
		if !set && r.Method != "PUT" {
			fail(404, "not_found", "unknown_config_value")
			return
		}
		switch r.Method {
		case "PUT":
			var v string
			json.NewDecoder(r.Body).Decode(&v)
			f.config[key] = v
		case "DELETE":
			delete(f.config, key)
		}
		say(200, old)
	case name == "_node/_local":
		say(200, map[string]string{"name": "n1@h"})
	case name == "_all_dbs":
		say(200, slices.Sorted(maps.Keys(f.dbs)))
	case r.Method == "PUT" && f.dbs[name]:
		fail(412, "file_exists", "The database could not be created, the file already exists.")
	case r.Method == "PUT":
		f.dbs[name] = true
		say(201, map[string]bool{"ok": true})
	case !f.dbs[name]:
		fail(404, "not_found", "Database does not exist.")
	default:
		delete(f.dbs, name)
		say(200, map[string]bool{"ok": true})
	}
}

// left are the names of the databases that are there.
func (f *fake) left() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.dbs))
}
