package refserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// sessionOf is what an answer of _replicate has when something was copied.
const sessionOf = `"ok":true,"session_id":"~^[0-9a-f]{32}$","replication_id_version":4`

var replicatorConversations = []conversation{
	{"replicate: what is refused", []step{
		{do: "GET /_replicate", status: 400, want: `{"=":0,"error":"bad_request","reason":"Missing request body"}`},
		{do: "PUT /_replicate", body: `{}`, status: 405, header: map[string]string{"Allow": "POST"}},
		{do: "POST /_replicate", body: `{}`, headers: plainText, status: 415},
		{do: "POST /_replicate", body: `{}`, anon: true, status: 401, want: `{"=":0,"error":"unauthorized","reason":"You are not an authenticated user"}`},
		{do: "POST /_replicate", body: `{bad`, status: 400, want: `{"reason":"invalid UTF-8 JSON"}`},
		{do: "POST /_replicate", body: `[]`, status: 400, want: `{"reason":"Request body must be a JSON object"}`},
		{do: "POST /_replicate", body: `{}`, status: 500, want: `{"=":0,"error":"error","reason":"Missing replicator database"}`},
		{do: "POST /_replicate", body: `{"source":"http://HOST/DB"}`, status: 500, want: `{"error":"error","reason":"Missing replicator database"}`},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB-nope"}`, status: 500, want: `{"=":0,"error":"db_not_found","reason":"could not open http://HOST/DB-nope/"}`},
		{do: "POST /_replicate", body: `{"source":"DB-nope","target":"DB"}`, status: 500, want: `{"error":"db_not_found","reason":"could not open http://HOST/DB-nope/"}`},
		{do: "POST /_replicate", body: `{"source":{"url":"ftp://x/y"},"target":"DB"}`, status: 500, want: `{"error":"db_not_found","reason":"could not open http://HOST/ftp%3A%2F%2Fx%2Fy/"}`},
		{do: "POST /_replicate", body: `{"source":"http://HOST/DB","target":"DB"}`, status: 401,
			want: `{"error":"unauthorized","reason":"unauthorized to access or create database http://HOST/DB/"}`},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB","continuous":1}`, status: 400, want: "{\"error\":\"bad_request\",\"reason\":\"parameter `continuous` must be a boolean\"}"},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB","filter":"x"}`, status: 500, want: "{\"error\":\"error\",\"reason\":\"Invalid filter. Must match `ddocname/filtername`.\"}"},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB","filter":"a/b"}`, status: 404,
			want: "{\"error\":\"not_found\",\"reason\":\"Couldn't open document `_design/a` from source database `http://HOST/DB/`: {error,<<\\\"not_found\\\">>}\"}"},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB","filter":"a/b","doc_ids":["x"]}`, status: 400},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB","worker_processes":"x"}`, status: 500, want: `{"error":"unknown_error","reason":"badarg"}`},
		{do: "POST /_replicate", body: `{"cancel":true,"id":"nope"}`, status: 404, want: noSuch},
		{do: "POST /_replicate", body: `{"cancel":true,"source":"DB","target":"DB"}`, status: 404, want: noSuch},
		{do: "POST /_replicate", body: `{"cancel":1,"source":"DB","target":"DB"}`, status: 400},
	}},
	{"replicate", []step{
		{do: "POST /DB/_bulk_docs", body: `{"docs":[{"_id":"1"},{"_id":"2"},{"_id":"a b"}]}`, status: 201},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB-t","create_target":true,"create_target_params":{"q":3},"unheard_of":1}`, status: 200,
			want: `{"=":0,` + sessionOf + `,"source_last_seq":"3-*","history":[{"session_id":"~^[0-9a-f]{32}$","start_time":"~ GMT$","end_time":"~ GMT$","start_last_seq":0,
				"end_last_seq":"3-*","recorded_seq":"3-*","missing_checked":3,"missing_found":3,"docs_read":3,"docs_written":3,"doc_write_failures":0}]}`},
		{do: "GET /DB-t", status: 200, want: `{"doc_count":3,"cluster":{"q":3}}`},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB-t","create_target":true}`, status: 200, // another ID, the same checkpoint
			want: `{"=":0,"no_changes":true,` + sessionOf + `,"source_last_seq":"3-*","history":[{"docs_written":3}]}`},
		{do: "PUT /DB/4", body: `{}`, status: 201},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB-t"}`, status: 200, want: `{` + sessionOf + `,"source_last_seq":"4-*","history":[{"start_last_seq":"3-*"},{"start_last_seq":0}]}`},
		{do: "PUT /DB/5", body: `{}`, status: 201},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB-t","use_checkpoints":false}`, status: 200, want: `{"=":0,"ok":true,"use_checkpoints":false}`},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB-t","selector":{"x":1}}`, status: 200, want: `{"=":0,"ok":true,"no_changes":true}`},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB-u","create_target":true,"doc_ids":["a+b"]}`, status: 200,
			want: `{"=":0,` + sessionOf + `,"source_last_seq":"*","start_time":"~ GMT$","end_time":"~ GMT$","docs_read":1,"docs_written":1,"doc_write_failures":0,"history":[{"docs_written":1}]}`},
		{do: "GET /DB-u/_all_docs", status: 200, want: `{"rows":[{"id":"a b"}]}`}, // an id is taken as a part of a URL
		{do: "DELETE /DB-t", status: 200}, {do: "DELETE /DB-u", status: 200},
	}},
	{"scheduler", []step{
		{do: "GET /_scheduler/jobs", anon: true, status: 401, want: `{"error":"unauthorized","reason":"You are not a server admin."}`},
		{do: "GET /_scheduler/docs", anon: true, status: 401}, {do: "GET /_active_tasks", anon: true, status: 401},
		{do: "GET /_scheduler", status: 404, want: `{"=":0,"error":"not found"}`}, {do: "GET /_scheduler/nope", status: 404},
		{do: "POST /_scheduler/jobs", body: `{}`, status: 405, header: map[string]string{"Allow": "GET,HEAD"}},
		{do: "GET /_scheduler/jobs/nope", status: 404, want: noSuch},
		{do: "GET /_scheduler/jobs?limit=x", status: 400, want: `{"error":"query_parse_error","reason":"limit must be an integer"}`},
		{do: "GET /_scheduler/jobs?skip=-1", status: 400, want: `{"error":"query_parse_error","reason":"skip not in range of [0,infinity]"}`},
		{do: "GET /_scheduler/docs/nope", status: 400, want: `{"error":"bad_request","reason":"Invalid path"}`},
		{do: "GET /_scheduler/docs/_replicator/nope", status: 404, want: noSuch},
		{do: "GET /_scheduler/docs/_replicator/a/b", status: 400},
		{do: "GET /_scheduler/docs/DB/_replicator", status: 404, want: `{"reason":"Database does not exist."}`},
		{do: "GET /_scheduler/docs/DB%2F_replicator", status: 404}, {do: "GET /_scheduler/docs/DB/_replicator/x", status: 404},
		{do: "GET /_scheduler/docs?states=running", status: 200},
		{do: "GET /_scheduler/docs?limit=x", status: 400, want: `{"error":"query_parse_error","reason":"Invalid value for integer: \"x\""}`},
		{do: "GET /_scheduler/docs?skip=-1", status: 400},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB","continuous":true}`, status: 202, want: `{"=":0,"ok":true,"_local_id":"~^[0-9a-f]{32}[+]continuous$"}`},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB","continuous":true}`, status: 202},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB","continuous":true,"cancel":true}`, status: 200, want: `{"=":0,"ok":true,"_local_id":"~^[0-9a-f]{32}[+]continuous$"}`},
		{do: "POST /_replicate", body: `{"source":"DB","target":"DB","continuous":true,"cancel":true}`, status: 404},
	}},
	{"replicator database", []step{
		{do: "PUT /DB%2F_replicator", status: 201},
		{do: "PUT /DB%2F_replicator/a", body: `{}`, status: 403, want: `{"=":0,"error":"forbidden","reason":"Missing replicator database"}`},
		{do: "PUT /DB%2F_replicator/a", body: `{"source":"a","target":"b"}`, status: 403, want: `{"error":"forbidden","reason":"local_endpoints_not_supported"}`},
		{do: "PUT /DB%2F_replicator/a", body: `{"source":"http://HOST/DB","target":"http://HOST/DB","continuous":1}`, status: 403,
			want: "{\"reason\":\"{throw,{bad_request,<<\\\"parameter `continuous` must be a boolean\\\">>}}\"}"},
		{do: "PUT /DB%2F_replicator/a", body: `{"source":"http://HOST/DB","target":{}}`, status: 403, want: `{"reason":"endpoint has an invalid url"}`},
		{do: "POST /DB%2F_replicator", body: `{"source":"http://HOST/DB"}`, status: 403},
		{do: "POST /DB%2F_replicator/_bulk_docs", body: `{"docs":[{"_id":"a"},{"_id":"b","source":"http://HOST/DB","target":"http://HOST/DB"}]}`, status: 403,
			want: `{"=":0,"error":"forbidden","reason":"Missing replicator database"}`},
		{do: "POST /DB%2F_replicator/_bulk_docs", body: `{"new_edits":false,"docs":[{"_id":"a","_rev":"1-abc"}]}`, status: 403},
		{do: "GET /DB%2F_replicator/b", status: 404}, // all or nothing
		{do: "PUT /DB%2F_replicator/_design/x", body: `{"any":1}`, status: 201}, {do: "PUT /DB%2F_replicator/_local/x", body: `{"any":1}`, status: 201},
		{do: "PUT /DB%2F_replicator/ended", body: `{"any":1,"_replication_state":"failed"}`, status: 201, save: "ended"},
		{do: "GET /DB%2F_replicator/ended", status: 200, want: `{"=":0,"_id":"ended","_rev":"{ended}","any":1,"_replication_state":"failed","owner":"admin"}`},
		{do: "GET /DB%2F_replicator/ended", anon: true, status: 401},
		{do: "GET /_scheduler/docs/DB%2F_replicator", status: 200, want: `{"=":0,"total_rows":2,"offset":0,"docs":[{"=":0,"database":"DB/_replicator","doc_id":"ended","id":null,
			"source":null,"target":null,"state":"failed","error_count":1,"info":null,"start_time":null,"last_updated":null}]}`},
		{do: "GET /_scheduler/docs/DB/_replicator?states=completed", status: 200, want: `{"total_rows":2,"docs":[]}`},
		{do: "GET /_scheduler/docs/DB/_replicator?skip=1", status: 200, want: `{"total_rows":2,"offset":1,"docs":[]}`},
		{do: "DELETE /DB%2F_replicator/ended?rev={ended}", status: 200},
		{do: "DELETE /DB%2F_replicator", status: 200},
	}},
}

// endpoint is a database as a source or target, with the credentials.
func (c *talker) endpoint(db string) string {
	password, _ := c.login.Password()
	return fmt.Sprintf(`{"url":"%s/%s","auth":{"basic":{"username":"%s","password":"%s"}}}`, c.base, url.PathEscape(db), c.login.Username(), password)
}

// patience is how long a state is waited for. A CouchDB may take 5 s to start a
// job (fact 21).
const patience = 40 * time.Second

// until asks again and again until the answer contains what is wanted.
func (c *talker) until(t *testing.T, do, want string) map[string]any {
	t.Helper()
	ask := time.NewTicker(50 * time.Millisecond)
	defer ask.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wanted any
	if err := json.Unmarshal([]byte(c.fill(want)), &wanted); err != nil {
		t.Fatalf("the test's want: %v: %s", err, want)
	}
	for {
		_, body := c.send(t, step{do: do})
		var got any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%s: %v: %s", do, err, body)
		}
		diff := contains(got, wanted, "body")
		if diff == "" {
			object, _ := got.(map[string]any)
			return object
		}
		select {
		case <-ask.C:
		case <-ctx.Done():
			t.Fatalf("%s: still %s\n%s", do, diff, body)
		}
	}
}

func newTalker(t *testing.T, base string, login *url.Userinfo) *talker {
	c := &talker{base: base, login: login, db: "couchgauge-refserver-" + randomHex(4), saved: map[string]string{}}
	c.check(t, step{do: "PUT /DB?q=1", status: 201})
	t.Cleanup(func() { c.check(t, step{do: "DELETE /DB", status: 200}) })
	return c
}

// replication writes a replication document, which is deleted at the end.
func (c *talker) replication(t *testing.T, id, from, to, options string) {
	t.Helper()
	c.check(t, step{do: "PUT /_replicator/DB-" + id, body: `{"source":` + c.endpoint(c.fill(from)) + `,"target":` + c.endpoint(c.fill(to)) + options + `}`, status: 201})
	t.Cleanup(func() {
		_, body := c.send(t, step{do: "GET /_replicator/DB-" + id})
		var doc struct {
			Rev string `json:"_rev"`
		}
		if json.Unmarshal(body, &doc) == nil && doc.Rev != "" {
			c.check(t, step{do: "DELETE /_replicator/DB-" + id + "?rev=" + doc.Rev, status: 200})
		}
	})
}

func TestReplicationDocument(t *testing.T) {
	base, login := target(t)
	c := newTalker(t, base, login)
	c.check(t, step{do: "POST /DB/_bulk_docs", body: `{"docs":[{"_id":"1"},{"_id":"2"}]}`, status: 201})
	c.check(t, step{do: "PUT /DB-t?q=1", status: 201})
	defer c.check(t, step{do: "DELETE /DB-t", status: 200})
	c.replication(t, "once", "DB", "DB-t", "")
	const stats = `"revisions_checked":2,"missing_revisions_found":2,"docs_read":2,"docs_written":2,"doc_write_failures":0,"checkpointed_source_seq":"2-*"`
	c.until(t, "GET /_replicator/DB-once", `{"_replication_state":"completed","_replication_state_time":"~^20.*Z$","_replication_state_reason":null,"owner":"admin",
		"_replication_stats":{`+stats+`,"start_time":"~^20.*Z$"}}`)
	c.check(t, step{do: "GET /_scheduler/docs/_replicator/DB-once", status: 200, want: `{"=":0,"database":"_replicator","doc_id":"DB-once","id":null,
		"source":"http://HOST/DB/","target":"http://HOST/DB-t/","state":"completed","error_count":0,"info":{` + stats + `,"start_time":null},"start_time":"~Z$","last_updated":"~Z$"}`})
	c.check(t, step{do: `GET /_scheduler/docs?key="DB-once"&states=completed,failed`, status: 200, want: `{"docs":[{"doc_id":"DB-once","state":"completed"}]}`})
	c.check(t, step{do: "GET /DB-t", status: 200, want: `{"doc_count":2}`})
}

func TestContinuousReplicationDocument(t *testing.T) {
	base, login := target(t)
	c := newTalker(t, base, login)
	c.check(t, step{do: "PUT /DB-t?q=1", status: 201})
	defer c.check(t, step{do: "DELETE /DB-t", status: 200})
	c.replication(t, "on", "DB", "DB-t", `,"continuous":true`)
	c.until(t, "GET /_scheduler/docs/_replicator/DB-on", `{"database":"_replicator","doc_id":"DB-on","id":"~^[0-9a-f]{32}[+]continuous$","node":"*","state":"running",
		"source":"http://HOST/DB/","target":"http://HOST/DB-t/","error_count":0,"last_updated":"~Z$","start_time":"~Z$","source_proxy":null,"target_proxy":null}`)
	c.check(t, step{do: "PUT /DB/1", body: `{}`, status: 201})
	c.until(t, "GET /DB-t", `{"doc_count":1}`)

	id := c.until(t, "GET /_scheduler/docs/_replicator/DB-on", `{"info":{"docs_written":1,"docs_read":1,"source_seq":"1-*","through_seq":"1-*"}}`)["id"].(string)
	c.check(t, step{do: "GET /_scheduler/jobs/" + id, status: 200, want: `{"=":0,"database":"_replicator","id":"` + id + `","pid":"<*","source":"http://HOST/DB/",
		"target":"http://HOST/DB-t/","user":null,"doc_id":"DB-on","info":{"docs_written":1},"history":[{"type":"started","timestamp":"~Z$"},{"type":"added","timestamp":"~Z$"}],"node":"*","start_time":"~Z$"}`})
	_, body := c.send(t, step{do: "GET /_active_tasks"})
	var tasks []map[string]any
	if err := json.Unmarshal(body, &tasks); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, task := range tasks {
		if task["replication_id"] == id {
			found = true
			want := map[string]any{"type": "replication", "database": "~(^|/)_replicator", "doc_id": c.db + "-on", "continuous": true, "checkpoint_interval": 30000.0,
				"source": c.fill("http://HOST/DB/"), "docs_read": 1.0, "docs_written": 1.0, "doc_write_failures": 0.0, "user": nil, "process_status": "waiting"}
			if diff := contains(task, want, "task"); diff != "" {
				t.Error(diff)
			}
			for _, name := range []string{"started_on", "updated_on", "pid", "node", "source_seq", "through_seq", "checkpointed_source_seq", "changes_pending"} {
				if _, has := task[name]; !has {
					t.Errorf("the task has no %s", name)
				}
			}
		}
	}
	if !found {
		t.Errorf("the job is not in _active_tasks: %s", body)
	}

	c.replication(t, "twice", "DB", "DB-t", `,"continuous":true`)
	c.until(t, "GET /_replicator/DB-twice", `{"_replication_state":"failed","_replication_state_reason":"~already started, triggered by document .DB-on. from db ._replicator.$"}`)

	// What the document asks for is changed: it becomes another job.
	_, body = c.send(t, step{do: "GET /_replicator/DB-on"})
	c.check(t, step{do: "PUT /_replicator/DB-on", body: strings.Replace(string(body), `"continuous":true`, `"continuous":true,"doc_ids":["x"]`, 1), status: 201, save: "on"})
	c.until(t, "GET /_scheduler/jobs/"+id, noSuch)
	c.until(t, "GET /_scheduler/docs/_replicator/DB-on", `{"state":"running","id":"~continuous$"}`)
	c.check(t, step{do: "DELETE /_replicator/DB-on?rev={on}", status: 200})
	c.until(t, "GET /_scheduler/docs/_replicator/DB-on", noSuch)
}

func TestCrashingReplicationDocument(t *testing.T) {
	base, login := target(t)
	c := newTalker(t, base, login)
	c.replication(t, "no", "DB", "DB-nope", "")
	id := c.until(t, "GET /_scheduler/docs/_replicator/DB-no", `{"state":"crashing","error_count":1,"info":{"=":0,"error":"db_not_found: could not open http://HOST/DB-nope/"}}`)["id"].(string)
	c.check(t, step{do: "GET /_scheduler/jobs/" + id, status: 200, want: `{"pid":null,"info":null,"history":[
		{"type":"crashed","reason":"db_not_found: could not open http://HOST/DB-nope/","timestamp":"~Z$"},{"type":"started"},{"type":"added"}]}`})
	c.check(t, step{do: "GET /_replicator/DB-no", status: 200, want: `{"_rev":"1-*","_replication_state":null}`})

	c.replication(t, "filter", "DB", "DB", `,"filter":"a/b"`)
	c.until(t, "GET /_scheduler/docs/_replicator/DB-filter", "{\"state\":\"error\",\"id\":null,\"error_count\":1,\"info\":{\"error\":\"~^Couldn't open document ._design/a. from source\"}}")
}

// startServer runs a server of its own for a test, on a free port. The test
// stops it.
func startServer(t *testing.T, dir string) (*Server, *talker) {
	s, err := New(Options{Dir: dir, NoFsync: true, Admin: "admin", Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	c := &talker{base: "http://" + l.Addr().String(), login: url.UserPassword("admin", "secret"), db: "db", saved: map[string]string{}}
	c.check(t, step{do: "PUT /_node/_local/_config/replicator/startup_jitter", body: `"1"`, status: 200})
	return s, c
}

func TestReplicationsOutliveTheServer(t *testing.T) {
	dir := t.TempDir()
	s, c := startServer(t, dir)
	for _, do := range []string{"PUT /db", "PUT /t", "PUT /mine%2F_replicator"} {
		c.check(t, step{do: do, status: 201})
	}
	// The port is another one after the restart: the peer is a third server.
	peer, p := startServer(t, t.TempDir())
	defer peer.Close()
	p.check(t, step{do: "PUT /db", status: 201})
	p.check(t, step{do: "PUT /t", status: 201})
	job := `{"source":` + p.endpoint("db") + `,"target":` + p.endpoint("t") + `,"continuous":true}`
	c.check(t, step{do: "PUT /mine%2F_replicator/job", body: job, status: 201})
	c.until(t, "GET /_scheduler/docs/mine/_replicator/job", `{"state":"running"}`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s, c = startServer(t, dir)
	p.check(t, step{do: "PUT /db/1", body: `{}`, status: 201})
	p.until(t, "GET /t", `{"doc_count":1}`)
	c.check(t, step{do: "DELETE /mine%2F_replicator", status: 200})
	c.until(t, "GET /_scheduler/jobs", `{"total_rows":0}`)
	c.check(t, step{do: "PUT /mine%2F_replicator", status: 201}) // a new one of the same name
	c.check(t, step{do: "PUT /mine%2F_replicator/job", body: job, status: 201})
	c.until(t, "GET /_scheduler/jobs", `{"total_rows":1}`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCloseEndsReplications(t *testing.T) {
	s, c := startServer(t, t.TempDir())
	c.check(t, step{do: "PUT /db", status: 201})
	c.check(t, step{do: "PUT /t", status: 201})
	ends := `"source":` + c.endpoint("db") + `,"target":` + c.endpoint("t")
	c.check(t, step{do: "POST /_replicate", body: `{` + ends + `,"continuous":true}`, status: 202})
	c.check(t, step{do: "PUT /_replicator/a", body: `{` + ends + `,"continuous":true,"doc_ids":["x"]}`, status: 201})
	c.check(t, step{do: "PUT /_replicator/filtered", body: `{` + ends + `,"filter":"a/b"}`, status: 201}) // waits to be tried again
	c.check(t, step{do: "PUT /db/1", body: `{}`, status: 201})
	c.until(t, "GET /t", `{"doc_count":1}`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, pkg := range []string{"couchgauge/internal/refserver/replicator.", "couchgauge/replicate/engine."} {
		if strings.Contains(string(stacks), pkg) {
			t.Errorf("after Close something of %s still runs:\n%s", pkg, stacks)
		}
	}
}

// TestReplicationWithCouchDB has a CouchDB and the reference server replicate
// from and to each other, each of them running the jobs.
func TestReplicationWithCouchDB(t *testing.T) {
	if os.Getenv("COUCHGAUGE_TEST_URL") == "" {
		t.Skip("no CouchDB: set COUCHGAUGE_TEST_URL=http://admin:password@host:5984")
	}
	base, login := target(t)
	theirs := newTalker(t, base, login)
	s, ours := startServer(t, t.TempDir())
	defer s.Close()
	ours.db = theirs.db
	ours.check(t, step{do: "PUT /DB", status: 201})
	for _, c := range []*talker{theirs, ours} {
		for _, s := range []step{
			{do: "PUT /DB/plain", body: `{"n":12345678901234567890}`, status: 201},
			{do: "POST /DB/_bulk_docs", body: `{"new_edits":false,"docs":[{"_id":"conflict","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]}},
				{"_id":"conflict","_rev":"2-c","_revisions":{"start":2,"ids":["c","a"]}},{"_id":"gone","_rev":"1-d","_deleted":true}]}`, status: 201},
			{do: "PUT /DB/attached/a%20b.bin", headers: octets, body: strings.Repeat("0123456789", 20_000), status: 201},
			{do: "PUT /DB/attached2/a.txt", headers: plainText, body: strings.Repeat("text ", 1000), status: 201},
		} {
			c.check(t, s)
		}
	}
	for name, job := range map[string]struct{ runs, from, to *talker }{
		"CouchDB pulls": {theirs, ours, theirs}, "CouchDB pushes": {theirs, theirs, ours},
		"reference pulls": {ours, theirs, ours}, "reference pushes": {ours, ours, theirs},
	} {
		t.Run(name, func(t *testing.T) {
			copied := *job.to
			copied.db += "-" + strings.ReplaceAll(strings.ToLower(name), " ", "-")
			defer copied.check(t, step{do: "DELETE /DB", status: 200})
			job.runs.check(t, step{do: "POST /_replicate", status: 200, body: `{"source":` + job.from.endpoint(job.from.db) + `,"target":` + job.to.endpoint(copied.db) + `,"create_target":true}`,
				want: `{` + sessionOf + `,"history":[{"docs_read":6,"docs_written":6,"doc_write_failures":0}]}`})
			for _, do := range []string{"GET /DB/plain?revs=true", "GET /DB/conflict?conflicts=true", "GET /DB/gone?open_revs=all",
				"GET /DB/attached/a%20b.bin", "GET /DB/attached2/a.txt"} {
				_, want := job.from.send(t, step{do: do, headers: acceptJSON})
				if _, got := copied.send(t, step{do: do, headers: acceptJSON}); string(got) != string(want) {
					t.Errorf("%s: %.200s, want %.200s", do, got, want)
				}
			}
			again := step{do: "POST /_replicate", status: 200, body: `{"source":` + job.from.endpoint(job.from.db) + `,"target":` + job.to.endpoint(copied.db) + `}`, want: `{"no_changes":true}`}
			job.runs.check(t, again)
		})
	}
}
