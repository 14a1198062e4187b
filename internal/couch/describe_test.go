package couch

import (
	"context"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"couchgauge/internal/servertest"
)

// scripted makes a server of a handler's answers by "METHOD path"; a missing
// one is CouchDB's 404.
func scripted(t testing.TB, answers map[string]string) *Server {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body, ok := strings.Cut(answers[r.Method+" "+r.URL.Path], " ")
		if r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, "/db/couchgauge-empty-") {
			status, body = "201", `{"ok":true}`
		} else if !ok {
			status, body = "404", `{"error":"not_found","reason":"missing"}`
		}
		w.Header().Set("Server", "CouchDB/3.5.0 (Erlang OTP/25)")
		w.WriteHeader(map[string]int{"200": 200, "201": 201, "401": 401, "403": 403, "404": 404}[status])
		w.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	return open(t, srv.URL, Options{})
}

const refused = `401 {"error":"unauthorized","reason":"You are not a server admin."}`

func TestDescribe(t *testing.T) {
	const config = `200 {"couchdb":{"database_dir":"C:\\CouchDB\\data","max_document_size":"16000000"},
		"admins":{"admin":"-pbkdf2-hunter2"},"chttpd_auth":{"secret":"hunter2"},
		"replicator":{"startup_jitter":"1","password":"hunter2","key_file":"/hunter2","odd":"http://u:hunter2@h/"}}`
	for _, test := range []struct {
		name     string
		answers  map[string]string
		want     Info // without times
		limit    string
		jitter   string
		interval string
	}{
		{
			name: "admin",
			answers: map[string]string{
				"GET /_node/_local/_config":   config,
				"GET /_node/_local/_versions": `200 {"erlang":{"version":"25.2.3"},"javascript_engine":{"name":"spidermonkey","version":"91"}}`,
				"GET /db":                     `200 {"cluster":{"q":2,"n":3,"w":2,"r":2}}`,
			},
			want:  Info{Erlang: "25.2.3", JSEngine: "spidermonkey 91", OS: "Windows (by its database_dir)", Q: "2", N: "3"},
			limit: "16000000", jitter: "1", interval: "default (not set)",
		},
		{
			name: "not an admin",
			answers: map[string]string{
				"GET /_node/_local/_config":   refused,
				"GET /_node/_local/_versions": refused,
				"GET /db":                     `200 {"cluster":{"q":8,"n":3}}`,
			},
			want:  Info{Erlang: "OTP 25", JSEngine: "unknown (not admin)", OS: "unknown (not admin)", Q: "8", N: "3"},
			limit: "unknown (not admin)", jitter: "unknown (not admin)", interval: "unknown (not admin)",
		},
		{
			name:    "no _config",
			answers: map[string]string{"GET /db": `200 {"db_name":"db"}`},
			want:    Info{Erlang: "OTP 25", JSEngine: "unknown (not told)", OS: "unknown (no _config)", Q: "unknown (not told)", N: "unknown (not told)"},
			limit:   "unknown (no _config)", jitter: "unknown (no _config)", interval: "unknown (no _config)",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			answers := maps.Clone(test.answers)
			answers["GET /"] = "200 " + couchWelcome
			s := scripted(t, answers)
			got, err := s.Describe(t.Context(), "db")
			if err != nil {
				t.Fatal(err)
			}
			if got.Erlang != test.want.Erlang || got.JSEngine != test.want.JSEngine || got.OS != test.want.OS || got.Q != test.want.Q || got.N != test.want.N {
				t.Errorf("got %+v\nwant %+v", got, test.want)
			}
			if got.URL != s.URL() || string(got.Welcome) != couchWelcome || got.Header != "CouchDB/3.5.0 (Erlang OTP/25)" || got.Reference || got.Proxy != "" {
				t.Errorf("got %+v", got)
			}
			if v := got.Limits["couchdb/max_document_size"]; v != test.limit {
				t.Errorf("max_document_size is %q, want %q", v, test.limit)
			}
			if v := got.Replicator["startup_jitter"]; v != test.jitter {
				t.Errorf("startup_jitter is %q, want %q", v, test.jitter)
			}
			if v := got.Replicator["interval"]; v != test.interval {
				t.Errorf("interval is %q, want %q", v, test.interval)
			}
			if got.Connect <= 0 || got.RoundTrip <= 0 || got.EmptyDocPut <= 0 {
				t.Errorf("times are %v, %v, %v", got.Connect, got.RoundTrip, got.EmptyDocPut)
			}
			for _, text := range slices.Concat(slices.Collect(maps.Values(got.Limits)), slices.Collect(maps.Values(got.Replicator))) {
				if strings.Contains(text, "hunter2") {
					t.Errorf("a secret is in %q", text)
				}
			}
		})
	}
}

func TestSystemByDataFolder(t *testing.T) {
	for dir, want := range map[string]string{
		`C:\CouchDB\data`:    "Windows (by its database_dir)",
		"C:/CouchDB/data":    "Windows (by its database_dir)",
		"/opt/couchdb/data":  "Unix (by its database_dir)",
		"/Users/me/couch":    "macOS (by its database_dir)",
		"./data":             "unknown (not told)",
		"":                   "unknown (not told)",
		`\\share\couch\data`: "Windows (by its database_dir)",
	} {
		s := settings{values: map[string]map[string]string{"couchdb": {"database_dir": dir}}}
		if got := s.os(); got != want {
			t.Errorf("%q: got %q, want %q", dir, got, want)
		}
	}
}

func TestMedianTimeStopsAtAnError(t *testing.T) {
	s := scripted(t, map[string]string{"GET /": "200 " + couchWelcome})
	if _, err := s.Describe(t.Context(), "gone"); err == nil || !strings.Contains(err.Error(), "q and n") {
		t.Errorf("got %v, want an error about q and n", err)
	}
}

// database creates one of our databases for the test's time.
func database(t *testing.T, s *Server) string {
	t.Helper()
	d := s.NewDatabases(NewRunID(time.Now(), rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))))
	name, err := d.Create(t.Context(), "couch-test", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.DeleteAll(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return name
}

func TestDescribeServers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, ts servertest.Server) {
		s := open(t, ts.URL, Options{IdleTimeout: time.Minute})
		info, err := s.Describe(t.Context(), database(t, s))
		if err != nil {
			t.Fatal(err)
		}
		if info.Reference != ts.Reference {
			t.Errorf("reference is %v", info.Reference)
		}
		if info.RoundTrip <= 0 || info.EmptyDocPut <= 0 || info.Connect <= 0 {
			t.Errorf("times are %v, %v, %v", info.Connect, info.RoundTrip, info.EmptyDocPut)
		}
		if info.Proxy != "" {
			t.Errorf("a proxy was found: %s", info.Proxy)
		}
		if !ts.Pouch && (info.Q == unknownNotTold || info.N == unknownNotTold) {
			t.Errorf("q is %s, n is %s", info.Q, info.N)
		}
		if got := info.Limits["couchdb/max_attachment_size"]; ts.Pouch != (got == unknownNoPath) {
			t.Errorf("max_attachment_size is %s", got)
		}
		t.Logf("%+v", info)
	})
}
