package engine_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"couchgauge/replicate/engine"
)

// spy stands before a server: it keeps what the server received, and may
// answer in its place.
type spy struct {
	url   string
	front func(w http.ResponseWriter, r *http.Request, body []byte) (answered bool)

	mu   sync.Mutex
	seen []seen
}

// seen is a request as it arrived.
type seen struct {
	Method, Path string // below the database, "" for the database
	Query        url.Values
	Header       http.Header
	Body         []byte
	Length       int64
}

// watch puts a spy before s. front may be nil.
func (s *server) watch(front func(http.ResponseWriter, *http.Request, []byte) bool) *spy {
	behind, err := url.Parse(s.base)
	if err != nil {
		s.t.Fatal(err)
	}
	p := &spy{front: front}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(behind) },
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, r *http.Request, err error) { panic(http.ErrAbortHandler) },
	}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
		p.mu.Lock()
		p.seen = append(p.seen, seen{r.Method, path, r.URL.Query(), r.Header.Clone(), body, r.ContentLength})
		p.mu.Unlock()
		if p.front != nil && p.front(w, r, body) {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		if u := behind.User; u != nil {
			pass, _ := u.Password()
			r.SetBasicAuth(u.Username(), pass)
		}
		proxy.ServeHTTP(w, r)
	}))
	s.t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	p.url = h.URL
	return p
}

func (p *spy) peer(db string) engine.Peer { return engine.Peer{URL: p.url + "/" + db} }

// to lists the requests to a path.
func (p *spy) to(method, path string) []seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []seen
	for _, s := range p.seen {
		if s.Method == method && s.Path == path {
			list = append(list, s)
		}
	}
	return list
}

// all lists every request.
func (p *spy) all() []seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]seen(nil), p.seen...)
}

// refuse answers with an error as CouchDB writes it.
func refuse(w http.ResponseWriter, status int, name, reason string) bool {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, `{"error":"`+name+`","reason":"`+reason+`"}`)
	return true
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter) bool { panic(http.ErrAbortHandler) }

func count[T any](t testing.TB, what string, list []T, want int) {
	t.Helper()
	if len(list) != want {
		t.Errorf("%s: %d, want %d", what, len(list), want)
	}
}
