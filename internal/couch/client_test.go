package couch

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"couchgauge/internal/servertest"
)

// exchange sends a request and reads the answer.
func exchange(t testing.TB, c *Client, r Request) string {
	t.Helper()
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Cases U8 and U17: the prefix is in every path, and no escape is lost, on the
// wire.
func TestPathsOnTheWire(t *testing.T) {
	for _, test := range []struct {
		name, base, path string
		query            url.Values
		want             string
	}{
		{"plain", "", "db/doc", nil, "/db/doc"},
		{"slash first", "", "/db/doc", nil, "/db/doc"},
		{"prefix", "couch", "db/doc", nil, "/couch/db/doc"},
		{"prefix, slash at the end", "a/b/", "db", nil, "/a/b/db"},
		{"escaped prefix", "a%2Fb/c", "db", nil, "/a%2Fb/c/db"},
		{"prefix and names", "couch", AttachmentPath("couchgauge-x/y+z", "a/b+c d", "Kолян 100%.bin"), nil,
			"/couch/couchgauge-x%2Fy%2Bz/a%2Fb%2Bc%20d/K%D0%BE%D0%BB%D1%8F%D0%BD%20100%25.bin"},
		{"names", "", AttachmentPath("x/y", "a/b", "d/e/f"), nil, "/x%2Fy/a%2Fb/d%2Fe%2Ff"},
		{"dots", "couch", DocPath("db", ".."), nil, "/couch/db/%2E%2E"},
		{"two slashes", "", DocPath("db", "//"), nil, "/db/%2F%2F"},
		{"design document", "couch", DocPath("db", "_design/a/b"), nil, "/couch/db/_design/a%2Fb"},
		{"query", "couch", "db/a%3Fb", url.Values{"rev": {"1-a+b"}}, "/couch/db/a%3Fb?rev=1-a%2Bb"},
		{"query in the path", "couch", "_all_dbs?limit=1", nil, "/couch/_all_dbs?limit=1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := servertest.Record(t, servertest.Answers(http1("200 OK", "", "{}")))
			c := open(t, r.URL+test.base, Options{}).Client(TransportOptions{})
			exchange(t, c, Request{Method: http.MethodGet, Path: test.path, Query: test.query})
			if got := r.Requests()[0].Target; got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// What a request says about its body is what the caller meant.
func TestBodiesOnTheWire(t *testing.T) {
	text := func(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }
	for _, test := range []struct {
		name    string
		request Request
		header  http.Header // nil value: must be absent
		body    string
	}{
		{"known length", Request{Method: "PUT", Body: text("hello"), ContentLength: 5, ContentType: "application/octet-stream"},
			http.Header{"Content-Length": {"5"}, "Transfer-Encoding": nil, "Content-Encoding": nil, "Content-Type": {"application/octet-stream"}, "Accept": {"application/json"}}, "hello"},
		{"chunked", Request{Method: "PUT", Body: text("hello"), ContentLength: -1},
			http.Header{"Content-Length": nil, "Transfer-Encoding": {"chunked"}, "Content-Encoding": nil}, "hello"},
		{"empty", Request{Method: "PUT", Body: text(""), ContentLength: 0},
			http.Header{"Content-Length": {"0"}, "Transfer-Encoding": nil}, ""},
		{"none", Request{Method: "POST"}, http.Header{"Content-Length": {"0"}, "Transfer-Encoding": nil}, ""},
		{"GET", Request{Method: "GET"}, http.Header{"Content-Length": nil, "Transfer-Encoding": nil, "Accept-Encoding": nil}, ""},
		{"again", Request{Method: "PUT", GetBody: func() (io.ReadCloser, error) { return text("hello"), nil }, ContentLength: 5},
			http.Header{"Content-Length": {"5"}}, "hello"},
		{"own header", Request{Method: "GET", Header: http.Header{"Accept": {"multipart/related"}, "Referer": {"http://h/"}}},
			http.Header{"Accept": {"multipart/related"}, "Referer": {"http://h/"}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := servertest.Record(t, servertest.Answers(http1("201 Created", "", "{}")))
			c := open(t, r.URL, Options{UserAgent: "couchgauge/1"}).Client(TransportOptions{})
			test.request.Path = "db"
			exchange(t, c, test.request)
			got := r.Requests()[0]
			for k, want := range test.header {
				if !slices.Equal(got.Header[k], want) {
					t.Errorf("%s is %q, want %q", k, got.Header[k], want)
				}
			}
			if string(got.Body) != test.body {
				t.Errorf("body is %q, want %q", got.Body, test.body)
			}
			if ua := got.Header.Get("User-Agent"); !strings.HasSuffix(ua, " couchgauge/1") {
				t.Errorf("User-Agent is %q", ua)
			}
		})
	}
}

// Case U9: 100 Continue with a head of its own that says that the connection
// will close. It is parsed, and the next request goes over a new connection.
func TestContinueThatAnnouncesClose(t *testing.T) {
	for _, test := range []struct{ name, expect, body string }{
		{"asked for", "100-continue", `{"ok":true}`},
		{"unasked", "", `{"ok":true}`},
		{"no body", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := servertest.Record(t, func(c *servertest.Conn) error {
				for {
					request, err := c.Head()
					if err != nil {
						return err
					}
					if err := c.Answer("HTTP/1.1 100 Continue\r\nServer: odd\r\nX-A: b\r\nConnection: close\r\n\r\n"); err != nil {
						return err
					}
					if err := c.Body(&request); err != nil {
						return err
					}
					if err := c.Answer(http1("201 Created", "", test.body)); err != nil {
						return err
					}
				}
			})
			c := open(t, r.URL, Options{}).Client(TransportOptions{KeepAlive: true, ExpectContinueTimeout: time.Second})
			defer c.Close()
			for range 3 {
				request := put(100_000)
				if test.expect != "" {
					request.Header = http.Header{"Expect": {test.expect}}
				}
				if got := exchange(t, c, request); got != test.body {
					t.Errorf("answer is %q", got)
				}
			}
			if n := len(r.Received()); n != 3 {
				t.Errorf("%d connections for 3 requests, want 3", n)
			}
		})
	}
}

func TestKeepAlive(t *testing.T) {
	for _, test := range []struct {
		name        string
		keep        bool
		connections int
	}{{"on", true, 1}, {"off", false, 3}} {
		t.Run(test.name, func(t *testing.T) {
			r := servertest.Record(t, servertest.Answers(http1("201 Created", "", "{}")))
			c := open(t, r.URL, Options{}).Client(TransportOptions{KeepAlive: test.keep})
			defer c.Close()
			for range 3 {
				exchange(t, c, put(10))
			}
			if n := len(r.Received()); n != test.connections {
				t.Errorf("%d connections, want %d", n, test.connections)
			}
		})
	}
}

// A redirect is not followed: not to another server, and not with credentials.
func TestRedirectsAreAnswers(t *testing.T) {
	other := servertest.Record(t, servertest.Answers(http1("200 OK", "", "{}")))
	r := servertest.Record(t, servertest.Answers(http1("307 Temporary Redirect", "Location: "+other.URL+"\r\n", "")))
	err := open(t, r.URL, Options{User: "a", Password: "b"}).Control().JSON(t.Context(), "GET", "db", nil, nil)
	var e *Error
	if !errors.As(err, &e) || e.Status != 307 {
		t.Errorf("got %v, want 307", err)
	}
	if n := len(other.Requests()); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

// The connection counts what the server received and sent.
func TestConnCounts(t *testing.T) {
	r := servertest.Record(t, servertest.Answers(http1("201 Created", "", "{}")))
	c := open(t, r.URL, Options{}).Client(TransportOptions{KeepAlive: true})
	defer c.Close()
	for _, length := range []int64{0, 1, 10, 262_144, 300_001, -1} {
		var conn *Conn
		request := put(max(length, 70_000))
		request.ContentLength = length
		if length >= 0 {
			request = put(length)
		}
		request.Trace = &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { conn = i.Conn.(*Conn) }}
		exchange(t, c, request)
		var sent int64
		for _, q := range r.Requests() {
			sent += q.Bytes
		}
		if got := conn.Written(); got != sent {
			t.Errorf("length %d: wrote %d bytes in all, the server received %d", length, got, sent)
		}
		if got, want := conn.Received(), int64(len(r.Requests())*len(http1("201 Created", "", "{}"))); got != want {
			t.Errorf("length %d: received %d bytes in all, want %d", length, got, want)
		}
	}
}

func TestConnectionsThatBreak(t *testing.T) {
	for _, test := range []struct {
		name   string
		script servertest.Script
		want   ResetError
		says   string
	}{
		{"reset while sending", func(c *servertest.Conn) error {
			if _, err := c.Head(); err != nil {
				return err
			}
			if err := c.Discard(1_000_000); err != nil {
				return err
			}
			return c.Reset()
		}, ResetError{Sending: true, Of: 16 << 20}, "connection reset while sending (often a size limit) after"},
		{"closed before the answer", func(c *servertest.Conn) error {
			_, err := c.Request()
			return err
		}, ResetError{Of: 16 << 20}, "closed by the server before it answered, after 16.8 MB of 16.8 MB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := servertest.Record(t, test.script)
			c := open(t, r.URL, Options{}).Client(TransportOptions{})
			_, err := c.Do(t.Context(), put(16<<20))
			var e *ResetError
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a ResetError", err)
			}
			if e.Sending != test.want.Sending || e.Of != test.want.Of || e.Sent <= 1_000_000 || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %+v: %v", e, err)
			}
		})
	}
}

// A kept connection that the server has closed is a reset of a reused one: the
// caller can tell it from a size limit.
func TestKeptConnectionThatIsGone(t *testing.T) {
	r := servertest.Record(t, func(c *servertest.Conn) error {
		if _, err := c.Request(); err != nil {
			return err
		}
		if err := c.Answer(http1("201 Created", "", "{}")); err != nil {
			return err
		}
		if _, err := c.Head(); err != nil {
			return err
		}
		return c.Reset()
	})
	c := open(t, r.URL, Options{}).Client(TransportOptions{KeepAlive: true})
	defer c.Close()
	exchange(t, c, put(10))
	_, err := c.Do(t.Context(), put(10))
	var e *ResetError
	if !errors.As(err, &e) || !e.Reused {
		t.Errorf("got %v, want a ResetError of a reused connection", err)
	}
}

// What does not speak HTTP is no server.
func TestAnswerThatIsNotHTTP(t *testing.T) {
	r := servertest.Record(t, servertest.Answers("220 smtp.example.com ESMTP\r\n"))
	_, err := open(t, r.URL, Options{}).Hello(t.Context())
	var e *UnreachableError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "malformed HTTP") {
		t.Errorf("got %v", err)
	}
}

// Case U12: JSON is read whatever it says it is.
func TestJSONAsText(t *testing.T) {
	r := servertest.Record(t, servertest.Answers(http1("201 Created", "Content-Type: text/plain\r\n", `{"ok":true,"rev":"1-a"}`)))
	var out struct{ Rev string }
	if err := open(t, r.URL, Options{}).Control().JSON(t.Context(), "PUT", "db/d", map[string]int{"a": 1}, &out); err != nil {
		t.Fatal(err)
	}
	q := r.Requests()[0]
	if out.Rev != "1-a" || string(q.Body) != `{"a":1}` || q.Header.Get("Content-Type") != "application/json" || q.Header.Get("Content-Encoding") != "" {
		t.Errorf("rev %q; sent %q as %v", out.Rev, q.Body, q.Header)
	}
}

// Case U18: an answer tells how long to wait.
func TestTooManyRequests(t *testing.T) {
	r := servertest.Record(t, servertest.Answers(http1("429 Too Many Requests", "Retry-After: 7\r\n", `{"error":"too_many_requests","reason":"slow down"}`)))
	c := open(t, r.URL, Options{}).Client(TransportOptions{})
	defer c.Close()
	err := c.JSON(t.Context(), "GET", "db", nil, nil)
	var e *Error
	if !errors.As(err, &e) || e.RetryAfter != 7*time.Second || !strings.Contains(err.Error(), "wait 7s") {
		t.Errorf("got %v", err)
	}
}
