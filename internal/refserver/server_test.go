package refserver

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// do sends one request to an open server and returns status and body.
func do(t testing.TB, method, url, contentType string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Referer", url)
	req.Header.Set("Accept", "application/json")
	resp, err := noRedirect.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func mustDo(t testing.TB, want int, method, url, contentType, body string) string {
	t.Helper()
	status, answer := do(t, method, url, contentType, strings.NewReader(body))
	if status != want {
		t.Fatalf("%s %s: %d, want %d: %s", method, url, status, want, answer)
	}
	return answer
}

const jsonType, octetType = "application/json", "application/octet-stream"

func randomBytes(seed uint64, n int) []byte {
	rnd := rand.NewChaCha8([32]byte{byte(seed)})
	b := make([]byte, n)
	rnd.Read(b)
	return b
}

// uploads are the five methods, each of data as attachment "a" of a document.
var uploads = map[string]func(t testing.TB, db, id string, data []byte) int{
	"raw": func(t testing.TB, db, id string, data []byte) int {
		status, _ := do(t, "PUT", db+"/"+id+"/a", octetType, bytes.NewReader(data))
		return status
	},
	"base64": func(t testing.TB, db, id string, data []byte) int {
		status, _ := do(t, "PUT", db+"/"+id, jsonType, strings.NewReader(`{"_attachments":{"a":{"data":"`+base64.StdEncoding.EncodeToString(data)+`"}}}`))
		return status
	},
	"multipart": func(t testing.TB, db, id string, data []byte) int {
		status, _ := do(t, "PUT", db+"/"+id, "multipart/related; boundary=BB", strings.NewReader(related(`{"_attachments":{`+follows("a", len(data), "")+`}}`, string(data))))
		return status
	},
	"form": func(t testing.TB, db, id string, data []byte) int {
		status, _ := do(t, "POST", db+"/"+id, "multipart/form-data; boundary=FF",
			strings.NewReader(formBody([4]string{"_doc", "", "", "{}"}, [4]string{"_attachments", "a", octetType, string(data)})))
		return status
	},
	"bulk": func(t testing.TB, db, id string, data []byte) int {
		status, _ := do(t, "POST", db+"/_bulk_docs", jsonType, strings.NewReader(`{"docs":[{"_id":"`+id+`","_attachments":{"a":{"data":"`+base64.StdEncoding.EncodeToString(data)+`"}}}]}`))
		return status
	},
}

func TestEveryMethodStoresTheBytes(t *testing.T) {
	_, base := openServer(t, Options{})
	mustDo(t, 201, "PUT", base+"/db", jsonType, "")
	for method, upload := range uploads {
		for _, size := range []int{0, 1, 2, 3, smallBlob - 1, smallBlob, smallBlob + 1, 1<<20 - 1, 1 << 20, 1<<20 + 1} {
			t.Run(fmt.Sprintf("%s/%d", method, size), func(t *testing.T) {
				data := randomBytes(uint64(size), size)
				id := fmt.Sprintf("%s-%d", method, size)
				if status := upload(t, base+"/db", id, data); status != 201 {
					t.Fatalf("status %d", status)
				}
				if _, got := do(t, "GET", base+"/db/"+id+"/a", "", nil); got != string(data) {
					t.Errorf("%d bytes come back for %d", len(got), size)
				}
				sum := md5.Sum(data)
				want := fmt.Sprintf(`"digest":"md5-%s","length":%d,`, base64.StdEncoding.EncodeToString(sum[:]), size)
				if _, doc := do(t, "GET", base+"/db/"+id, "", nil); !strings.Contains(doc, want) {
					t.Errorf("document %s lacks %s", doc, want)
				}
			})
		}
	}
}

// blobFiles counts the files of a database's large attachments.
func blobFiles(t *testing.T, dir string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "databases", "*", blobFolder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestRefusedUploadsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	_, base := openServer(t, Options{Dir: dir})
	mustDo(t, 201, "PUT", base+"/db", jsonType, "")
	data := randomBytes(1, 3*smallBlob)
	for method, upload := range uploads {
		upload(t, base+"/db", method, data)
	}
	kept := blobFiles(t, dir)
	if kept != len(uploads) {
		t.Fatalf("%d files for %d uploads", kept, len(uploads))
	}
	b64 := base64.StdEncoding.EncodeToString(data)
	for method, upload := range uploads { // they conflict
		upload(t, base+"/db", method, data)
	}
	for name, body := range map[string]string{
		"bad JSON after":      `{"_attachments":{"a":{"data":"` + b64 + `"}},`,
		"bad base64":          `{"_attachments":{"a":{"data":"` + b64 + `#"}}}`,
		"bad member after":    `{"_attachments":{"a":{"data":"` + b64 + `"}},"_foo":1}`,
		"missing stub":        `{"_attachments":{"a":{"data":"` + b64 + `"},"b":{"stub":true}}}`,
		"twice the same name": `{"_attachments":{"a":{"data":"` + b64 + `"},"a":{"data":"` + b64 + `"}}}`,
	} {
		if status, answer := do(t, "PUT", base+"/db/x", jsonType, strings.NewReader(body)); status < 400 {
			t.Errorf("%s: %d %s", name, status, answer)
		}
		if status, answer := do(t, "POST", base+"/db/_bulk_docs", jsonType, strings.NewReader(`{"docs":[{"_id":"ok"},`+body+`]}`)); status < 400 {
			t.Errorf("%s, bulk: %d %s", name, status, answer)
		}
	}
	do(t, "PUT", base+"/db/x", "multipart/related; boundary=BB", strings.NewReader(related(`{"_attachments":{`+follows("a", 5, "")+`}}`, string(data))))
	do(t, "POST", base+"/db/x", "multipart/form-data; boundary=FF", strings.NewReader(formBody([4]string{"_attachments", "a", octetType, string(data)})))
	if n := blobFiles(t, dir); n != kept {
		t.Errorf("%d files where %d are referred to", n, kept)
	}
	if info := mustDo(t, 200, "GET", base+"/db", "", ""); !strings.Contains(info, fmt.Sprintf(`"doc_count":%d`, len(uploads))) {
		t.Error(info)
	}
}

func TestReopenedStoreHasEverything(t *testing.T) {
	dir := t.TempDir()
	opts := Options{Dir: dir, Admin: "admin", Password: "secret", NoFsync: true}
	open := func(f func(base string)) {
		s, err := New(opts)
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- s.Serve(l) }()
		f("http://admin:secret@" + l.Addr().String())
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := errors.Join(<-done, s.Close()); err != nil {
			t.Error(err)
		}
	}
	big := randomBytes(2, 2*smallBlob)
	var doc, info, seq, welcome string
	open(func(base string) {
		mustDo(t, 201, "PUT", base+"/a%2Fb", jsonType, "")
		mustDo(t, 201, "PUT", base+"/a%2Fb/doc/big", octetType, string(big))
		mustDo(t, 201, "PUT", base+"/a%2Fb/small/x", octetType, "small")
		mustDo(t, 201, "PUT", base+"/a%2Fb/_local/l", jsonType, `{"l":1}`)
		mustDo(t, 200, "PUT", base+"/a%2Fb/_revs_limit", jsonType, "77")
		mustDo(t, 200, "PUT", base+"/_node/_local/_config/couchdb/max_document_size", jsonType, `"123"`)
		mustDo(t, 200, "PUT", base+"/_node/_local/_config/couchdb/max_attachment_size", jsonType, `"5"`)
		doc, info = mustDo(t, 200, "GET", base+"/a%2Fb/doc", "", ""), mustDo(t, 200, "GET", base+"/a%2Fb", "", "")
		seq, welcome = mustDo(t, 200, "GET", base+"/a%2Fb/_changes", "", ""), mustDo(t, 200, "GET", base+"/", "", "")
	})
	leftover := filepath.Join(dir, "databases", "a%2Fb", blobFolder, "leftover")
	if err := os.WriteFile(leftover, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(dir, "databases", ".new-1")
	if err := os.Mkdir(half, 0o700); err != nil {
		t.Fatal(err)
	}
	open(func(base string) {
		if got := mustDo(t, 200, "GET", base+"/_all_dbs", "", ""); got != `["_replicator","a/b"]`+"\n" {
			t.Error(got)
		}
		for path, want := range map[string]string{
			"/": welcome, "/a%2Fb": info, "/a%2Fb/doc": doc, "/a%2Fb/_changes": seq, "/a%2Fb/doc/big": string(big), "/a%2Fb/small/x": "small",
			"/a%2Fb/_local/l": `{"_id":"_local/l","_rev":"0-1","l":1}` + "\n", "/a%2Fb/_revs_limit": "77\n",
		} {
			if got := mustDo(t, 200, "GET", base+path, "", ""); got != want {
				t.Errorf("%s: %.200q, want %.200q", path, got, want)
			}
		}
		mustDo(t, 413, "PUT", base+"/a%2Fb/y/x", octetType, "123456")
	})
	for _, path := range []string{leftover, half} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, want it removed", filepath.Base(path), err)
		}
	}
}

func TestSecondServerOnTheSameFolder(t *testing.T) {
	dir := t.TempDir()
	_, base := openServer(t, Options{Dir: dir})
	mustDo(t, 201, "PUT", base+"/db", jsonType, "")
	mustDo(t, 200, "GET", base+"/db", "", "")
	_, second := openServer(t, Options{Dir: dir})
	mustDo(t, 500, "GET", second+"/db", "", "")
}

func TestConcurrentWritersLoseNothing(t *testing.T) {
	s, base := openServer(t, Options{})
	mustDo(t, 201, "PUT", base+"/db", jsonType, "")
	const writers, each = 16, 25
	var wg sync.WaitGroup
	var mu sync.Mutex
	conflicts := 0
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range each {
				status, answer := do(t, "PUT", fmt.Sprintf("%s/db/%d-%d/a", base, w, i), octetType, strings.NewReader("0123456789"))
				if status != 201 {
					t.Errorf("%d: %s", status, answer)
				}
				if status, _ := do(t, "PUT", fmt.Sprintf("%s/db/shared-%d", base, i), jsonType, strings.NewReader("{}")); status == 409 {
					mu.Lock()
					conflicts++
					mu.Unlock()
				}
			}
		}()
	}
	wg.Wait()
	if conflicts != (writers-1)*each {
		t.Errorf("%d conflicts, want %d: each shared document is made once", conflicts, (writers-1)*each)
	}
	db, err := s.store.database("db")
	if err != nil {
		t.Fatal(err)
	}
	db.view(func(tx *readTx) error {
		if c := tx.counters(); c.docs != (writers+1)*each || c.updateSeq != (writers+1)*each {
			t.Errorf("counters %+v", c)
		}
		return nil
	})
	var changes struct{ Results []struct{ ID string } }
	if err := json.Unmarshal([]byte(mustDo(t, 200, "GET", base+"/db/_changes", "", "")), &changes); err != nil || len(changes.Results) != (writers+1)*each {
		t.Errorf("%d changes, %v", len(changes.Results), err)
	}
}

// rawRequest sends bytes and reads answers from the wire.
func rawRequest(t *testing.T, base, request string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(conn, strings.ReplaceAll(request, "\n", "\r\n")); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

func TestExpectIsAnsweredOnEveryUpload(t *testing.T) {
	_, base := openServer(t, Options{})
	mustDo(t, 201, "PUT", base+"/db", jsonType, "")
	host := strings.TrimPrefix(base, "http://")
	for name, c := range map[string]struct{ line, contentType, body string }{
		"raw":       {"PUT /db/raw/a", octetType, "abc"},
		"base64":    {"PUT /db/base64", jsonType, `{"_attachments":{"a":{"data":"QUJD"}}}`},
		"multipart": {"PUT /db/multipart", "multipart/related; boundary=BB", related(`{"_attachments":{`+follows("a", 3, "")+`}}`, "abc")},
		"form":      {"POST /db/form", "multipart/form-data; boundary=FF", formBody([4]string{"_doc", "", "", "{}"})},
		"bulk":      {"POST /db/_bulk_docs", jsonType, `{"docs":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			conn, r := rawRequest(t, base, c.line+" HTTP/1.1\nHost: "+host+"\nReferer: http://"+host+"/\nExpect: 100-continue\nContent-Type: "+c.contentType+"\nContent-Length: "+strconv.Itoa(len(c.body))+"\n\n")
			line, err := textproto.NewReader(r).ReadLine()
			if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
				t.Fatalf("%q, %v", line, err)
			}
			textproto.NewReader(r).ReadLine()
			io.WriteString(conn, c.body)
			resp, err := http.ReadResponse(r, nil)
			if err != nil || resp.StatusCode != 201 {
				t.Fatalf("%v, %v", resp, err)
			}
		})
	}
}

func TestTooLargeIsSaidBeforeTheBody(t *testing.T) {
	_, base := openServer(t, Options{})
	mustDo(t, 201, "PUT", base+"/db", jsonType, "")
	config := base + "/_node/_local/_config/"
	mustDo(t, 200, "PUT", config+"couchdb/max_attachment_size", jsonType, `"2000"`)
	mustDo(t, 200, "PUT", config+"couchdb/max_document_size", jsonType, `"1000"`)
	mustDo(t, 200, "PUT", config+"chttpd/max_http_request_size", jsonType, `"5000"`)
	host := strings.TrimPrefix(base, "http://")
	for name, c := range map[string]struct{ line, contentType, error string }{
		"attachment": {"PUT /db/raw/a", octetType, "attachment_too_large"},
		"document":   {"PUT /db/doc", jsonType, "too_large"},
		"multipart":  {"PUT /db/doc", "multipart/related; boundary=BB", "too_large"},
		"bulk":       {"POST /db/_bulk_docs", jsonType, "too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := rawRequest(t, base, c.line+" HTTP/1.1\nHost: "+host+"\nContent-Type: "+c.contentType+"\nContent-Length: 1000000\n\n")
			resp, err := http.ReadResponse(r, nil) // no byte of the body was sent
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != 413 || !resp.Close || !strings.HasPrefix(string(body), `{"error":"`+c.error+`"`) {
				t.Errorf("%d, close %v: %s", resp.StatusCode, resp.Close, body)
			}
		})
	}
	for name, c := range map[string]struct{ method, path, contentType, body, want string }{
		"long document":           {"PUT", "/db/l", jsonType, `{"a":"` + strings.Repeat("x", 2000) + `","_id":"l"}`, `{"error":"document_too_large","reason":"l"}`},
		"long document in bulk":   {"POST", "/db/_bulk_docs", jsonType, `{"docs":[{"_id":"a"},{"_id":"l","a":"` + strings.Repeat("x", 2000) + `"}]}`, `{"error":"document_too_large","reason":"l"}`},
		"long inline attachment":  {"PUT", "/db/l", jsonType, `{"_attachments":{"a":{"data":"` + strings.Repeat("QUJD", 700) + `"}}}`, `{"error":"attachment_too_large","reason":"a"}`},
		"announced attachment":    {"PUT", "/db/l", "multipart/related; boundary=BB", related(`{"_attachments":{`+follows("a", 2001, "")+`}}`, strings.Repeat("x", 2001)), `{"error":"attachment_too_large","reason":"a"}`},
		"longer than it announce": {"PUT", "/db/l", "multipart/related; boundary=BB", related(`{"_attachments":{`+follows("a", 3, "")+`}}`, strings.Repeat("x", 2001)), `{"error":"attachment_too_large","reason":"a"}`},
	} {
		if status, got := do(t, c.method, base+c.path, c.contentType, strings.NewReader(c.body)); status != 413 || got != c.want+"\n" {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
	// Chunked, so that no length tells.
	for path, want := range map[string]string{"/db/c/a": "attachment_too_large", "/db/c": "too_large"} {
		contentType, body := octetType, strings.Repeat("x", 6000)
		if want == "too_large" {
			contentType, body = jsonType, `{"_attachments":{"a":{"stub":true,"x":"`+body+`"}}}`
		}
		if status, got := do(t, "PUT", base+path, contentType, io.MultiReader(strings.NewReader(body))); status != 413 || !strings.Contains(got, `"`+want+`"`) {
			t.Errorf("chunked %s: %d %s", path, status, got)
		}
	}
	mustDo(t, 201, "PUT", base+"/db/ok", jsonType, `{"a":"`+strings.Repeat("x", 900)+`","_attachments":{"a":{"data":"`+strings.Repeat("QUJD", 600)+`"}}}`)
	if n := len(mustDo(t, 200, "GET", base+"/db/ok/a", "", "")); n != 1800 {
		t.Errorf("%d bytes", n)
	}
}

func TestSinkAnswersAndForgets(t *testing.T) {
	dir := t.TempDir()
	_, base := openServer(t, Options{Dir: dir, Discard: true})
	if w := mustDo(t, 200, "GET", base+"/", "", ""); !strings.Contains(w, `"mode":"discard"`) {
		t.Error(w)
	}
	mustDo(t, 201, "PUT", base+"/db", jsonType, "")
	data := randomBytes(4, 2*smallBlob)
	for method, upload := range uploads {
		for range 2 {
			if status := upload(t, base+"/db", method, data); status != 201 {
				t.Errorf("%s: %d", method, status)
			}
		}
	}
	answer := mustDo(t, 201, "PUT", base+"/db/x/a?rev=3-abc", octetType, "x")
	if !strings.HasPrefix(answer, `{"ok":true,"id":"x","rev":"4-`) {
		t.Error(answer)
	}
	answer = mustDo(t, 201, "POST", base+"/db/_bulk_docs", jsonType, `{"docs":[{"_id":"a"},{"_id":"b","_rev":"1-a"}]}`)
	if !strings.Contains(answer, `"id":"a","rev":"1-`) || !strings.Contains(answer, `"id":"b","rev":"2-`) {
		t.Error(answer)
	}
	mustDo(t, 400, "PUT", base+"/db/x", jsonType, `{"a":`)
	mustDo(t, 404, "PUT", base+"/none/x", jsonType, `{}`)
	if info := mustDo(t, 200, "GET", base+"/db", "", ""); !strings.Contains(info, `"doc_count":0`) {
		t.Error(info)
	}
	if n := blobFiles(t, dir); n != 0 {
		t.Errorf("%d files", n)
	}
	mustDo(t, 200, "DELETE", base+"/db", "", "")
}

func TestFeedsTellWhatIsWritten(t *testing.T) {
	_, base := openServer(t, Options{})
	mustDo(t, 201, "PUT", base+"/db", jsonType, "")
	feed := func(query string) *bufio.Reader {
		resp, err := http.Get(base + "/db/_changes?" + query)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return bufio.NewReader(resp.Body)
	}
	line := func(r *bufio.Reader) string {
		for {
			l, err := r.ReadString('\n')
			if err != nil {
				t.Fatalf("%q, %v", l, err)
			}
			if l = strings.TrimSpace(l); l != "" {
				return l
			}
		}
	}
	continuous := feed("feed=continuous&heartbeat=10&include_docs=true")
	long := feed("feed=longpoll")
	for i := range 3 {
		mustDo(t, 201, "PUT", fmt.Sprintf("%s/db/d%d", base, i), jsonType, fmt.Sprintf(`{"n":%d}`, i))
		if got, want := line(continuous), fmt.Sprintf(`"doc":{"_id":"d%d",`, i); !strings.Contains(got, want) {
			t.Errorf("row %s, want one with %s", got, want)
		}
	}
	if beat, err := continuous.ReadString('\n'); err != nil || beat != "\n" {
		t.Errorf("heartbeat %q, %v", beat, err)
	}
	rest, err := io.ReadAll(long)
	// It ends with the first change, and may see later ones by the time it reads.
	if err != nil || !strings.Contains(string(rest), `"id":"d0"`) || !strings.Contains(string(rest), `"last_seq":"`) {
		t.Errorf("longpoll: %s, %v", rest, err)
	}
	events := feed("feed=eventsource&since=now&heartbeat=10")
	if beat := line(events); beat != "event: heartbeat" {
		t.Errorf("heartbeat %q", beat)
	}
	waiting := feed("feed=continuous&since=now&timeout=60000")
	mustDo(t, 200, "DELETE", base+"/db", "", "")
	if _, err := io.ReadAll(waiting); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("feed of a deleted database: %v", err)
	}
}

func TestSessionCookie(t *testing.T) {
	s, base := openServer(t, Options{Admin: "admin", Password: "secret"})
	now := time.Now()
	s.auth.now = func() time.Time { return now }
	resp, err := http.Post(base+"/_session", jsonType, strings.NewReader(`{"name":"admin","password":"secret"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	cookies := resp.Cookies()
	if resp.StatusCode != 200 || len(cookies) != 1 || cookies[0].Name != "AuthSession" || !cookies[0].HttpOnly || cookies[0].MaxAge != 600 {
		t.Fatalf("%d %v", resp.StatusCode, cookies)
	}
	for name, c := range map[string]struct {
		after  time.Duration
		value  string
		status int
		renew  bool
	}{
		"fresh": {0, cookies[0].Value, 200, false}, "older": {2 * time.Minute, cookies[0].Value, 200, true}, "ended": {11 * time.Minute, cookies[0].Value, 401, false},
		"forged":    {0, base64.RawURLEncoding.EncodeToString([]byte("admin:" + strconv.FormatInt(now.Unix(), 16) + ":x")), 401, false},
		"malformed": {0, "xyz", 400, false}, "none": {0, "", 401, false},
	} {
		s.auth.now = func() time.Time { return now.Add(c.after) }
		req, _ := http.NewRequest("GET", base+"/_all_dbs", nil)
		req.AddCookie(&http.Cookie{Name: "AuthSession", Value: c.value})
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.status || (resp.Header.Get("Set-Cookie") != "") != c.renew {
			t.Errorf("%s: %d, Set-Cookie %q", name, resp.StatusCode, resp.Header.Get("Set-Cookie"))
		}
	}
}

func TestPartyWithoutAdmin(t *testing.T) {
	_, base := openServer(t, Options{})
	if got := mustDo(t, 200, "GET", base+"/_session", "", ""); !strings.Contains(got, `"roles":["_admin"]`) {
		t.Error(got)
	}
	mustDo(t, 200, "PUT", base+"/_node/_local/_config/admins/boss", jsonType, `"pw"`)
	mustDo(t, 401, "GET", base+"/_all_dbs", "", "")
	mustDo(t, 200, "GET", strings.Replace(base, "http://", "http://boss:pw@", 1)+"/_all_dbs", "", "")
}

// TestMultipartAnswers takes apart what is sent in parts.
func TestMultipartAnswers(t *testing.T) {
	_, base := openServer(t, Options{})
	mustDo(t, 201, "PUT", base+"/db", jsonType, "")
	big := strings.Repeat("0123456789", 20_000)
	mustDo(t, 201, "PUT", base+"/db/m", jsonType, `{"_attachments":{"t":{"content_type":"text/plain","data":"aGVsbG8="},"b":{"data":"`+base64.StdEncoding.EncodeToString([]byte(big))+`"}}}`)
	read := func(path, accept string) (string, []string) {
		req, _ := http.NewRequest("GET", base+path, nil)
		req.Header.Set("Accept", accept)
		resp, err := noRedirect.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.ContentLength >= 0 && resp.ContentLength != int64(len(body)) {
			t.Fatalf("%s: length %d of %d, %v", path, len(body), resp.ContentLength, err)
		}
		return resp.Header.Get("Content-Type"), parts(t, resp.Header.Get("Content-Type"), body)
	}
	kind, got := read("/db/m?attachments=true&revs=true", "multipart/related")
	if len(got) != 3 || !strings.Contains(got[0], `"follows":true`) || gunzip(t, got[1]) != "hello" || got[2] != big {
		t.Errorf("%s: %d parts, %.300s", kind, len(got), got)
	}
	kind, got = read(`/db/m?open_revs=all&revs=true`, "multipart/mixed")
	if len(got) != 1 || !strings.HasPrefix(got[0], "--") || !strings.Contains(got[0], big) {
		t.Errorf("%s: %d parts, %.300s", kind, len(got), got)
	}
	_, got = read(`/db/m?open_revs=["9-x"]`, "multipart/mixed")
	if len(got) != 1 || got[0] != `{"missing":"9-x"}` {
		t.Errorf("%q", got)
	}
	mustDo(t, 201, "PUT", base+"/db/plain", jsonType, `{}`)
	if _, got = read(`/db/plain?open_revs=all`, "multipart/mixed"); len(got) != 1 || !strings.HasPrefix(got[0], `{"_id":"plain"`) {
		t.Errorf("%q", got)
	}
}

func parts(t *testing.T, contentType string, body []byte) (out []string) {
	t.Helper()
	m, err := newPartReader(bytes.NewReader(body), contentType)
	if err != nil {
		t.Fatal(err)
	}
	defer m.release()
	for {
		if _, err := m.nextPart(); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
}

func gunzip(t *testing.T, text string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDeletedWhileRead(t *testing.T) {
	_, base := openServer(t, Options{})
	var wg sync.WaitGroup
	for i := range 20 {
		mustDo(t, 201, "PUT", base+"/db", jsonType, "")
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for k := range 5 {
					if status, answer := do(t, "PUT", fmt.Sprintf("%s/db/%d", base, k), jsonType, strings.NewReader("{}")); status >= 500 {
						t.Errorf("%d %s", status, answer)
					}
				}
			}()
		}
		mustDo(t, 200, "DELETE", base+"/db", "", "")
		if i%2 == 0 {
			wg.Wait()
		}
	}
	wg.Wait()
}

func TestManyRowsAreStreamed(t *testing.T) {
	_, base := openServer(t, Options{})
	mustDo(t, 201, "PUT", base+"/db", jsonType, "")
	const docs = 3*rowsAtOnce + 7
	var b strings.Builder
	for i := range docs {
		fmt.Fprintf(&b, `,{"_id":"%05d","s":"%s"}`, i, strings.Repeat("x", 3000))
	}
	mustDo(t, 201, "POST", base+"/db/_bulk_docs", jsonType, `{"docs":[`+b.String()[1:]+`]}`)
	for path, first := range map[string]string{
		"/_all_docs": "00000", "/_all_docs?include_docs=true": "00000", "/_all_docs?descending=true": fmt.Sprintf("%05d", docs-1), "/_all_docs?include_docs=true&descending=true": fmt.Sprintf("%05d", docs-1),
		"/_changes": "00000", "/_changes?include_docs=true": "00000", "/_changes?descending=true": fmt.Sprintf("%05d", docs-1), "/_changes?descending=true&include_docs=true": fmt.Sprintf("%05d", docs-1),
	} {
		var answer struct{ Rows, Results []struct{ ID string } }
		if err := json.Unmarshal([]byte(mustDo(t, 200, "GET", base+"/db"+path, "", "")), &answer); err != nil {
			t.Fatal(err)
		}
		rows := append(answer.Rows, answer.Results...)
		seen := map[string]bool{}
		for _, r := range rows {
			seen[r.ID] = true
		}
		if len(rows) != docs || len(seen) != docs || rows[0].ID != first {
			t.Errorf("%s: %d rows, %d different, first %s", path, len(rows), len(seen), rows[0].ID)
		}
	}
}
