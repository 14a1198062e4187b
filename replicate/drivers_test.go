package replicate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"couchgauge/internal/couch"
)

// jobAt is a job for tests, from s to t.
func jobAt(at *couch.Server) job {
	p := &Peer{Server: at, User: "adm:in", Password: "p@ss/w%rd"}
	return job{
		id: "couchgauge-x-job1", at: at, login: loginObject,
		source: endpoint{p, "couchgauge-x-s1"}, target: endpoint{p, "couchgauge-x-t2"},
		fields: map[string]any{"worker_processes": 4}, database: "_replicator", look: time.Millisecond,
	}
}

// R6: a job that will not end is given up, with its state and its innermost
// reason in one line, whatever the server leaves null.
func TestHopelessJobs(t *testing.T) {
	const crash = `{worker_died,<0.9.1>,{process_died,<0.7.2>,{http_request_failed,"PUT","http://adm:p@h/t/",{error,econnrefused}}}}`
	quoted, _ := json.Marshal(crash)
	for _, c := range []struct {
		name    string
		prepare func(*testing.T, *couch.Server) running
		answer  func(w http.ResponseWriter, r *http.Request)
		state   string
		reason  string
	}{
		{
			name: "replicate, crashing", state: "crashing", reason: "econnrefused (http://h/t/)",
			prepare: func(t *testing.T, s *couch.Server) running { return prep(t, prepareReplicate, jobAt(s)) },
			answer: func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/_replicate":
					idleFeed(w, r) // it never ends
				case "/_scheduler/jobs":
					fmt.Fprintf(w, `{"jobs":[{"database":null,"doc_id":null,"id":"1","info":null,
						"source":"http://h/couchgauge-x-s1/","target":"http://h/couchgauge-x-t2/",
						"history":[{"type":"crashed","reason":%s},{"type":"started"},{"type":"added"}]}]}`, quoted)
				}
			},
		},
		{
			name: "replicate, refused", state: "failed", reason: "unauthorized: unauthorized to access or create database http://h/x/",
			prepare: func(t *testing.T, s *couch.Server) running { return prep(t, prepareReplicate, jobAt(s)) },
			answer: func(w http.ResponseWriter, r *http.Request) {
				http.Error(w, `{"error":"unauthorized","reason":"unauthorized to access or create database http://adm:p@h/x/"}`, http.StatusUnauthorized)
			},
		},
		{
			name: "replicator, crashing", state: "crashing", reason: "db_not_found: could not open http://h/t/",
			prepare: func(t *testing.T, s *couch.Server) running { return prep(t, prepareReplicator, jobAt(s)) },
			answer: func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/_changes"):
					idleFeed(w, r)
				case strings.HasPrefix(r.URL.Path, "/_scheduler/docs/"):
					fmt.Fprint(w, `{"state":"crashing","info":{"error":"db_not_found: could not open http://h/t/"},"error_count":1,"last_updated":null}`)
				case r.Method == http.MethodPut:
					w.WriteHeader(http.StatusCreated)
					fmt.Fprint(w, `{"ok":true,"id":"couchgauge-x-job1","rev":"1-a"}`)
				default:
					http.Error(w, `{"error":"not_found","reason":"missing"}`, http.StatusNotFound)
				}
			},
		},
		{
			name: "replicator, failed", state: "failed", reason: "Bad filter",
			prepare: func(t *testing.T, s *couch.Server) running { return prep(t, prepareReplicator, jobAt(s)) },
			answer: func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/_changes"):
					fmt.Fprint(w, `{"seq":1,"id":"another","changes":[],"doc":{"_replication_state":"completed"}}`+"\n")
					fmt.Fprint(w, "\n") // a heartbeat
					fmt.Fprint(w, `{"seq":2,"id":"couchgauge-x-job1","changes":[],"doc":{"_replication_state":"failed","_replication_state_reason":"Bad filter","_replication_stats":null}}`+"\n")
					idleFeed(w, r)
				case r.Method == http.MethodPut:
					w.WriteHeader(http.StatusCreated)
					fmt.Fprint(w, `{"ok":true,"id":"couchgauge-x-job1","rev":"1-a"}`)
				default:
					http.Error(w, `{"error":"not_found","reason":"missing"}`, http.StatusNotFound)
				}
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scripted(t, http.HandlerFunc(c.answer))
			r := c.prepare(t, s)
			if err := r.submit(t.Context()); err != nil {
				t.Fatal(err)
			}
			o := r.wait(t.Context())
			if o.err != nil || o.State != c.state || o.Reason != c.reason {
				t.Errorf("%+v, want %s: %s", o, c.state, c.reason)
			}
			fault := jobResult{outcome: o}.fault(jobAt(s)).Error()
			if strings.Contains(fault, "\n") || !strings.Contains(fault, c.state+": "+c.reason) {
				t.Errorf("it says %q", fault)
			}
		})
	}
}

// A job that its server started again, because the other side answered 429, is
// waited for, and its restarts are counted although it is done in the end.
func TestRestartedJob(t *testing.T) {
	looked := make(chan struct{})
	var looks atomic.Int32
	s := scripted(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/_replicate":
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-looked:
			case <-r.Context().Done():
			}
			fmt.Fprint(w, `{"ok":true,"history":[{"docs_read":3,"docs_written":3,"doc_write_failures":null}]}`)
		case "/_scheduler/jobs":
			fmt.Fprint(w, `{"jobs":[{"database":null,"source":"http://h/couchgauge-x-s1/","target":"http://h/couchgauge-x-t2/","info":null,
				"history":[{"type":"started"},{"type":"crashed","reason":"max_backoff"},{"type":"started"},{"type":"added"}]}]}`)
			if looks.Add(1) == 2 { // so the first has been read
				close(looked)
			}
		}
	}))
	r := prep(t, prepareReplicate, jobAt(s))
	if err := r.submit(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := r.wait(t.Context())
	if o.State != stateCompleted || o.Restarts != 1 || o.Reason != "max_backoff" || o.Counters.DocWriteFailures != nil {
		t.Errorf("%+v, want a completed job with one restart", o)
	}
}

// prep prepares a job and stops it when the test ends.
func prep(t *testing.T, prepare func(context.Context, job) (running, error), j job) running {
	t.Helper()
	r, err := prepare(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.stop(t.Context()) }) // the scripted server is no real one
	return r
}

// idleFeed is a feed in which nothing happens.
func idleFeed(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection stays unnoticed
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// Jobs carry the credentials as the server takes them, and only there.
func TestJobDocument(t *testing.T) {
	for _, c := range []struct {
		login login
		want  string
	}{
		{loginObject, `"auth":{"basic":{"password":"p@ss/w%rd","username":"adm:in"}},"url":"http://127.0.0.1:5984/couchgauge-x-s1"`},
		{loginUserinfo, `"source":"http://adm%3Ain:p%40ss%2Fw%25rd@127.0.0.1:5984/couchgauge-x-s1"`},
	} {
		s, err := couch.Open("http://127.0.0.1:5984/", couch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		j := jobAt(s)
		j.login = c.login
		b, err := json.Marshal(j.document())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), c.want) || !strings.Contains(string(b), `"worker_processes":4`) {
			t.Errorf("%s: %s", c.login, b)
		}
		for _, text := range []string{fmt.Sprint(j), fmt.Sprintf("%v %#v", *j.source.peer, *j.source.peer), fmt.Sprintf("%+v", j.source)} {
			if strings.Contains(text, "p@ss") {
				t.Errorf("%q tells the password", text)
			}
		}
	}
	p := &Peer{Server: jobAt(nil).at}
	p.As = "http://elsewhere:1234/prefix"
	if got := (endpoint{p, "a+b"}).json(loginObject); got != "http://elsewhere:1234/prefix/a%2Bb" {
		t.Errorf("without credentials: %v", got)
	}
}

// The scheduler's jobs come in pages.
func TestJobsArePaged(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	s := scripted(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.RawQuery)
		mu.Unlock()
		var jobs []string
		n := schedulerPage
		if strings.Contains(r.URL.RawQuery, "skip=100") {
			n = 3
		}
		for i := range n {
			target := "other"
			if n == 3 && i == 2 {
				target = "couchgauge-x-t2"
			}
			jobs = append(jobs, fmt.Sprintf(`{"source":"http://h/couchgauge-x-s1/","target":"http://h/%s/","database":null,"history":[{"type":"started"}],"info":{"docs_read":7,"changes_pending":null}}`, target))
		}
		fmt.Fprintf(w, `{"jobs":[%s]}`, strings.Join(jobs, ","))
	}))
	j := jobAt(s)
	w := lookAtJob(t.Context(), s, func(x schedulerJob) bool { return x.moves(j) })
	if w.state != "running" || w.counters.DocsRead == nil || *w.counters.DocsRead != 7 || w.counters.ChangesPending != nil {
		t.Errorf("%+v", w)
	}
	if len(asked) != 2 {
		t.Errorf("asked for %v, want two pages", asked)
	}
}
