package upload

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"couchgauge/gen"
	"couchgauge/internal/servertest"
	"couchgauge/results"
)

const (
	welcome  = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 38\r\n\r\n{\"couchdb\":\"Welcome\",\"version\":\"3.5\"}\n"
	created  = "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nContent-Length: 32\r\n\r\n{\"ok\":true,\"id\":\"d\",\"rev\":\"1-a\"}"
	accepted = "HTTP/1.1 202 Accepted\r\nContent-Length: 32\r\n\r\n{\"ok\":true,\"id\":\"d\",\"rev\":\"1-a\"}"
	listed   = "HTTP/1.1 201 Created\r\nContent-Length: 34\r\n\r\n[{\"ok\":true,\"id\":\"d\",\"rev\":\"1-a\"}]\n"
)

// scripted is a server that takes every upload: uploads decides how.
func scripted(t *testing.T, uploads func(c *servertest.Conn, head servertest.Request) error) *servertest.Recorder {
	return servertest.Record(t, func(c *servertest.Conn) error {
		for {
			head, err := c.Head()
			if err != nil {
				return err
			}
			if head.Method == http.MethodGet {
				err = c.Answer(welcome)
			} else {
				err = uploads(c, head)
			}
			if err != nil {
				return err
			}
		}
	})
}

// takes reads the body and answers as CouchDB would.
func takes(c *servertest.Conn, head servertest.Request) error {
	if err := c.Body(&head); err != nil {
		return err
	}
	if strings.HasSuffix(head.Target, "/_bulk_docs") {
		return c.Answer(listed)
	}
	return c.Answer(created)
}

// uploadsOf are the requests that are not ours for other purposes.
func uploadsOf(requests []servertest.Request) []servertest.Request {
	return slices.DeleteFunc(requests, func(r servertest.Request) bool { return r.Method == http.MethodGet })
}

// runOn measures a plan on a scripted server, which has no databases and
// stores nothing.
func runOn(t *testing.T, url string, p Plan) (*kept, results.Outcome, error) {
	t.Helper()
	k := &kept{}
	p.Verify = VerifyOff
	out, err := Run{Plan: p, Server: open(t, url), Database: "db", Sink: k}.Measure(t.Context())
	return k, out, err
}

// TestWireBytes is "must show" 5: what a row says about the wire is what was
// on it.
func TestWireBytes(t *testing.T) {
	types := map[string]string{
		"raw": "application/octet-stream", "base64": "application/json", "bulk": "application/json",
		"multipart": "multipart/related", "form": "multipart/form-data",
	}
	for _, c := range []struct {
		name string
		plan Plan
	}{
		{"plain", Plan{Methods: Methods()}},
		{"three attachments", Plan{Methods: Methods(), Attachments: []int{3}}},
		{"chunked", Plan{Methods: []string{"raw", "base64", "multipart", "bulk"}, Transfer: []string{Chunked}}},
		{"gzip", Plan{Methods: []string{"raw", "base64", "bulk"}, Encoding: []string{Gzip}}},
		{"new connections", Plan{Methods: Methods(), KeepAlive: []bool{false}}},
		{"concurrent", Plan{Methods: Methods(), Concurrency: []int{3}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			proxy := servertest.CountingProxy(t, scripted(t, takes).URL)
			c.plan.Sizes, c.plan.Samples = sizes(t, "0,10,300kB"), 1
			k, out, err := runOn(t, proxy.URL, c.plan)
			if err != nil || out.Failed > 0 {
				t.Fatalf("%+v, %v: %+v", out, err, k.samples)
			}
			var sent int64
			seen := map[string]int64{}
			for _, r := range proxy.Requests() {
				sent += r.Bytes
				if r.Method != http.MethodGet {
					seen[cellOf(r.Target)] += r.Bytes
					checkType(t, k, r, types)
				}
			}
			if proxy.Sent() != sent {
				t.Errorf("the proxy counted %d bytes, %d in requests", proxy.Sent(), sent)
			}
			for _, s := range k.samples {
				id := cellOf("/db/c" + strconv.Itoa(s.Cell) + "-")
				if k.level(s, "method") == "bulk" {
					continue // its requests do not name their cell: they are what is left
				}
				if got := int64(s.Measures["wire_bytes"]); got != seen[id] {
					t.Errorf("%swire_bytes %d, the proxy saw %d", k.text(s), got, seen[id])
				}
				delete(seen, id)
			}
			var left, bulk int64
			for _, n := range seen {
				left += n
			}
			for _, s := range k.samples {
				if k.level(s, "method") == "bulk" {
					bulk += int64(s.Measures["wire_bytes"])
				}
			}
			if left != bulk {
				t.Errorf("bulk: wire_bytes %d, the proxy saw %d", bulk, left)
			}
		})
	}
}

// cellOf finds the number of the cell in a request's target: "/db/c12-s0-0".
func cellOf(target string) string {
	_, doc, _ := strings.Cut(strings.TrimPrefix(target, "/"), "/")
	cell, _, _ := strings.Cut(doc, "-")
	return cell
}

func (k *kept) level(s *results.Sample, factor string) string {
	for _, l := range k.cells[s.Cell].Levels {
		if l.Factor == factor {
			return l.Text
		}
	}
	return ""
}

func checkType(t *testing.T, k *kept, r servertest.Request, want map[string]string) {
	t.Helper()
	method := "bulk"
	for _, c := range k.cells {
		if cellOf(r.Target) == "c"+strconv.Itoa(c.ID) {
			method = k.level(&results.Sample{Cell: c.ID}, "method")
		}
	}
	got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || got != want[method] {
		t.Errorf("%s is sent as %q", method, r.Header.Get("Content-Type"))
	}
}

// TestExactLength: unless chunks are asked for, the length stands in the head,
// and it is the body's.
func TestExactLength(t *testing.T) {
	server := scripted(t, takes)
	p := Plan{Methods: Methods(), Sizes: sizes(t, "0,1,1MB"), Samples: 1}
	if _, out, err := runOn(t, server.URL, p); err != nil || out.Failed > 0 {
		t.Fatal(out, err)
	}
	requests := uploadsOf(server.Requests())
	for _, r := range requests {
		if r.Header.Get("Content-Length") != strconv.Itoa(len(r.Body)) || r.Header.Get("Transfer-Encoding") != "" || r.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s %s: %d bytes of body, %v", r.Method, r.Target, len(r.Body), r.Header)
		}
	}
	if len(requests) != 15 {
		t.Errorf("%d uploads, want 15", len(requests))
	}
}

// TestRawSendsTheBytes: what gen makes is what arrives.
func TestRawSendsTheBytes(t *testing.T) {
	server := scripted(t, takes)
	p := Plan{Sizes: sizes(t, "300kB"), Seed: 42, Samples: 1}
	if _, _, err := runOn(t, server.URL, p); err != nil {
		t.Fatal(err)
	}
	want := content(t, gen.Attachment{Content: gen.Random, Seed: 42, Size: 300_000})
	requests := uploadsOf(server.Requests())
	if len(requests) != 1 || string(requests[0].Body) != string(want) {
		t.Errorf("%d uploads; the first is not what gen makes", len(requests))
	}
}

// TestGzipUndoesBase64: gzip makes three quarters of base64 on the wire, and
// the row says so.
func TestGzipUndoesBase64(t *testing.T) {
	server := scripted(t, takes)
	p := Plan{Methods: []string{"base64", "bulk"}, Sizes: sizes(t, "1MB"), Encoding: []string{Gzip}, Samples: 1}
	k, out, err := runOn(t, server.URL, p)
	if err != nil || out.Failed > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	const most = 1_010_000 // of 1,333,336
	for _, r := range uploadsOf(server.Requests()) {
		if len(r.Body) > most || r.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s %s: %d bytes of body, %v", r.Method, r.Target, len(r.Body), r.Header)
		}
	}
	for _, s := range k.samples {
		if n := s.Measures["wire_bytes"]; n > most {
			t.Errorf("%swire_bytes %v", k.text(s), n)
		}
	}
}

func TestKeepAlive(t *testing.T) {
	for _, c := range []struct {
		keep        bool
		connections int
	}{{true, 1}, {false, 3}} {
		server := scripted(t, takes)
		p := Plan{Sizes: sizes(t, "10"), KeepAlive: []bool{c.keep}, Samples: 3}
		k, _, err := runOn(t, server.URL, p)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(server.Received()); n != c.connections {
			t.Errorf("keep-alive %v: three uploads over %d connections, want %d", c.keep, n, c.connections)
		}
		for _, s := range k.samples {
			if !c.keep && s.Measures["connect_s"] == 0 {
				t.Errorf("a new connection took no time to connect: %v", s.Measures)
			}
		}
	}
}

// TestConcurrentUploadsAreTogether: the server answers none before all have
// come, each on its own connection.
func TestConcurrentUploadsAreTogether(t *testing.T) {
	const n = 5
	var mu sync.Mutex
	waiting := 0
	all := make(chan struct{})
	server := scripted(t, func(c *servertest.Conn, head servertest.Request) error {
		mu.Lock()
		if waiting++; waiting%n == 0 {
			close(all)
			all = make(chan struct{})
			mu.Unlock()
		} else {
			mine := all
			mu.Unlock()
			<-mine
		}
		return takes(c, head)
	})
	p := Plan{Methods: []string{"raw", "multipart"}, Sizes: sizes(t, "10"), Concurrency: []int{n}, Samples: 2}
	k, out, err := runOn(t, server.URL, p)
	if err != nil || out.Samples != 4 || out.Failed > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	docs := map[string]bool{}
	for _, r := range uploadsOf(server.Requests()) {
		docs[r.Target] = true
	}
	if len(docs) != 4*n {
		t.Errorf("%d documents, want %d", len(docs), 4*n)
	}
	if k.cells[0].Payload != 10*n {
		t.Errorf("payload %d, want %d", k.cells[0].Payload, 10*n)
	}
}

// TestExpect: the wait for 100 Continue has a phase of its own (fact 2).
func TestExpect(t *testing.T) {
	for _, c := range []struct {
		name      string
		continues bool
	}{{"server says 100 Continue", true}, {"server never says it", false}} {
		t.Run(c.name, func(t *testing.T) {
			server := scripted(t, func(conn *servertest.Conn, head servertest.Request) error {
				if c.continues {
					if err := conn.Answer("HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
						return err
					}
				}
				return takes(conn, head)
			})
			p := Plan{Methods: []string{"raw", "multipart", "form"}, Sizes: sizes(t, "100kB"), Expect: []bool{true}, Samples: 1}
			k, out, err := runOn(t, server.URL, p)
			if err != nil || out.Failed > 0 {
				t.Fatalf("%+v, %v", out, err)
			}
			for _, r := range uploadsOf(server.Requests()) {
				if r.Header.Get("Expect") != "100-continue" {
					t.Errorf("%s %s without Expect", r.Method, r.Target)
				}
			}
			for _, s := range k.samples {
				waited := s.Measures["wait_continue_s"]
				if c.continues && waited <= 0 || !c.continues && waited < 1 {
					t.Errorf("%swaited %v s for 100 Continue", k.text(s), waited)
				}
			}
		})
	}
}

// TestPhasesOfASample: they add up to its duration.
func TestPhasesOfASample(t *testing.T) {
	server := scripted(t, takes)
	p := Plan{Methods: Methods(), Sizes: sizes(t, "0,1MB"), Attachments: []int{1, 2}, Concurrency: []int{1, 2}, Samples: 2}
	k, _, err := runOn(t, server.URL, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range k.samples {
		var sum float64
		for _, phase := range []string{"connect_s", "wait_continue_s", "produce_s", "send_s", "wait_s", "receive_s"} {
			if s.Measures[phase] < 0 {
				t.Errorf("%s%s is negative", k.text(s), phase)
			}
			sum += s.Measures[phase]
		}
		if d := sum - float64(s.Duration)/1e9; d > 1e-9 || d < -1e-9 {
			t.Errorf("%sphases add up to %v, the sample took %v", k.text(s), sum, float64(s.Duration)/1e9)
		}
	}
}
