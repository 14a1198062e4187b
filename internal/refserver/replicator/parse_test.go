package replicator

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// unset are the settings of a server on which nothing was set.
func unset(string) (string, bool) { return "", false }

func settings(of map[string]string) Settings {
	return func(key string) (string, bool) { v, ok := of[key]; return v, ok }
}

// asked is a request for a replication between two databases of host h.
func asked(members string) json.RawMessage {
	if members != "" {
		members = "," + members
	}
	return json.RawMessage(`{"source":"http://h/a","target":"http://h/b"` + members + `}`)
}

// What CouchDB 3.5.0 says, seen on it on 2026-11-30.
func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		body      string
		answer    string // of _replicate
		forbidden string // of a replicator database
	}{
		"nothing":      {`{}`, "500 error: Missing replicator database", "Missing replicator database"},
		"no target":    {`{"source":"http://h/a"}`, "500 error: Missing replicator database", "Missing replicator database"},
		"local":        {`{"source":"a","target":"b"}`, "500 error: local_endpoints_not_supported", "local_endpoints_not_supported"},
		"number":       {`{"source":1,"target":"b"}`, "500 unknown_error: function_clause", "{error,function_clause}"},
		"no url":       {`{"source":{},"target":"b"}`, "400 invalid_replication: endpoint has an invalid url", "endpoint has an invalid url"},
		"other scheme": {`{"source":{"url":"ftp://h/a"},"target":"b"}`, "400 invalid_replication: endpoint has an invalid url", "endpoint has an invalid url"},
		"boolean": {string(asked(`"continuous":1`)), "400 bad_request: parameter `continuous` must be a boolean",
			"{throw,{bad_request,<<\"parameter `continuous` must be a boolean\">>}}"},
		"the first that is wrong": {string(asked(`"doc_ids":1,"continuous":1`)), "400 bad_request: parameter `doc_ids` must be an array",
			"{throw,{bad_request,<<\"parameter `doc_ids` must be an array\">>}}"},
		"selector": {string(asked(`"selector":[]`)), "400 bad_request: parameter `selector` must be a JSON object",
			"{throw,{bad_request,<<\"parameter `selector` must be a JSON object\">>}}"},
		"parameters": {string(asked(`"query_params":"x"`)), "400 bad_request: parameter `query_params` must be an object",
			"{throw,{bad_request,<<\"parameter `query_params` must be an object\">>}}"},
		"exclusive": {string(asked(`"doc_ids":["x"],"filter":"a/b"`)), "400 bad_request: `doc_ids`,`filter`,`selector` are mutually exclusive",
			"{throw,{bad_request,\"`doc_ids`,`filter`,`selector` are mutually exclusive\"}}"},
		"number of workers": {string(asked(`"worker_processes":"x"`)), "500 unknown_error: badarg", "{error,badarg}"},
		"filter":            {string(asked(`"filter":"x"`)), "500 error: Invalid filter. Must match `ddocname/filtername`.", "Invalid filter. Must match `ddocname/filtername`."},
		"view":              {string(asked(`"filter":"_view"`)), "500 unknown_error: badarg", "{error,badarg}"},
		"proxies": {string(asked(`"proxy":"http://p","source_proxy":"http://p"`)), "400 bad_request: `proxy` is mutually exclusive with `source_proxy`",
			"{throw,{bad_request,\"`proxy` is mutually exclusive with `source_proxy`\"}}"},
		"proxy": {string(asked(`"proxy":"ftp://p"`)), "400 invalid_replication: proxy has an invalid url", "proxy has an invalid url"},
	} {
		_, invalid := Parse(json.RawMessage(c.body), unset)
		if invalid == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		status, kind, reason := invalid.Answer()
		if got := fmt.Sprintf("%d %s: %s", status, kind, reason); got != c.answer {
			t.Errorf("%s: answer %q, want %q", name, got, c.answer)
		}
		if got := invalid.Forbidden(); got != c.forbidden {
			t.Errorf("%s: forbidden %q, want %q", name, got, c.forbidden)
		}
	}
}

func TestParseReadsOptions(t *testing.T) {
	r, invalid := Parse(asked(`"continuous":true,"create_target":true,"create_target_params":{"q":1},
		"doc_ids":["b","a%20b","c+d","b"],"worker_processes":"3","worker_batch_size":7,"http_connections":9,
		"connection_timeout":1500,"checkpoint_interval":2500,"retries_per_request":0,"use_bulk_get":false,
		"use_checkpoints":false,"winning_revs_only":true,"since_seq":"5-x","socket_options":"[]","unheard_of":{}`), unset)
	if invalid != nil {
		t.Fatal(invalid)
	}
	o := r.Options
	got := []any{o.Continuous, o.CreateTarget, o.CreateTargetParams.Encode(), o.DocIDs, o.WorkerProcesses, o.WorkerBatchSize, o.HTTPConnections,
		o.ConnectionTimeout, o.CheckpointInterval, o.RetriesPerRequest < 0, *o.UseBulkGet, *o.UseCheckpoints, o.WinningRevsOnly, o.SinceSeq}
	want := []any{true, true, "q=1", []string{"a b", "b", "c d"}, 3, 7, 9,
		1500 * time.Millisecond, 2500 * time.Millisecond, true, false, false, true, "5-x"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestSettingsAreDefaults(t *testing.T) {
	set := settings(map[string]string{"worker_processes": "2", "http_connections": "x", "use_bulk_get": "false", "retries_per_request": "0", "checkpoint_interval": "1000"})
	r, invalid := Parse(asked(`"use_checkpoints":true`), set)
	if invalid != nil {
		t.Fatal(invalid)
	}
	if o := r.Options; o.WorkerProcesses != 2 || o.HTTPConnections != 0 || *o.UseBulkGet || !*o.UseCheckpoints || o.RetriesPerRequest >= 0 || o.CheckpointInterval != time.Second {
		t.Errorf("%+v", o)
	}
	r, _ = Parse(asked(`"worker_processes":5,"use_bulk_get":true`), set)
	if o := r.Options; o.WorkerProcesses != 5 || !*o.UseBulkGet {
		t.Errorf("the job's own options count for less: %+v", o)
	}
}

func TestCredentials(t *testing.T) {
	const object = `{"url":"http://b:2@h/a/","headers":{"authorization":"Basic YTox","X-Y":"z"}%s}`
	for name, c := range map[string]struct{ endpoint, login string }{
		"none":                    {`"http://h/a"`, ""},
		"URL":                     {`"http://u:p%40q@h/a?x=1"`, basic("u", "p@q")},
		"header":                  {`{"url":"http://h/a","headers":{"Authorization":"Basic YTox"}}`, basic("a", "1")},
		"URL before header":       {fmt.Sprintf(object, ""), basic("b", "2")},
		"auth before URL":         {fmt.Sprintf(object, `,"auth":{"basic":{"username":"c","password":"3"}}`), basic("c", "3")},
		"auth without a password": {fmt.Sprintf(object, `,"auth":{"basic":{"username":"c"}}`), basic("b", "2")},
	} {
		e, err := parseEndpoint(json.RawMessage(c.endpoint))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := e.Header.Get("Authorization"); got != c.login {
			t.Errorf("%s: %q, want %q", name, got, c.login)
		}
		if e.String() != "http://h/a/" {
			t.Errorf("%s: printed as %s", name, e)
		}
	}
}

func TestIDsTellJobsApart(t *testing.T) {
	id := func(body json.RawMessage, filter string) string {
		r, invalid := Parse(body, unset)
		if invalid != nil {
			t.Fatal(invalid)
		}
		if err := r.identify("server", filter); err != nil {
			t.Fatal(err)
		}
		return r.ID
	}
	plain := id(asked(""), "")
	for name, body := range map[string]json.RawMessage{
		"same":     asked(`"worker_processes":9,"use_bulk_get":false`),
		"password": json.RawMessage(`{"source":"http://h/a/","target":"http://h/b"}`),
	} {
		if got := id(body, ""); got != plain {
			t.Errorf("%s: %s differs from %s", name, got, plain)
		}
	}
	if a, b := id(asked(`"selector":{"a":1,"b":2}`), ""), id(asked(`"selector":{"b":2,"a":1}`), ""); a != b {
		t.Errorf("the order of a selector's members counts: %s, %s", a, b)
	}
	seen := map[string]string{plain: "plain"}
	for name, body := range map[string]json.RawMessage{
		"doc_ids": asked(`"doc_ids":["x"]`), "other doc_ids": asked(`"doc_ids":["y"]`), "selector": asked(`"selector":{"a":1}`),
		"winning": asked(`"winning_revs_only":true`), "filter": asked(`"filter":"a/b"`), "parameters": asked(`"filter":"a/b","query_params":{"x":"1"}`),
		"user": json.RawMessage(`{"source":"http://u:p@h/a","target":"http://h/b"}`), "reversed": json.RawMessage(`{"source":"http://h/b","target":"http://h/a"}`),
		"continuous": asked(`"continuous":true`),
	} {
		got := id(body, "")
		if other, taken := seen[got]; taken {
			t.Errorf("%s has the ID of %s", name, other)
		}
		seen[got] = name
	}
	if a, b := id(asked(`"filter":"a/b"`), "one"), id(asked(`"filter":"a/b"`), "two"); a == b {
		t.Error("the text of the filter does not count")
	}
	if got := id(asked(`"create_target":true,"continuous":true`), ""); got != plain+"+continuous+create_target" {
		t.Errorf("ID %s, want that of the plain job and its extension", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(string(asked(`"continuous":true,"doc_ids":["a"],"query_params":{"a":1}`)))
	f.Add(`{"source":{"url":"http://u:p@h/a","headers":{"a":"b"},"auth":{"basic":{"username":"a","password":"b"}}},"target":"http://h/b"}`)
	f.Add(`{"cancel":true,"id":"x"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, body string) {
		r, invalid := Parse(json.RawMessage(body), unset)
		switch {
		case invalid != nil:
			if status, _, reason := invalid.Answer(); status < 400 || reason == "" {
				t.Errorf("refused with %d %q", status, reason)
			}
		case r.Cancel && r.CancelID != "":
		default:
			if strings.Contains(r.Source.String(), "@h") {
				t.Errorf("credentials in %s", r.Source)
			}
			if err := r.identify("server", ""); err != nil {
				t.Error(err)
			}
		}
	})
}
