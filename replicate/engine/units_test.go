package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCommonSequence(t *testing.T) {
	seq := func(s string) json.RawMessage { return json.RawMessage(`"` + s + `"`) }
	h := func(ids ...string) (list []History) {
		for _, id := range ids {
			list = append(list, History{SessionID: id, RecordedSeq: seq("at-" + id)})
		}
		return list
	}
	log := func(last string, ids ...string) checkpoint {
		return checkpoint{SessionID: ids[0], SourceSeq: seq(last), History: h(ids...)}
	}
	for _, c := range []struct {
		name           string
		source, target checkpoint
		want           string
		history        []History
	}{
		{"none", checkpoint{}, checkpoint{}, "", nil},
		{"only one side", log("9", "c"), checkpoint{}, "", nil},
		{"same session", log("9", "c", "b"), log("9", "c", "b"), `"9"`, h("c", "b")},
		{"the source is a session ahead", log("9", "c", "b", "a"), log("8", "b", "a"), `"at-b"`, h("a")},
		{"the target is a session ahead", log("8", "b", "a"), log("9", "c", "b", "a"), `"at-b"`, h("a")},
		{"parted", log("9", "d", "b", "a"), log("9", "c", "b", "a"), `"at-b"`, h("a")},
		{"strangers", log("9", "d"), log("9", "c"), "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, history := common(c.source, c.target)
			if string(got) != c.want || !reflect.DeepEqual(history, c.history) && len(history)+len(c.history) > 0 {
				t.Errorf("%s %v, want %s %v", got, history, c.want, c.history)
			}
		})
	}
}

func TestReplicationID(t *testing.T) {
	source, target := Peer{URL: "http://a/x"}, Peer{URL: "http://b/y"}
	id := func(s, g Peer, o Options, filter string) string {
		t.Helper()
		s, err := s.clean()
		if err != nil {
			t.Fatal(err)
		}
		got, err := replicationID(s, g, o, filter)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	base := id(source, target, Options{}, "")
	for name, same := range map[string]string{
		"how it is done": id(source, target, Options{Continuous: true, WorkerProcesses: 9, CreateTarget: true, CheckpointInterval: 1}, ""),
		"a slash":        id(Peer{URL: "http://a/x/"}, target, Options{}, ""),
	} {
		if same != base {
			t.Errorf("%s changes the id", name)
		}
	}
	a := id(Peer{URL: "http://u:p@a/x"}, target, Options{}, "")
	if b := id(Peer{URL: "http://u:q@a/x"}, target, Options{}, ""); a != b {
		t.Error("the password changes the id")
	}
	if one, two := id(source, target, Options{Selector: json.RawMessage(`{"a":1,"b":2}`)}, ""),
		id(source, target, Options{Selector: json.RawMessage(`{ "b":2, "a":1}`)}, ""); one != two {
		t.Error("the order of a selector's keys changes the id")
	}
	if one, two := id(source, target, Options{DocIDs: []string{"a", "b"}}, ""), id(source, target, Options{DocIDs: []string{"b", "a", "a"}}, ""); one != two {
		t.Error("the order of ids changes the id")
	}
	ids := []string{
		base, a,
		id(target, source, Options{}, ""),
		id(source, target, Options{Filter: "d/f"}, "function 1"),
		id(source, target, Options{Filter: "d/f"}, "function 2"),
		id(source, target, Options{Filter: "d/f", QueryParams: map[string]string{"a": "1"}}, "function 1"),
		id(source, target, Options{DocIDs: []string{"a"}}, ""),
		id(source, target, Options{Selector: json.RawMessage(`{"a":1}`)}, ""),
		id(source, target, Options{SinceSeq: "5"}, ""),
		id(source, target, Options{WinningRevsOnly: true}, ""),
	}
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 10 {
		t.Errorf("%d ids of 10 different jobs", n)
	}
}

func TestParseOptions(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name, job string
		want      Options
	}{
		{"nothing", `{"source":"a","target":"b","unknown":1}`, Options{}},
		{"everything", `{"continuous":true,"create_target":true,"create_target_params":{"q":1,"partitioned":true},
			"filter":"d/f","query_params":{"a":"x","n":10000000000000001,"o":{"k":[1]}},"since_seq":"5-x","winning_revs_only":true,
			"use_checkpoints":false,"checkpoint_interval":5000,"use_bulk_get":true,"worker_processes":2,"worker_batch_size":"100",
			"http_connections":3,"connection_timeout":1000,"retries_per_request":7}`,
			Options{Continuous: true, CreateTarget: true, CreateTargetParams: url.Values{"q": {"1"}, "partitioned": {"true"}},
				Filter: "d/f", QueryParams: map[string]string{"a": "x", "n": "10000000000000001", "o": `{"k":[1]}`}, SinceSeq: "5-x", WinningRevsOnly: true,
				UseCheckpoints: &no, CheckpointInterval: 5 * time.Second, UseBulkGet: &yes, WorkerProcesses: 2, WorkerBatchSize: 100,
				HTTPConnections: 3, ConnectionTimeout: time.Second, RetriesPerRequest: 7}},
		{"numbers for a sequence", `{"since_seq":12}`, Options{SinceSeq: "12"}},
		{"no retries", `{"retries_per_request":0}`, Options{RetriesPerRequest: -1}},
		{"ids", `{"doc_ids":["a"],"selector":null}`, Options{DocIDs: []string{"a"}}},
		{"selector", `{"selector":{"a":1}}`, Options{Selector: json.RawMessage(`{"a":1}`)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseOptions(json.RawMessage(c.job))
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
	for job, want := range map[string]string{
		`[]`:                             "options",
		`{"continuous":"yes"}`:           "continuous",
		`{"worker_processes":"many"}`:    "whole number",
		`{"doc_ids":"a"}`:                "doc_ids",
		`{"selector":[1]}`:               "selector",
		`{"doc_ids":[],"filter":"a/b"}`:  "exclusive",
		`{"selector":{},"filter":"a/b"}`: "exclusive",
	} {
		if _, err := ParseOptions(json.RawMessage(job)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", job, err)
		}
	}
}

func TestPeer(t *testing.T) {
	own := http.Header{"Authorization": {"Bearer x"}}
	for _, c := range []struct {
		name      string
		peer      Peer
		url, auth string
	}{
		{"URL", Peer{URL: "http://h:1/db/"}, "http://h:1/db", ""},
		{"user in the URL", Peer{URL: "http://u:p%40@h/db"}, "http://h/db", basic("u", "p@")},
		{"path and escapes", Peer{URL: "https://h/prefix/a%2Fb?x=1"}, "https://h/prefix/a%2Fb", ""},
		{"header", Peer{URL: "http://h/db", Header: own}, "http://h/db", "Bearer x"},
		{"header before the URL's user", Peer{URL: "http://a:b@h/db", Header: own}, "http://h/db", "Bearer x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := c.peer.clean()
			if err != nil || p.URL != c.url || p.Header.Get("Authorization") != c.auth {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

// No request is sent: nobody listens where the good peer points to, and that
// would be another error.
func TestBadPeers(t *testing.T) {
	good := Peer{URL: "http://127.0.0.1:1/db"}
	for _, c := range []struct{ name, url string }{
		{"nothing", ""}, {"a name", "db"}, {"no database", "http://h"}, {"only a slash", "http://u:hunter2@h/"},
		{"another scheme", "ftp://u:hunter2@h/db"}, {"no host", "http:///db"}, {"no port", "http://u:hunter2@h:x/db"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := Peer{URL: c.url}
			for side, r := range map[string]*Replication{"source": New(bad, good, Options{}), "target": New(good, bad, Options{})} {
				_, err := r.Run(t.Context())
				if err == nil || !strings.Contains(err.Error(), "read the endpoint") || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("as %s: %v", side, err)
				}
			}
		})
	}
}

func TestTracker(t *testing.T) {
	var k tracker
	a, b, c := k.start(), k.start(), k.start()
	a.seq, b.seq, c.seq = json.RawMessage("1"), nil, json.RawMessage("3")
	a.rows, b.rows, c.rows = 10, 20, 30
	b.add()
	c.done()
	b.done()
	if s := k.through(); s != nil {
		t.Errorf("through %s before the first batch", s)
	}
	a.done()
	if s := k.through(); string(s) != "1" || k.finished() != 10 {
		t.Errorf("through %s, %d changes", s, k.finished())
	}
	b.done()
	if s := k.through(); string(s) != "3" || k.finished() != 60 {
		t.Errorf("through %s, %d changes", s, k.finished())
	}
}

func TestParcels(t *testing.T) {
	var k parcels
	p := k.take(nil)
	docs := []string{`{"a":1}`, `{"b":[2]}`, `{}`}
	for _, d := range docs {
		p.add([]byte(d))
	}
	if got := string(p.body) + parcelEnd; got != `{"new_edits":false,"docs":[{"a":1},{"b":[2]},{}]}` {
		t.Error(got)
	}
	for i, d := range docs {
		if string(p.doc(i)) != d {
			t.Errorf("document %d is %s", i, p.doc(i))
		}
	}
	if q := p.part(1, 3); string(q.body)+parcelEnd != `{"new_edits":false,"docs":[{"b":[2]},{}]}` || string(q.doc(0)) != docs[1] {
		t.Errorf("part %s", q.body)
	}
	k.back(p)
	if p.add([]byte(`{}`)); string(p.body) != parcelStart+"{}" {
		t.Errorf("used again: %s", p.body)
	}
}

func TestReadMeta(t *testing.T) {
	m, err := readMeta([]byte(`{"_id":"a","_rev":"3-c","_revisions":{"start":3,"ids":["c","b","a"]},"x":{"_attachments":{"n":{}}},"\u005fdeleted":true,"_attachments":{"y":{"revpos":2}}}`))
	if err != nil || string(m.id) != `"a"` || m.rev != "3-c" || !m.deleted || string(m.attachments) != `{"y":{"revpos":2}}` {
		t.Errorf("%+v, %v", m, err)
	}
	for rev, want := range map[string]bool{"3-c": true, "2-b": true, "1-a": true, "2-x": false, "4-c": false, "0-a": false, "-b": false, "": false} {
		if m.descends(rev) != want {
			t.Errorf("descends from %q: %v", rev, !want)
		}
	}
	for want, ancestors := range map[int][]string{0: nil, 2: {"1-a", "2-b"}, 1: {"1-a", "2-x"}} {
		if got := m.known(ancestors); got != want {
			t.Errorf("known of %v: %d, want %d", ancestors, got, want)
		}
	}
	for _, doc := range []string{`{}`, `{"_id":"a"}`, `{"_rev":"1-a"}`, `[]`, `{"_id":"a","_rev":"1-a"`} {
		if _, err := readMeta([]byte(doc)); err == nil {
			t.Errorf("%s is taken for a document", doc)
		}
	}
	if m, _ := readMeta([]byte(`{"_id":"a","_rev":"1-a","_attachments":{}}`)); m.attachments != nil {
		t.Error("no attachments are some")
	}
}

func TestLacking(t *testing.T) {
	raw := []byte(`{"a":{"revpos":1,"length":10},"b":{"revpos":3,"length":20},"c":{"length":5},"d":{"revpos":3,"length":0}}`)
	for known, want := range map[int][2]int64{0: {4, 35}, 1: {3, 25}, 2: {3, 25}, 3: {1, 5}} {
		if n, size := lacking(raw, known); int64(n) != want[0] || size != want[1] {
			t.Errorf("known %d: %d of %d bytes, want %v", known, n, size, want)
		}
	}
}

func TestWithAttachments(t *testing.T) {
	doc := []byte(`{"x":"{\"a\":{}}","_id":"i","_rev":"1-a","_attachments":{"a":{"revpos":1,"length":3,"follows":true,"encoding":"gzip","content_type":"t/p"},"b\"":{"stub":true},"c":{"revpos":2,"length":1,"follows":true,"digest":"d"}},"y":1}`)
	m, err := readMeta(doc)
	if err != nil {
		t.Fatal(err)
	}
	all, err := readAttachments(m.attachments)
	if err != nil {
		t.Fatal(err)
	}
	got := string(withAttachments(doc, &m, all, []part{{attachment: all[2]}}, map[string][]byte{"a": []byte("abc")}))
	want := `{"x":"{\"a\":{}}","_id":"i","_rev":"1-a","_attachments":{"a":{"content_type":"t/p","revpos":1,"data":"YWJj"},"b\"":{"stub":true},"c":{"revpos":2,"follows":true,"length":1}},"y":1}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if !json.Valid([]byte(got)) {
		t.Error("not JSON")
	}
}

func TestMerge(t *testing.T) {
	got := merge([]want{
		{id: []byte(`"a"`), revs: []string{"1-a"}, attBytes: -1},
		{id: []byte(`"b"`), revs: []string{"1-b"}, attBytes: -1},
		{id: []byte(`"a"`), revs: []string{"2-a", "1-a"}, attBytes: 7},
	})
	if len(got) != 2 || !slices.Equal(got[0].revs, []string{"1-a", "2-a"}) || got[0].attBytes != 7 || string(got[1].id) != `"b"` {
		t.Errorf("%+v", got)
	}
}

func TestPortions(t *testing.T) {
	wants := make([]want, 10)
	for i := range wants {
		wants[i] = want{attBytes: inlineBatch / 3, revs: []string{"1-a"}}
	}
	wants[5].attBytes = 2 * inlineBatch
	var sizes []int
	for _, p := range inlinePortions(wants) {
		sizes = append(sizes, len(p))
	}
	if !slices.Equal(sizes, []int{3, 2, 1, 3, 1}) {
		t.Errorf("portions of %v", sizes)
	}
	r := &Replication{averageDoc: bulkBytes / 4}
	if p := r.portions(wants); len(p) != 3 || len(p[0]) != 4 {
		t.Errorf("%d portions", len(p))
	}
	r.averageDoc = 1 << 40
	if p := r.portions(wants); len(p) != 10 {
		t.Errorf("%d portions of huge documents", len(p))
	}
}

func TestSplitRevs(t *testing.T) {
	v := want{id: []byte(`"a"`)}
	for i := range 120 {
		v.revs = append(v.revs, fmt.Sprintf("2-%d", i))
	}
	var revs []string
	for _, p := range splitRevs(v) {
		if len(p.revs) > urlRevs || string(p.id) != `"a"` {
			t.Errorf("%+v", p)
		}
		revs = append(revs, p.revs...)
	}
	if !slices.Equal(revs, v.revs) {
		t.Error("revisions got lost")
	}
}

func TestTemporary(t *testing.T) {
	for err, want := range map[error]bool{
		&Error{Status: 500}: true, &Error{Status: 503}: true, &Error{Status: 429}: true, &Error{Status: 408}: true,
		&Error{Status: 501}: false, &Error{Status: 404}: false, &Error{Status: 401}: false,
		&lostError{errors.New("reset")}: true, errors.New("other"): false,
	} {
		if temporary(fmt.Errorf("wrapped: %w", err)) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}

func TestPause(t *testing.T) {
	for n, full := range map[int]time.Duration{0: 250 * time.Millisecond, 3: 2 * time.Second, 7: 30 * time.Second, 1000: 30 * time.Second} {
		for range 100 {
			if d := pause(errors.New("x"), n); d < full/2 || d > full {
				t.Fatalf("pause %d: %v", n, d)
			}
		}
	}
	if d := pause(&Error{retryAfter: time.Hour}, 0); d != longestAsk {
		t.Errorf("an hour is obeyed for %v", d)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Duration{"": 0, "x": 0, "0": 0, "12": 12 * time.Second, now.Add(time.Minute).Format(http.TimeFormat): time.Minute} {
		if got := retryAfter(s, now); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestDocPath(t *testing.T) {
	for id, want := range map[string]string{
		"a": "a", "a b": "a%20b", "a+b": "a%2Bb", "a/b": "a%2Fb", "100%": "100%25", "?x#y": "%3Fx%23y",
		"_design/a/b": "_design/a%2Fb", "_local/x": "_local/x", "é": "%C3%A9", "..": "..",
	} {
		if got := docPath(id); got != want {
			t.Errorf("%q: %s, want %s", id, got, want)
		}
	}
}

func TestUntouched(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"doc_count":0,"doc_del_count":0,"update_seq":"0-g1AAA"}`:    true,
		`{"doc_count":0,"doc_del_count":0,"update_seq":0}`:            true,
		`{"doc_count":0,"doc_del_count":0,"update_seq":"0"}`:          true,
		`{"doc_count":0,"doc_del_count":0,"update_seq":"10-g1AAA"}`:   false,
		`{"doc_count":1,"doc_del_count":0,"update_seq":"0-g1AAA"}`:    false,
		`{"doc_count":0,"doc_del_count":2,"update_seq":"0-g1AAA"}`:    false,
		`{"doc_count":0,"doc_del_count":0,"update_seq":[0,"opaque"]}`: false,
	} {
		var i info
		if err := json.Unmarshal([]byte(raw), &i); err != nil {
			t.Fatal(err)
		}
		if i.untouched() != want {
			t.Errorf("%s: %v", raw, !want)
		}
	}
}
