package replicate_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"couchgauge/internal/servertest"
)

// front is a server in front of another that may change what passes.
func front(t testing.TB, behind servertest.Server, handle func(w http.ResponseWriter, r *http.Request, next http.Handler)) servertest.Server {
	t.Helper()
	to, err := url.Parse(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	user := to.User
	to.User = nil
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1                    // feeds pass at once
	proxy.ErrorLog = log.New(io.Discard, "", 0) // tests break connections
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, proxy) }))
	t.Cleanup(func() { listening.CloseClientConnections(); listening.Close() })
	seen, err := url.Parse(listening.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	seen.User = user
	behind.URL = seen.String()
	return behind
}

// rewriteRequest changes a request's JSON.
func rewriteRequest(t testing.TB, r *http.Request, edit func(map[string]any)) {
	t.Helper()
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		t.Errorf("read a request: %v", err)
		return
	}
	edit(body)
	setBody(t, r, body)
}

// rewriteDocs changes the documents of a _bulk_docs request.
func rewriteDocs(t testing.TB, r *http.Request, edit func([]json.RawMessage) []json.RawMessage) {
	t.Helper()
	var body struct {
		NewEdits *bool             `json:"new_edits,omitempty"`
		Docs     []json.RawMessage `json:"docs"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		t.Errorf("read a request: %v", err)
		return
	}
	body.Docs = edit(body.Docs)
	setBody(t, r, body)
}

func setBody(t testing.TB, r *http.Request, body any) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Errorf("write a request: %v", err)
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	r.ContentLength = int64(len(b))
	r.Header.Set("Content-Length", "")
	r.Header.Del("Content-Length")
}

// rewriting changes an answer that comes in one piece and has no length.
type rewriting struct {
	http.ResponseWriter
	edit func([]byte) []byte
}

func (w *rewriting) WriteHeader(status int) {
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(status)
}

func (w *rewriting) Write(p []byte) (int, error) {
	if _, err := w.ResponseWriter.Write(w.edit(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// refusing is a server that stores all documents but one, which it refuses as
// a validation function does.
func refusing(t testing.TB, behind servertest.Server, id string) servertest.Server {
	t.Helper()
	return front(t, behind, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !strings.HasSuffix(r.URL.Path, "/_bulk_docs") || !strings.Contains(r.URL.Path, "-t") {
			next.ServeHTTP(w, r)
			return
		}
		var answer []any
		rewriteDocs(t, r, func(docs []json.RawMessage) []json.RawMessage {
			kept := docs[:0]
			for _, raw := range docs {
				var d struct {
					ID        string `json:"_id"`
					Rev       string `json:"_rev"`
					Revisions struct{ IDs []string }
				}
				if json.Unmarshal(raw, &d) == nil && d.ID == id {
					answer = append(answer, map[string]string{"id": id, "rev": d.Rev, "error": "forbidden", "reason": "not this one"})
					continue
				}
				kept = append(kept, raw)
			}
			return kept
		})
		if answer == nil {
			next.ServeHTTP(w, r)
			return
		}
		stored := httptest.NewRecorder()
		next.ServeHTTP(stored, r)
		if stored.Code != http.StatusCreated {
			t.Errorf("store the other documents: status %d: %s", stored.Code, stored.Body)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Errorf("answer: %v", err)
		}
	})
}
