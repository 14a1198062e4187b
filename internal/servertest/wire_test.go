package servertest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

const (
	created = "HTTP/1.1 201 Created\r\nContent-Length: 12\r\n\r\n{\"ok\":true}\n"
	refused = "HTTP/1.1 413 Request Entity Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)

func TestRecordKeepsRequestsByteForByte(t *testing.T) {
	const (
		known   = "PUT /db/d%2Fe/a%2Bb?rev=1-0 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nx-odd:  Case \r\n\r\nabc"
		chunked = "PUT /db/d HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
		bodily  = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
	)
	r := Record(t, Answers(created))
	conn := dial(t, r.URL)
	io.WriteString(conn, known+chunked+bodily)
	answers := bufio.NewReader(conn)
	for range 3 {
		expectStatus(t, answers, http.StatusCreated)
	}
	if got := r.Received(); len(got) != 1 || string(got[0]) != known+chunked+bodily {
		t.Errorf("received %q, want one connection with what was sent", got)
	}
	want := []struct {
		method, target, body string
		bytes                int
	}{
		{"PUT", "/db/d%2Fe/a%2Bb?rev=1-0", "abc", len(known)},
		{"PUT", "/db/d", "abc", len(chunked)},
		{"GET", "/", "", len(bodily)},
	}
	got := r.Requests()
	if len(got) != len(want) {
		t.Fatalf("%d requests, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.Method != w.method || g.Target != w.target || string(g.Body) != w.body || g.Bytes != int64(w.bytes) {
			t.Errorf("request %d: %s %s body %q of %d bytes, want %+v", i, g.Method, g.Target, g.Body, g.Bytes, w)
		}
		if g.Header.Get("Host") != "h" {
			t.Errorf("request %d: Host %q, want h", i, g.Header.Get("Host"))
		}
	}
	if got := string(got[0].Head); got != strings.TrimSuffix(known, "abc") {
		t.Errorf("head %q, want it as it was sent", got)
	}
}

// A script that answers before the body: what a server with a size limit does.
func TestRecordAnswersEarly(t *testing.T) {
	r := Record(t, func(c *Conn) error {
		if _, err := c.Head(); err != nil {
			return err
		}
		return c.Answer(refused)
	})
	conn := dial(t, r.URL)
	io.WriteString(conn, "PUT /db/d/a HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n")
	expectStatus(t, bufio.NewReader(conn), http.StatusRequestEntityTooLarge)
	got := r.Requests()
	if len(got) != 1 || got[0].Header.Get("Content-Length") != "1000000" || len(got[0].Body) != 0 {
		t.Errorf("requests %+v, want one of which only the head was read", got)
	}
}

func TestRecordResets(t *testing.T) {
	r := Record(t, func(c *Conn) error {
		if err := c.Discard(4); err != nil {
			return err
		}
		return c.Reset()
	})
	conn := dial(t, r.URL)
	io.WriteString(conn, "PUT ")
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read: %v, want ECONNRESET", err)
	}
}

func TestProxyCountsBytes(t *testing.T) {
	const body = 1_000_000
	head := "PUT /db/d/a HTTP/1.1\r\nHost: h\r\nContent-Type: application/octet-stream\r\nContent-Length: 1000000\r\n\r\n"
	r := Record(t, Answers(created))
	p := CountingProxy(t, r.URL)
	conn := dial(t, p.URL)
	answers := bufio.NewReader(conn)
	for i := range int64(3) {
		io.WriteString(conn, head)
		conn.Write(make([]byte, body))
		expectStatus(t, answers, http.StatusCreated)
		if got, want := p.Sent(), (i+1)*int64(len(head)+body); got != want {
			t.Errorf("after request %d: %d bytes sent, want %d", i, got, want)
		}
		if got, want := p.Received(), (i+1)*int64(len(created)); got != want {
			t.Errorf("after request %d: %d bytes received, want %d", i, got, want)
		}
		got := p.Requests()
		if int64(len(got)) != i+1 {
			t.Fatalf("after request %d: %d requests", i, len(got))
		}
		last := got[i]
		if last.Bytes != int64(len(head)+body) || last.Header.Get("Content-Type") != "application/octet-stream" || last.Body != nil {
			t.Errorf("request %d: %d bytes, %q, body kept: %t", i, last.Bytes, last.Header.Get("Content-Type"), last.Body != nil)
		}
	}
	if got := r.Requests(); len(got) != 3 || !bytes.Equal(got[2].Body, make([]byte, body)) {
		t.Errorf("the target received %d requests, want 3 with the bodies that were sent", len(got))
	}
}

// The body comes only after the server asks for it.
func TestProxyPassesContinue(t *testing.T) {
	r := Record(t, func(c *Conn) error {
		request, err := c.Head()
		if err != nil {
			return err
		}
		if err := c.Answer("HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return err
		}
		if err := c.Body(&request); err != nil {
			return err
		}
		return c.Answer(created)
	})
	p := CountingProxy(t, r.URL)
	conn := dial(t, p.URL)
	answers := bufio.NewReader(conn)
	io.WriteString(conn, "PUT /db/d/a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
	expectStatus(t, answers, http.StatusContinue)
	io.WriteString(conn, "abc")
	expectStatus(t, answers, http.StatusCreated)
	if got := r.Requests(); len(got) != 1 || string(got[0].Body) != "abc" {
		t.Errorf("the target received %+v, want one request with abc", got)
	}
}

// A server that answers early and closes does so behind the proxy as well.
func TestProxyPassesTheEnd(t *testing.T) {
	r := Record(t, func(c *Conn) error {
		if _, err := c.Head(); err != nil {
			return err
		}
		return c.Answer(refused)
	})
	p := CountingProxy(t, r.URL)
	conn := dial(t, p.URL)
	io.WriteString(conn, "PUT /db/d/a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n")
	answers := bufio.NewReader(conn)
	expectStatus(t, answers, http.StatusRequestEntityTooLarge)
	if _, err := answers.ReadByte(); err == nil {
		t.Error("the connection goes on after the server closed it")
	}
}

func TestProxyKeepsTheURLsCredentialsAndPath(t *testing.T) {
	p := CountingProxy(t, "http://user:secret@127.0.0.1:1/couch/")
	address := p.listener.Addr().String()
	if want := "http://user:secret@" + address + "/couch/"; p.URL != want {
		t.Errorf("URL %s, want %s", p.URL, want)
	}
}

func dial(t *testing.T, url string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.Trim(url, "htp:/"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func expectStatus(t *testing.T, answers *bufio.Reader, status int) {
	t.Helper()
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatalf("read an answer: %v", err)
	}
	io.Copy(io.Discard, response.Body)
	if response.StatusCode != status {
		t.Fatalf("status %d, want %d", response.StatusCode, status)
	}
}
