package couch

import (
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"
)

// sizedConn is a connection that notes the size of every write.
type sizedConn struct {
	net.Conn
	sizes []int
}

func (c *sizedConn) Write(p []byte) (int, error) {
	c.sizes = append(c.sizes, len(p))
	return len(p), nil
}

// A small upload is one write, and a large one goes out in large pieces.
func TestConnWritesLargePieces(t *testing.T) {
	for _, test := range []struct {
		name string
		hold bool
		body int64
		want []int
	}{
		{"small", true, 10, []int{110}},
		{"small, head not held", false, 10, []int{100, 10}},
		{"large", true, 600 << 10, []int{pieceSize, pieceSize, 100 + 600<<10 - 2*pieceSize}},
	} {
		t.Run(test.name, func(t *testing.T) {
			sized := &sizedConn{}
			w := &wire{Conn: sized}
			c := newConn(w, w)
			if test.hold {
				c.holdHead()
			}
			if n, err := c.Write(make([]byte, 100)); n != 100 || err != nil {
				t.Fatal(n, err)
			}
			if n, err := c.ReadFrom(zeros(test.body)); n != test.body || err != nil {
				t.Errorf("read %d, %v; want %d", n, err, test.body)
			}
			if len(sized.sizes) != len(test.want) {
				t.Fatalf("writes of %v, want %v", sized.sizes, test.want)
			}
			for i := range test.want {
				if sized.sizes[i] != test.want[i] {
					t.Errorf("writes of %v, want %v", sized.sizes, test.want)
				}
			}
			if got := c.Written(); got != test.body+100 {
				t.Errorf("counted %d, want %d", got, test.body+100)
			}
		})
	}
}

// A head that waits is sent before whatever else is written.
func TestConnHeldHeadIsNotLost(t *testing.T) {
	here, there := net.Pipe()
	w := &wire{Conn: here}
	c := newConn(w, w)
	got := make(chan string)
	go func() {
		b, _ := io.ReadAll(there)
		got <- string(b)
	}()
	c.holdHead()
	for _, s := range []string{"head ", "more ", "end"} {
		if _, err := io.WriteString(c, s); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	if s := <-got; s != "head more end" {
		t.Errorf("got %q", s)
	}
}

// A body that fails is told as such, whatever was written.
func TestBodyThatFails(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
	defer srv.Close()
	c := open(t, srv.URL, Options{}).Client(TransportOptions{})
	broken := errors.New("the generator broke")
	_, err := c.Do(t.Context(), Request{Method: "PUT", Path: "db", ContentLength: 100,
		Body: io.NopCloser(io.MultiReader(strings.NewReader("abc"), failing{broken}))})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Inside TLS the connection counts HTTP, not records.
func TestConnCountsInsideTLS(t *testing.T) {
	var heads, bodies int64
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Proto != "HTTP/1.1" {
			t.Errorf("speaks %s", r.Proto)
		}
		n, _ := io.Copy(io.Discard, r.Body)
		bodies += n
		heads++
		io.WriteString(w, "{}")
	}))
	defer srv.Close()
	s := open(t, srv.URL, Options{IdleTimeout: time.Minute})
	s.roots = x509.NewCertPool()
	s.roots.AddCert(srv.Certificate())
	c := s.Client(TransportOptions{KeepAlive: true})
	defer c.Close()
	var conn *Conn
	started := false
	trace := &httptrace.ClientTrace{
		GotConn:           func(i httptrace.GotConnInfo) { conn = i.Conn.(*Conn) },
		TLSHandshakeStart: func() { started = true },
	}
	const size = 1_000_000
	request := put(size)
	request.Trace = trace
	exchange(t, c, request)
	first := conn.Written()
	request = put(size)
	request.Trace = trace
	exchange(t, c, request)
	if again := conn.Written() - first; again != first || first <= size || first > size+1000 {
		t.Errorf("wrote %d bytes, then %d; want twice the same: a head and %d", first, again, size)
	}
	if bodies != 2*size || heads != 2 {
		t.Errorf("the server received %d bytes in %d requests", bodies, heads)
	}
	if !started {
		t.Error("the handshake was not traced")
	}
	if onTCP := conn.tcp.out.Load(); onTCP <= conn.Written() {
		t.Errorf("TCP carried %d bytes, less than HTTP's %d", onTCP, conn.Written())
	}
}

// A certificate that nobody vouches for: no server to measure.
func TestUnknownCertificate(t *testing.T) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	_, err := open(t, srv.URL, Options{}).Hello(t.Context())
	var e *UnreachableError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v, want an UnreachableError about the certificate", err)
	}
}
