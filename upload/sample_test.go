package upload

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"couchgauge/internal/rounds"
	"couchgauge/internal/servertest"

	"github.com/google/go-cmp/cmp"
)

// TestImpossibleCell: what a method cannot do is said in its cell, has no
// samples, is no failure, and is not in the plan's counts.
func TestImpossibleCell(t *testing.T) {
	server := scripted(t, takes)
	p := Plan{Methods: []string{"multipart", "raw"}, Sizes: sizes(t, "1000"), Encoding: []string{Gzip}, Samples: 5, Warmup: 2}
	k, out, err := runOn(t, server.URL, p)
	if err != nil || out.Samples != 5 || out.Failed != 0 || len(k.events) != 0 {
		t.Errorf("%+v, %v, events %v", out, err, k.events)
	}
	if diff := cmp.Diff([]int{0, 5}, k.counts()); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	for i, want := range []string{"servers do not decode a gzip multipart body", ""} {
		if got := k.cells[i].Impossible; got != want {
			t.Errorf("cell %d is impossible because of %q, want %q", i, got, want)
		}
	}
	if n, bytes := len(p.Cells()), p.Bytes(); n != 1 || bytes != 7*1000 {
		t.Errorf("the plan has %d cells and %d bytes, want 1 and 7000", n, bytes)
	}
	if n := len(uploadsOf(server.Requests())); n != 7 {
		t.Errorf("%d uploads, want 7", n)
	}
}

// TestRawAttachmentsFollowEachOther: each request names the revision that the
// one before it made.
func TestRawAttachmentsFollowEachOther(t *testing.T) {
	answers := []string{
		`{"ok":true,"id":"d","rev":"1-a"}`,
		`{"ok":true,"id":"d","rev":"2-b"}`,
		`{"id": "d", "rev": "3-c"}`, // in another form
		`{"ok":true,"id":"d","rev":"4-d"}`,
	}
	n := 0
	server := scripted(t, func(c *servertest.Conn, head servertest.Request) error {
		if err := c.Body(&head); err != nil {
			return err
		}
		body := answers[n]
		n++
		return c.Answer("HTTP/1.1 201 Created\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	})
	p := Plan{Sizes: sizes(t, "10"), Attachments: []int{4}, Samples: 1}
	k, out, err := runOn(t, server.URL, p)
	if err != nil || out.Failed > 0 {
		t.Fatalf("%+v, %v, %+v", out, err, k.samples)
	}
	var got []string
	for _, r := range uploadsOf(server.Requests()) {
		got = append(got, r.Method+" "+r.Target)
	}
	want := []string{
		"PUT /db/c0-s0-0/attachment-0.bin",
		"PUT /db/c0-s0-0/attachment-1.bin?rev=1-a",
		"PUT /db/c0-s0-0/attachment-2.bin?rev=2-b",
		"PUT /db/c0-s0-0/attachment-3.bin?rev=3-c",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestExistingDocument: it is created outside the timed part, and the upload
// names its revision.
func TestExistingDocument(t *testing.T) {
	server := scripted(t, takes)
	p := Plan{Methods: Methods(), Sizes: sizes(t, "10"), Docs: []string{Existing}, Samples: 1, Order: rounds.Sequential}
	k, out, err := runOn(t, server.URL, p)
	if err != nil || out.Failed > 0 {
		t.Fatalf("%+v, %v, %+v", out, err, k.samples)
	}
	requests := uploadsOf(server.Requests())
	if len(requests) != 10 {
		t.Fatalf("%d requests, want 10", len(requests))
	}
	for i := 0; i < len(requests); i += 2 {
		if r := requests[i]; r.Method != http.MethodPut || string(r.Body) != "{}" {
			t.Errorf("created by %s %s: %q", r.Method, r.Target, r.Body)
		}
		r := requests[i+1]
		if !strings.Contains(r.Target+string(r.Body), "1-a") {
			t.Errorf("%s %s does not name the revision: %q", r.Method, r.Target, r.Body)
		}
		if got := int64(k.samples[i/2].Measures["wire_bytes"]); got != r.Bytes {
			t.Errorf("wire_bytes %d, the upload had %d", got, r.Bytes)
		}
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		method Method
		body   string
		revs   []string
		err    string
	}{
		{"CouchDB's", raw{}, `{"ok":true,"id":"d","rev":"1-a"}` + "\n", []string{"1-a"}, ""},
		{"with spaces", raw{}, `{ "ok": true, "id": "d", "rev": "1-a" }`, []string{"1-a"}, ""},
		{"an id like a rev", raw{}, `{"ok":true,"rev":"1-a","id":"\"rev\":\"2-b"}`, []string{"1-a"}, ""},
		{"PouchDB's to new_edits=false", inline{}, "[]\n", nil, ""},
		{"an error in a 201", related{}, `{"error":"conflict","reason":"Document update conflict."}`, nil, "conflict: Document update conflict."},
		{"no revision", form{}, `{"ok":true}`, nil, "has no rev"},
		{"an empty revision", form{}, `{"ok":true,"id":"d","rev":""}`, nil, "has no rev"},
		{"a page", raw{}, "<html>welcome</html>", nil, "not CouchDB's JSON"},
		{"nothing", raw{}, "", nil, "not CouchDB's JSON"},
		{"bulk", bulk{}, `[{"ok":true,"id":"a","rev":"1-a"},{"ok":true,"id":"b","rev":"1-b"}]`, []string{"1-a", "1-b"}, ""},
		{"bulk, one refused", bulk{}, `[{"ok":true,"id":"a","rev":"1-a"},{"id":"b","error":"conflict","reason":"no"}]`, nil, `document "b": conflict: no`},
		{"bulk, all accepted with new_edits=false", bulk{}, "[]", nil, ""},
		{"bulk, no list", bulk{}, `{"ok":true}`, nil, "not CouchDB's JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			revs, err := c.method.Answer([]byte(c.body))
			if diff := cmp.Diff(c.revs, revs); diff != "" {
				t.Errorf("revisions (-want +got):\n%s", diff)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	p := Plan{Sizes: sizes(t, "1000"), Samples: 4, Warmup: 1, Verify: VerifyOff}
	var progress Progress
	_, err := Run{Plan: p, Server: open(t, scripted(t, takes).URL), Database: "db", Sink: &kept{}, Progress: &progress}.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if done, of := progress.Samples(); done != 5 || of != 5 {
		t.Errorf("%d of %d samples, want 5 of 5", done, of)
	}
	if sent, of := progress.Bytes(); sent != 5000 || of != 5000 {
		t.Errorf("%d of %d bytes, want 5000 of 5000", sent, of)
	}
	if progress.Doing() != "raw 1000" {
		t.Errorf("doing %q", progress.Doing())
	}
}

func TestDigestIsComputedOnce(t *testing.T) {
	var d digests
	a := attachments([]string{"a"}, 1000)[0].Attachment
	first, err := d.of(t.Context(), a, false)
	if err != nil || first.length != 1000 {
		t.Fatal(first, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if again, err := d.of(ended, a, false); err != nil || again != first {
		t.Errorf("the second time: %v, %v", again, err)
	}
	if _, err := d.of(ended, a, true); err == nil {
		t.Error("another digest was found without being computed")
	}
}
