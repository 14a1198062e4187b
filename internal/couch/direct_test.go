package couch

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"
	"time"

	"couchgauge/internal/servertest"
)

// do sends a request and returns the status and the connection it took.
func do(t *testing.T, c *Client, r Request) (status int, conn *Conn, reused bool) {
	t.Helper()
	r.Trace = &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		conn, reused = info.Conn.(*Conn), info.Reused
	}}
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode, conn, reused
}

// A connection that the server has closed while it was idle is not used again,
// not even for a request that could not be repeated.
func TestClosedIdleConnectionIsReplaced(t *testing.T) {
	r := servertest.Record(t, func(c *servertest.Conn) error {
		if _, err := c.Request(); err != nil {
			return err
		}
		return errors.Join(c.Answer(http1("201 Created", "", "{}")), io.EOF)
	})
	c := open(t, r.URL, Options{}).Client(TransportOptions{KeepAlive: true})
	_, first, _ := do(t, c, put(10))
	for quiet(first.tcp.Conn) { // until the end has come through
	}
	if status, second, reused := do(t, c, put(10)); status != 201 || reused || second == first {
		t.Errorf("status %d, reused %v", status, reused)
	}
}

// Bodies of all lengths, with and without Expect, leave the connection usable.
func TestConnectionIsKept(t *testing.T) {
	r := servertest.Record(t, func(c *servertest.Conn) error {
		for {
			head, err := c.Head()
			if err != nil {
				return err
			}
			if head.Header.Get("Expect") != "" {
				if err := c.Answer("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"); err != nil {
					return err
				}
			}
			if err := errors.Join(c.Body(&head), c.Answer(http1("201 Created", "", "{}"))); err != nil {
				return err
			}
		}
	})
	c := open(t, r.URL, Options{}).Client(TransportOptions{KeepAlive: true, ExpectContinueTimeout: time.Minute})
	var first *Conn
	var sizes []int
	for _, size := range []int64{1, smallBody, smallBody + 1, 1 << 20} {
		for _, expect := range []bool{false, true} {
			q := put(size)
			if expect {
				q.Header = http.Header{"Expect": {"100-continue"}}
			}
			_, conn, _ := do(t, c, q)
			if first == nil {
				first = conn
			}
			if conn != first {
				t.Errorf("%d bytes, expect %v: on another connection", size, expect)
			}
			sizes = append(sizes, int(size))
		}
	}
	var got []int
	for _, q := range r.Requests() {
		got = append(got, len(q.Body))
	}
	if !slices.Equal(got, sizes) {
		t.Errorf("the server received %v, want %v", got, sizes)
	}
}

// An answer in place of 100 Continue is the answer, and no body is sent.
func TestAnswerInsteadOfContinue(t *testing.T) {
	r := servertest.Record(t, func(c *servertest.Conn) error {
		if _, err := c.Head(); err != nil {
			return err
		}
		if err := c.Answer(http1("413 Request Entity Too Large", "", `{"error":"too_large"}`)); err != nil {
			return err
		}
		return c.Discard(1)
	})
	c := open(t, r.URL, Options{}).Client(TransportOptions{KeepAlive: true, ExpectContinueTimeout: time.Minute})
	q := put(1 << 20)
	q.Header = http.Header{"Expect": {"100-continue"}}
	status, conn, _ := do(t, c, q)
	if status != 413 {
		t.Errorf("status %d", status)
	}
	heads := r.Requests()
	if len(heads) != 1 || conn.Written() != heads[0].Bytes {
		t.Errorf("wrote %d bytes, the head has %d", conn.Written(), heads[0].Bytes)
	}
}

// An answer that comes while the body is being sent is returned at once, and
// the connection is not used again.
func TestAnswerBeforeTheBodyIsSent(t *testing.T) {
	r := servertest.Record(t, func(c *servertest.Conn) error {
		if _, err := c.Head(); err != nil {
			return err
		}
		if err := c.Answer(http1("507 Insufficient Storage", "", "{}")); err != nil {
			return err
		}
		<-t.Context().Done() // reads nothing
		return nil
	})
	c := open(t, r.URL, Options{}).Client(TransportOptions{KeepAlive: true})
	_, first, _ := do(t, c, put(1<<30))
	if _, second, reused := do(t, c, put(1<<30)); reused || second == first {
		t.Error("the connection was used again")
	}
}

func TestMaxConns(t *testing.T) {
	r := servertest.Record(t, servertest.Answers(http1("200 OK", "", "{}")))
	c := open(t, r.URL, Options{}).Client(TransportOptions{MaxConns: 1})
	first, err := c.Do(t.Context(), Request{Method: "GET", Path: "a"})
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan error)
	go func() {
		resp, err := c.Do(t.Context(), Request{Method: "GET", Path: "b"})
		if err == nil {
			resp.Body.Close()
		}
		second <- err
	}()
	select {
	case err := <-second:
		t.Errorf("a second request did not wait: %v", err)
	default:
	}
	first.Body.Close()
	if err := <-second; err != nil {
		t.Error(err)
	}
	if n := len(r.Received()); n != 2 {
		t.Errorf("%d connections", n)
	}
}

// A GET finds out on the wire that its connection is gone, and is repeated.
func TestRepeatable(t *testing.T) {
	for _, c := range []struct {
		method, body string
		want         bool
	}{{"GET", "", true}, {"HEAD", "", true}, {"GET", "x", false}, {"PUT", "", false}, {"POST", "x", false}, {"DELETE", "", false}} {
		req, err := http.NewRequest(c.method, "http://host/", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if got := repeatable(req); got != c.want {
			t.Errorf("%s with body %q: %v", c.method, c.body, got)
		}
	}
}
