package couch

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"couchgauge/internal/servertest"
)

// open makes a server of a recorder or any other URL.
func open(t testing.TB, url string, o Options) *Server {
	t.Helper()
	s, err := Open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Control().Close() })
	return s
}

// zeros is a body of n bytes.
func zeros(n int64) io.ReadCloser { return io.NopCloser(io.LimitReader(zeroReader{}, n)) }

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// put is an upload of n bytes.
func put(n int64) Request {
	return Request{Method: http.MethodPut, Path: "db/doc/a.bin", ContentType: "application/octet-stream", Body: zeros(n), ContentLength: n}
}

const tooLarge = "HTTP/1.1 413 Request Entity Too Large\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 55\r\n\r\n" +
	`{"error":"attachment_too_large","reason":"a.bin is it"}`

// Case U10: a server answers 413 after the head and closes with the body
// unread, which resets the connection. net/http alone loses about half of such
// answers (fact 3).
func TestEarlyAnswerIsNotLost(t *testing.T) {
	r := servertest.Record(t, func(c *servertest.Conn) error {
		if _, err := c.Head(); err != nil {
			return err
		}
		return c.Answer(tooLarge)
	})
	c := open(t, r.URL, Options{}).Client(TransportOptions{})
	defer c.Close()
	for i := range 40 {
		resp, err := c.Do(t.Context(), put(32<<20))
		if err != nil {
			t.Fatalf("upload %d: %v", i, err)
		}
		err = Check(resp, "put attachment", `"a.bin"`)
		var e *Error
		if !errors.As(err, &e) || e.Status != 413 || e.Code != "attachment_too_large" {
			t.Fatalf("upload %d: got %v, want attachment_too_large", i, err)
		}
	}
}
