package couch

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"couchgauge/internal/servertest"
)

// http1 is an answer as it is on the wire.
func http1(status, head, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, head, len(body), body)
}

const (
	couchWelcome = `{"couchdb":"Welcome","version":"3.5.0","git_sha":"11f0d3643","uuid":"e3","features":["quickjs"],"vendor":{"name":"The Apache Software Foundation"}}`
	pouchWelcome = `{"express-pouchdb":"Welcome!","uuid":"e3","vendor":{"name":"PouchDB authors","version":"4.2.0"},"version":"4.2.0"}`
	ownWelcome   = `{"couchdb":"Welcome","version":"0.1","vendor":{"name":"couchgauge reference server"}}`
)

func TestHello(t *testing.T) {
	for _, test := range []struct {
		name, answer           string
		version, server, proxy string
		reference              bool
	}{
		{name: "CouchDB", answer: http1("200 OK", "Server: CouchDB/3.5.0 (Erlang OTP/25)\r\n", couchWelcome),
			version: "3.5.0", server: "CouchDB/3.5.0 (Erlang OTP/25)"},
		{name: "as text (U12)", answer: http1("200 OK", "Server: CouchDB/3.5.0 (Erlang OTP/25)\r\nContent-Type: text/plain\r\n", couchWelcome),
			version: "3.5.0", server: "CouchDB/3.5.0 (Erlang OTP/25)"},
		{name: "PouchDB", answer: http1("200 OK", "X-Powered-By: Express\r\n", pouchWelcome), version: "4.2.0"},
		{name: "reference", answer: http1("200 OK", "Server: CouchGauge/0.1 (reference)\r\n", ownWelcome),
			version: "0.1", server: "CouchGauge/0.1 (reference)", reference: true},
		{name: "nginx (U7)", answer: http1("200 OK", "Server: nginx/1.22.1\r\n", couchWelcome),
			version: "3.5.0", server: "nginx/1.22.1", proxy: "Server: nginx/1.22.1"},
		{name: "Via (U7)", answer: http1("200 OK", "Server: CouchDB/3.5.0 (Erlang OTP/25)\r\nVia: 1.1 lb1\r\n", couchWelcome),
			version: "3.5.0", server: "CouchDB/3.5.0 (Erlang OTP/25)", proxy: "Via: 1.1 lb1"},
		{name: "forwarded (U7)", answer: http1("200 OK", "X-Forwarded-For: 10.0.0.1\r\nX-Cache: MISS\r\n", couchWelcome),
			version: "3.5.0", proxy: "X-Forwarded-For: 10.0.0.1, X-Cache: MISS"},
		{name: "header and welcome differ (U7)", answer: http1("200 OK", "Server: CouchDB/2.3.1 (Erlang OTP/20)\r\n", couchWelcome),
			version: "3.5.0", server: "CouchDB/2.3.1 (Erlang OTP/20)", proxy: "Server: CouchDB/2.3.1 (Erlang OTP/20) for version 3.5.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := servertest.Record(t, servertest.Answers(test.answer))
			w, err := open(t, r.URL, Options{}).Hello(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if w.Version != test.version || w.Server != test.server || w.Proxy != test.proxy || w.Reference() != test.reference {
				t.Errorf("got version %q, server %q, proxy %q, reference %v", w.Version, w.Server, w.Proxy, w.Reference())
			}
			if !strings.HasSuffix(test.answer, string(w.Raw)) {
				t.Errorf("the welcome is not verbatim: %s", w.Raw)
			}
		})
	}
}

func TestHelloFindsNoServer(t *testing.T) {
	for _, test := range []struct{ name, answer, says string }{
		{"a page", http1("200 OK", "", "<html><body>It works!</body></html>"), "It works!"},
		{"other JSON", http1("200 OK", "", `{"name":"elastic"}`), "not with a CouchDB welcome"},
		{"a database", http1("200 OK", "", `{"db_name":"orders","doc_count":1}`), "give the URL of the server"},
		{"a redirect", http1("301 Moved Permanently", "Location: https://u:hunter2@h/\r\n", ""), "redirects to https://h/"},
		{"not found", http1("404 Not Found", "", `{"error":"not_found","reason":"missing"}`), "404 not_found"},
		{"a gateway", http1("502 Bad Gateway", "", "<html><h1>502 Bad Gateway</h1></html>"), "502 Bad Gateway"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := servertest.Record(t, servertest.Answers(test.answer))
			_, err := open(t, r.URL, Options{}).Hello(t.Context())
			var e *UnreachableError
			if !errors.As(err, &e) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want an UnreachableError with %q", err, test.says)
			}
			if n := len(r.Requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// TestHelloToAMissingDatabase: a database in the URL that is not there is said
// to be one too many.
func TestHelloToAMissingDatabase(t *testing.T) {
	r := servertest.Record(t, servertest.Answers(http1("404 Object Not Found", "", `{"error":"not_found","reason":"Database does not exist."}`)))
	_, err := open(t, r.URL+"orders", Options{}).Hello(t.Context())
	var e *UnreachableError
	const want = "404 not_found (Database does not exist.): give the URL of the server, without a database"
	if !errors.As(err, &e) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want an UnreachableError with %q", err, want)
	}
}

// TestHelloInTheWrongScheme: TLS to a server without, and the other way round.
func TestHelloInTheWrongScheme(t *testing.T) {
	const noHandshake = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
	for _, c := range []struct{ name, scheme, answer, want string }{
		{"TLS, answered in HTTP", "https", noHandshake, "first record does not look like a TLS handshake: is it http://?"},
		{"TLS, hung up on", "https", "", "TLS handshake: the server said nothing: EOF: is it http://?"},
		{"HTTP, answered by a TLS alert", "http", "\x15\x03\x01\x00\x02\x02\x46", "the server speaks TLS: is it https://?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := piped(t, Options{}, func(conn net.Conn) {
					conn.Read(make([]byte, 4096))
					io.WriteString(conn, c.answer)
				})
				s.base.scheme = c.scheme
				refuses(t, s, c.want)
			})
		})
	}
}

// TestHelloToSilenceInTLS: a server that waits for the rest of what it takes
// for an HTTP request costs ten seconds, and is told from one that is slow.
func TestHelloToSilenceInTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := piped(t, Options{IdleTimeout: time.Minute}, func(conn net.Conn) { io.Copy(io.Discard, conn) })
		s.base.scheme = "https"
		start := time.Now()
		refuses(t, s, "TLS handshake: the server said nothing: gave up after 10s: is it http://?")
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// refuses holds Hello to an *UnreachableError that ends with want.
func refuses(t *testing.T, s *Server, want string) {
	t.Helper()
	_, err := s.Hello(t.Context())
	var e *UnreachableError
	if !errors.As(err, &e) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want an UnreachableError with %q", err, want)
	}
}

func TestHelloWithoutListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://admin:hunter2@" + l.Addr().String()
	l.Close()
	_, err = open(t, url, Options{}).Hello(t.Context())
	var e *UnreachableError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v, want an UnreachableError", err)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the password is in %q", err)
	}
}

// Case U14: exactly one request, with exactly these credentials, and the
// password nowhere.
func TestHelloIsRefusedOnce(t *testing.T) {
	const password = "p@ss:w/rd%"
	for _, test := range []struct {
		name, userinfo string
		o              Options
	}{
		{"in the URL", "admin:" + password + "@", Options{}},
		{"escaped in the URL", "admin:p%40ss%3Aw%2Frd%25@", Options{}},
		{"beside the URL", "", Options{User: "admin", Password: password}},
	} {
		for _, status := range []string{"401 Unauthorized", "403 Forbidden"} {
			t.Run(test.name+" "+status, func(t *testing.T) {
				r := servertest.Record(t, servertest.Answers(http1(status, "", `{"error":"unauthorized","reason":"Name or password is incorrect."}`)))
				s := open(t, strings.Replace(r.URL, "http://", "http://"+test.userinfo, 1), test.o)
				_, err := s.Hello(t.Context())
				var e *RefusedError
				if !errors.As(err, &e) || !strings.Contains(err.Error(), "Name or password is incorrect") {
					t.Fatalf("got %v, want a RefusedError", err)
				}
				requests := r.Requests()
				if len(requests) != 1 {
					t.Fatalf("%d requests, want 1", len(requests))
				}
				want := "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+password))
				if got := requests[0].Header.Get("Authorization"); got != want {
					t.Errorf("Authorization is %q, want %q", got, want)
				}
				for _, text := range []string{err.Error(), fmt.Sprintf("%+v %#v %v", s, s, s), fmt.Sprintf("%+v %#v", s.options, s.options)} {
					for _, secret := range []string{password, "p%40ss", "w/rd", "w%2Frd"} {
						if strings.Contains(text, secret) {
							t.Errorf("%q is in %q", secret, text)
						}
					}
				}
			})
		}
	}
}

func TestHelloWithoutCredentials(t *testing.T) {
	r := servertest.Record(t, servertest.Answers(http1("200 OK", "", couchWelcome)))
	if _, err := open(t, r.URL, Options{}).Hello(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, ok := r.Requests()[0].Header["Authorization"]; ok {
		t.Errorf("Authorization is %q, want none", got)
	}
}
