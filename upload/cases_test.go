package upload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"couchgauge/internal/rounds"
	"couchgauge/internal/servertest"
	"couchgauge/results"
)

// The cases of cases.md that are upload's own. U5 is in memory_test.go, U6 in
// internal/couch, U7, U14 and U15's refusal with the command.

// between starts a proxy in front of a server that may change requests and
// answers.
func between(t *testing.T, target string, request func(*http.Request), answer func(*http.Response) error) string {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // a form's Referer is compared with it
			if request != nil {
				request(r.Out)
			}
		},
		ModifyResponse: answer,
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL
}

func TestU2AppendedAttachmentsAnswered202(t *testing.T) {
	target := servertest.Reference(t).URL
	through := between(t, target, nil, func(r *http.Response) error {
		later := strings.Contains(r.Request.URL.Path, "attachment-2") || strings.Contains(r.Request.URL.Path, "attachment-3")
		if r.StatusCode == http.StatusCreated && later {
			r.StatusCode, r.Status = http.StatusAccepted, "202 Accepted"
		}
		return nil
	})
	p := Plan{Sizes: sizes(t, "1000"), Append: 4, Samples: 2, Verify: VerifyBytes}
	k, out, err := run(t, through, p)
	allVerified(t, k, err)
	if len(k.cells) != 4 || out.Samples != 8 {
		t.Errorf("%d cells, %+v: want a cell per ordinal", len(k.cells), out)
	}
	for _, s := range k.samples {
		ordinal := k.level(s, "ordinal")
		want := 0.0
		if ordinal == "3" || ordinal == "4" {
			want = 1
		}
		if s.Measures["accepted_202"] != want {
			t.Errorf("attachment %s: %v answers 202, want %v", ordinal, s.Measures["accepted_202"], want)
		}
	}
}

func TestU3ServerGivesUp(t *testing.T) {
	body := `{"error":"timeout","reason":"The request could not be processed in a reasonable amount of time."}`
	server := scripted(t, func(c *servertest.Conn, _ servertest.Request) error {
		if err := c.Discard(1 << 20); err != nil {
			return err
		}
		if err := c.Answer(fmt.Sprintf("HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)); err != nil {
			return err
		}
		_ = c.Discard(1 << 30) // it goes on reading, as mochiweb does
		return io.EOF
	})
	k, out, err := runOn(t, server.URL, Plan{Sizes: sizes(t, "256MiB"), Samples: 1})
	if err != nil || out.Failed != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	for _, want := range []string{"500 timeout", "60 s", "it came after", "of 256 MiB sent"} {
		if !strings.Contains(k.samples[0].Error, want) {
			t.Errorf("%q does not say %q", k.samples[0].Error, want)
		}
	}
}

func TestU4ListenerDisappears(t *testing.T) {
	var server *httptest.Server
	var uploads atomic.Int64
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"couchdb":"Welcome","version":"3.5"}`)
			return
		}
		if uploads.Add(1) > 7 {
			server.Listener.Close()
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"ok":true,"id":"d","rev":"1-a"}`)
	}))
	t.Cleanup(server.Close)
	k := &kept{}
	p := Plan{Sizes: sizes(t, "10B,20B,30B"), Samples: 5, Order: rounds.Sequential, Verify: VerifyOff}
	r := Run{Plan: p, Server: open(t, server.URL), Database: "db", Sink: k, Progress: &Progress{}}
	m := newSampler(p, r.Server, r.Database, r.Progress)
	m.clock = &fakeClock{now: time.Now()}
	defer m.close()
	out, err := r.measure(t.Context(), m, m.clock)
	var stopped *rounds.StoppedError
	if !errors.As(err, &stopped) || stopped.LastGood != "raw 20B" || !strings.Contains(err.Error(), "refused") {
		t.Errorf("error: %v", err)
	}
	if out.Samples != 8 || out.Failed != 1 || len(k.cells) != 3 {
		t.Errorf("%+v of %d cells were kept", out, len(k.cells))
	}
}

func TestU8PathPrefix(t *testing.T) {
	target := servertest.Reference(t).URL
	var outside atomic.Int64
	strip := func(r *http.Request) {
		if !strings.HasPrefix(r.URL.EscapedPath(), "/couch%2Fone/deep/") {
			outside.Add(1)
		}
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/couch/one/deep")
		r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, "/couch%2Fone/deep")
	}
	p := Plan{Methods: Methods(), Sizes: sizes(t, "0,1000"), Attachments: []int{5}, Names: Awkward, Samples: 1, Verify: VerifyBytes}
	k, _, err := run(t, between(t, target, strip, nil)+"/couch%2Fone/deep/", p)
	allVerified(t, k, err)
	if outside.Load() > 0 {
		t.Errorf("%d requests without the prefix", outside.Load())
	}
}

func TestU9ContinueAnnouncesClose(t *testing.T) {
	server := scripted(t, func(c *servertest.Conn, head servertest.Request) error {
		if err := c.Answer("HTTP/1.1 100 Continue\r\nServer: proxy\r\nConnection: close\r\n\r\n"); err != nil {
			return err
		}
		if err := takes(c, head); err != nil {
			return err
		}
		return io.EOF // and closes
	})
	k, out, err := runOn(t, server.URL, Plan{Sizes: sizes(t, "100kB"), Expect: []bool{true}, Samples: 4})
	if err != nil || out.Samples != 4 || out.Failed > 0 {
		t.Errorf("%+v, %v: %+v", out, err, k.samples)
	}
}

// TestU10EarlyRefusal: whether the answer arrives or gets lost in a reset, the
// size limit is reported.
func TestU10EarlyRefusal(t *testing.T) {
	body := `{"error":"attachment_too_large","reason":"attachment-0.bin"}`
	refusal := fmt.Sprintf("HTTP/1.1 413 Request Entity Too Large\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	for _, c := range []struct {
		name   string
		server func(c *servertest.Conn, head servertest.Request) error
	}{
		{"after the head, then close", func(c *servertest.Conn, _ servertest.Request) error {
			return errors.Join(c.Answer(refusal), io.EOF)
		}},
		{"lost in a reset", func(c *servertest.Conn, head servertest.Request) error {
			if head.Header.Get("Expect") == "" {
				return errors.Join(c.Discard(1<<20), c.Reset())
			}
			return errors.Join(c.Answer(refusal), io.EOF)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, out, err := runOn(t, scripted(t, c.server).URL, Plan{Sizes: sizes(t, "32MiB"), Samples: 2})
			if err != nil || out.Failed != 2 {
				t.Fatalf("%+v, %v", out, err)
			}
			for _, s := range k.samples {
				want := `put attachment "attachment-0.bin" to db: 413 attachment_too_large`
				if !strings.HasPrefix(s.Error, want) || !strings.Contains(s.Error, "max_attachment_size") {
					t.Errorf("error %q, want %q", s.Error, want)
				}
			}
		})
	}
}

func TestResetWithoutReason(t *testing.T) {
	server := scripted(t, func(c *servertest.Conn, head servertest.Request) error {
		if head.Header.Get("Expect") != "" {
			return takes(c, head)
		}
		return errors.Join(c.Discard(1<<20), c.Reset())
	})
	k, out, err := runOn(t, server.URL, Plan{Sizes: sizes(t, "32MiB"), Samples: 1})
	if err != nil || out.Failed != 1 || !strings.Contains(k.samples[0].Error, "connection reset while sending (often a size limit)") {
		t.Errorf("%+v, %v: %+v", out, err, k.samples)
	}
}

func TestU12BareStubs(t *testing.T) {
	bare := func(r *http.Response) error {
		r.Header.Set("Content-Type", "text/plain; charset=utf-8")
		r.Header.Del("Content-MD5")
		if r.Request.Method != http.MethodGet || !strings.Contains(r.Request.URL.RawQuery, "att_encoding_info") {
			return nil
		}
		var doc map[string]any
		if err := json.NewDecoder(r.Body).Decode(&doc); err != nil {
			return err
		}
		for _, a := range doc["_attachments"].(map[string]any) {
			delete(a.(map[string]any), "digest")
		}
		text, err := json.Marshal(doc)
		r.Body = io.NopCloser(bytes.NewReader(text))
		r.ContentLength = int64(len(text))
		r.Header.Set("Content-Length", fmt.Sprint(len(text)))
		return err
	}
	p := Plan{Methods: Methods(), Sizes: sizes(t, "0,1000"), Attachments: []int{2}, Samples: 1}
	k, _, err := run(t, between(t, servertest.Reference(t).URL, nil, bare), p)
	allVerified(t, k, err)
}

// TestU13OtherBytesAreStored: one byte in the middle is changed on its way.
func TestU13OtherBytesAreStored(t *testing.T) {
	corrupt := func(r *http.Request) {
		if r.Method == http.MethodPut && r.ContentLength == 1000 {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			body[500] ^= 1
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
	}
	for _, verify := range []string{VerifyDigest, VerifyBytes} {
		p := Plan{Methods: []string{"raw", "base64"}, Sizes: sizes(t, "1000"), Samples: 2, Verify: verify}
		k, out, err := run(t, between(t, servertest.Reference(t).URL, corrupt, nil), p)
		if err != nil || out.Samples != 4 || out.Failed != 2 || out.Verified != 2 {
			t.Errorf("%s: %+v, %v", verify, out, err)
		}
		for _, s := range k.samples {
			differs := s.Error == `stored attachment "attachment-0.bin" differs from byte 500 on`
			if raw := k.level(s, "method") == "raw"; differs != raw || s.Verified == raw {
				t.Errorf("%s: %sverified %v, error %q", verify, k.text(s), s.Verified, s.Error)
			}
		}
	}
}

func TestShortAttachmentIsStored(t *testing.T) {
	cut := func(r *http.Request) {
		if r.Method == http.MethodPut && r.ContentLength == 1000 {
			r.Body = io.NopCloser(io.LimitReader(r.Body, 494))
			r.ContentLength = 494
		}
	}
	k, out, err := run(t, between(t, servertest.Reference(t).URL, cut, nil), Plan{Sizes: sizes(t, "1000"), Samples: 1})
	if err != nil || out.Failed != 1 || k.samples[0].Error != `stored attachment "attachment-0.bin" differs: 494 bytes instead of 1000` {
		t.Errorf("%+v, %v: %+v", out, err, k.samples)
	}
}

func TestU16CancelInTheMiddle(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	server := scripted(t, func(c *servertest.Conn, _ servertest.Request) error {
		if err := c.Discard(10 << 20); err != nil {
			return err
		}
		cancel(interrupted)
		<-t.Context().Done() // reads no more
		return io.EOF
	})
	for _, m := range Methods() {
		k := &kept{}
		p := Plan{Methods: []string{m}, Sizes: sizes(t, "1GiB"), Samples: 3, Verify: VerifyOff}
		out, err := Run{Plan: p, Server: open(t, server.URL), Database: "db", Sink: k}.Measure(ctx)
		if !errors.Is(err, interrupted) || out.Samples != 0 || len(k.samples) != 0 || len(k.cells) != 1 {
			t.Errorf("%s: %+v, %v: %d samples", m, out, err, len(k.samples))
		}
	}
}

func TestU17AwkwardDatabase(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s servertest.Server) {
		if s.Pouch {
			t.Skip("the memory adapter of PouchDB Server makes no folder for a slash in a database's name")
		}
		server := open(t, s.URL)
		all := server.NewDatabases("261130t215501k3f9qz")
		db, err := all.Create(t.Context(), "a/b+c(d)$e", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := all.DeleteAll(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		p := Plan{Methods: Methods(), Sizes: sizes(t, "1000"), Attachments: []int{5}, Names: Awkward, Samples: 1, Verify: VerifyBytes}
		k := &kept{}
		_, err = Run{Plan: p, Server: server, Database: db, Sink: k}.Measure(t.Context())
		allVerified(t, k, err)
	})
}

// TestU18TooManyRequests: the waits are as told, counted, and in no time.
func TestU18TooManyRequests(t *testing.T) {
	for _, c := range []struct {
		name   string
		header string
		times  int
		waited time.Duration
		failed string
	}{
		{"told to wait 7 s twice", "Retry-After: 7\r\n", 2, 14 * time.Second, ""},
		{"not told how long", "", 3, 7 * time.Second, ""},
		{"told to wait too long", "Retry-After: 4000\r\n", 1, 0, "429"},
		{"without end", "Retry-After: 1\r\n", 100, 8 * time.Second, "gave up after 9 times"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			refused := 0
			server := scripted(t, func(conn *servertest.Conn, head servertest.Request) error {
				mu.Lock()
				defer mu.Unlock()
				if refused == c.times {
					return takes(conn, head)
				}
				refused++
				return errors.Join(conn.Body(&head), conn.Answer("HTTP/1.1 429 Too Many Requests\r\n"+c.header+"Content-Length: 0\r\n\r\n"))
			})
			clock := &fakeClock{now: time.Unix(1, 0)}
			p := Plan{Sizes: sizes(t, "100"), Samples: 1, Verify: VerifyOff}
			r := Run{Plan: p, Server: open(t, server.URL), Database: "db", Sink: &kept{}, Progress: &Progress{}}
			m := newSampler(p, r.Server, r.Database, r.Progress)
			m.clock = clock
			defer m.close()
			out, err := r.measure(t.Context(), m, clock)
			if err != nil {
				t.Fatal(err)
			}
			s := r.Sink.(*kept).samples[0]
			if waited := clock.now.Sub(time.Unix(1, 0)); waited != c.waited {
				t.Errorf("waited %v, want %v", waited, c.waited)
			}
			if c.failed != "" {
				if out.Failed != 1 || !strings.Contains(s.Error, c.failed) {
					t.Errorf("%+v, error %q, want %q", out, s.Error, c.failed)
				}
				return
			}
			if out.Failed > 0 || s.Measures["retries_429"] != float64(c.times) || s.Measures["waited_429_s"] != c.waited.Seconds() {
				t.Errorf("%+v: %+v", out, s)
			}
			uploads := uploadsOf(server.Requests())
			if got, one := int64(s.Measures["wire_bytes"]), uploads[len(uploads)-1].Bytes; got != one {
				t.Errorf("wire_bytes %d, the last request had %d", got, one)
			}
		})
	}
}

// TestFailedUploadLeavesNoConnection: a server that refuses early and keeps
// the connection open gets the next upload on another one.
func TestFailedUploadLeavesNoConnection(t *testing.T) {
	first := true
	var mu sync.Mutex
	server := scripted(t, func(c *servertest.Conn, head servertest.Request) error {
		mu.Lock()
		defer mu.Unlock()
		if !first {
			return takes(c, head)
		}
		first = false
		if err := c.Body(&head); err != nil {
			return err
		}
		return c.Answer("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
	})
	_, out, err := runOn(t, server.URL, Plan{Sizes: sizes(t, "10"), Samples: 2})
	if err != nil || out.Failed != 1 || out.Samples != 2 {
		t.Errorf("%+v, %v", out, err)
	}
	if n := len(server.Received()); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// TestStalledServer: the idle timeout ends an upload whose bytes do not move.
func TestStalledServer(t *testing.T) {
	server := scripted(t, func(c *servertest.Conn, head servertest.Request) error {
		if err := c.Body(&head); err != nil {
			return err
		}
		<-t.Context().Done()
		return io.EOF
	})
	k, out, err := runOn(t, server.URL, Plan{Sizes: sizes(t, "10kB"), Samples: 1, Timeout: 50 * time.Millisecond})
	if err != nil || out.Failed != 1 || !strings.Contains(k.samples[0].Error, "idle timeout: no byte moved for 50ms") {
		t.Errorf("%+v, %v: %+v", out, err, k.samples)
	}
}

// TestNothingIsStored: a sink cannot be verified, and that is said.
func TestNothingIsStored(t *testing.T) {
	s := open(t, sink(t))
	k := &kept{}
	out, err := Run{Plan: Plan{Sizes: sizes(t, "10"), Samples: 1}, Server: s, Database: database(t, s), Sink: k}.Measure(t.Context())
	if err != nil || out.Failed != 1 || !strings.Contains(k.samples[0].Error, "404 not_found") || !strings.Contains(k.samples[0].Error, "a sink keeps nothing") {
		t.Errorf("%+v, %v: %+v", out, err, k.samples)
	}
}

// TestSinkError: a full disk ends the run.
func TestSinkError(t *testing.T) {
	full := errors.New("no space left on device")
	p := Plan{Sizes: sizes(t, "10"), Samples: 10, Verify: VerifyOff}
	_, err := Run{Plan: p, Server: open(t, scripted(t, takes).URL), Database: "db", Sink: failing{full}}.Measure(t.Context())
	if !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

// failing is a sink that takes no sample.
type failing struct{ err error }

func (f failing) Write(r results.Record) error {
	if _, ok := r.(*results.Sample); ok {
		return f.err
	}
	return nil
}
