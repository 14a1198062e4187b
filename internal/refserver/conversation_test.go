package refserver

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The conversations are how it is known that the reference server answers as
// CouchDB does: each is a list of requests and of what must come back, and with
// COUCHGAUGE_TEST_URL=http://admin:password@host:5984 the same list is held
// against a real CouchDB instead.

// step is one request. In path, headers and body "DB" stands for the database,
// "HOST" for the server, and "{name}" for a revision that a step before saved.
type step struct {
	do      string // method and path
	headers map[string]string
	body    string
	anon    bool // without credentials

	status int
	want   string            // JSON that the answer must contain, see contains
	text   string            // or the exact body
	header map[string]string // headers of the answer; "-" for one that must be absent
	save   string            // name for the revision in the answer
}

type conversation struct {
	name  string
	steps []step
}

// openServer starts a reference server for one test.
func openServer(t testing.TB, opts Options) (*Server, string) {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	opts.NoFsync = true
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		s.store.stopFeeds()
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, web.URL
}

// target is the server of the conversations, and its credentials.
func target(t *testing.T) (base string, login *url.Userinfo) {
	if real := os.Getenv("COUCHGAUGE_TEST_URL"); real != "" {
		u, err := url.Parse(real)
		if err != nil {
			t.Fatal(err)
		}
		login, u.User = u.User, nil
		return strings.TrimSuffix(u.String(), "/"), login
	}
	s, base := openServer(t, Options{Admin: "admin", Password: "secret"})
	if _, err := s.config.set("replicator", "startup_jitter", "1", false); err != nil {
		t.Fatal(err)
	}
	return base, url.UserPassword("admin", "secret")
}

// talker sends the steps of one conversation.
type talker struct {
	base  string
	login *url.Userinfo
	db    string
	saved map[string]string
}

func (c *talker) fill(s string) string {
	s = strings.ReplaceAll(s, "HOST", strings.TrimPrefix(c.base, "http://"))
	s = strings.ReplaceAll(s, "DB", c.db)
	for name, rev := range c.saved {
		s = strings.ReplaceAll(s, "{"+name+"}", rev)
	}
	return s
}

// noRedirect shows a redirect instead of following it; nothing asks for gzip
// unless the step does.
var noRedirect = &http.Client{
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (c *talker) send(t *testing.T, s step) (*http.Response, []byte) {
	t.Helper()
	method, path, _ := strings.Cut(c.fill(s.do), " ")
	req, err := http.NewRequest(method, c.base+path, strings.NewReader(c.fill(s.body)))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPut || method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range s.headers {
		if req.Header.Set(k, c.fill(v)); v == "" {
			req.Header.Del(k)
		}
	}
	if password, _ := c.login.Password(); !s.anon {
		req.SetBasicAuth(c.login.Username(), password)
	}
	// CouchDB sends a line and an end more than it should after some feeds,
	// which the next request on the connection would take for its answer.
	req.Close = strings.Contains(path, "feed=")
	resp, err := noRedirect.Do(req)
	if err != nil {
		t.Fatalf("%s: %v", s.do, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: %v", s.do, err)
	}
	return resp, body
}

func (c *talker) check(t *testing.T, s step) {
	t.Helper()
	resp, body := c.send(t, s)
	if resp.StatusCode != s.status {
		t.Errorf("%s: status %d, want %d: %s", s.do, resp.StatusCode, s.status, body)
	}
	if s.save != "" {
		var answer struct{ Rev string }
		if err := json.Unmarshal(body, &answer); err != nil || answer.Rev == "" {
			t.Fatalf("%s: no revision in the answer: %s", s.do, body)
		}
		c.saved[s.save] = answer.Rev
	}
	for name, want := range s.header {
		if got := resp.Header.Get(name); got != c.fill(want) && (want != "-" || got != "") {
			t.Errorf("%s: header %s: %q, want %q", s.do, name, got, c.fill(want))
		}
	}
	if s.text != "" && string(body) != c.fill(s.text) {
		t.Errorf("%s: body %q, want %q", s.do, body, c.fill(s.text))
	}
	if s.want != "" {
		var got, want any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%s: %v: %s", s.do, err, body)
		}
		if err := json.Unmarshal([]byte(c.fill(s.want)), &want); err != nil {
			t.Fatalf("%s: the test's want: %v: %s", s.do, err, s.want)
		}
		if diff := contains(got, want, "body"); diff != "" {
			t.Errorf("%s: %s\n%s", s.do, diff, body)
		}
	}
}

// contains says where got lacks what want has. Objects may have more members
// than wanted, unless want has the member "=". A string that ends in a star
// matches what begins with it; "~" begins a regular expression; null in want
// means that the member is absent or null.
func contains(got, want any, at string) string {
	switch want := want.(type) {
	case map[string]any:
		obj, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v, want an object", at, got)
		}
		for k, v := range want {
			if k == "=" {
				if len(obj) != len(want)-1 {
					return fmt.Sprintf("%s has %d members, want %d", at, len(obj), len(want)-1)
				}
				continue
			}
			if diff := contains(obj[k], v, at+"."+k); diff != "" {
				return diff
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("%s is %v, want %v", at, got, want)
		}
		for i := range want {
			if diff := contains(list[i], want[i], fmt.Sprintf("%s[%d]", at, i)); diff != "" {
				return diff
			}
		}
		return ""
	case string:
		text, ok := got.(string)
		if ok && strings.HasPrefix(want, "~") && regexp.MustCompile(want[1:]).MatchString(text) {
			return ""
		}
		if prefix, star := strings.CutSuffix(want, "*"); ok && star && strings.HasPrefix(text, prefix) {
			return ""
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Sprintf("%s is %v, want %v", at, got, want)
	}
	return ""
}

func TestConversations(t *testing.T) {
	base, login := target(t)
	for _, conv := range conversations() {
		t.Run(conv.name, func(t *testing.T) {
			c := &talker{base: base, login: login, db: "couchgauge-refserver-" + randomHex(4), saved: map[string]string{}}
			c.check(t, step{do: "PUT /DB?q=1", status: 201})
			defer c.check(t, step{do: "DELETE /DB", status: 200})
			for _, s := range conv.steps {
				c.check(t, s)
			}
		})
	}
}

func conversations() []conversation {
	var all []conversation
	for _, list := range [][]conversation{
		serverConversations, databaseConversations, documentConversations, revisionConversations,
		attachmentConversations, bodyConversations(), bulkConversations, rowConversations, changesConversations, replicationConversations,
		replicatorConversations,
	} {
		all = append(all, list...)
	}
	return all
}

func gzipText(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// Headers that many steps share.
var (
	octets     = map[string]string{"Content-Type": "application/octet-stream"}
	plainText  = map[string]string{"Content-Type": "text/plain"}
	acceptJSON = map[string]string{"Accept": "application/json"}
)

// noSuch is the answer for what is not there.
const noSuch = `{"=":0,"error":"not_found","reason":"missing"}`
