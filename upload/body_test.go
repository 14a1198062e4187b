package upload

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"couchgauge/gen"

	"github.com/google/go-cmp/cmp"
)

// sample attachments of the sizes at which something could go wrong.
func attachments(names []string, sizes ...int64) []Attachment {
	var list []Attachment
	for i, size := range sizes {
		list = append(list, Attachment{
			Attachment: gen.Attachment{Content: gen.Random, Seed: 7, Size: size, Number: i},
			Name:       names[i%len(names)],
			Type:       "application/octet-stream",
		})
	}
	return list
}

func content(t testing.TB, a gen.Attachment) []byte {
	t.Helper()
	b, err := io.ReadAll(a.Open())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// whole reads a body in odd pieces and compares its length with what it
// promises.
func whole(t testing.TB, b Body) []byte {
	t.Helper()
	all, err := io.ReadAll(b.Open())
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(all)) != b.Len() {
		t.Fatalf("a body of %d bytes said that it has %d", len(all), b.Len())
	}
	return all
}

func upload(docs ...Document) Upload {
	return Upload{DB: "db", Docs: docs, NewEdits: true, Boundary: "boundary", Origin: "http://host:1/"}
}

func TestBodyReadsTheSameInAnyPieces(t *testing.T) {
	list := attachments([]string{"a", "b", "c", "d", "e"}, 0, 1, 2, 3, 300_000)
	for _, m := range methods {
		t.Run(m.Name(), func(t *testing.T) {
			b := m.Build(upload(Document{ID: "doc", Attachments: list})).Body
			want := whole(t, b)
			if m.Carries() == OneAttachment {
				b, want = Body{}, content(t, list[4].Attachment)
				b.attachment(list[4].Attachment)
			}
			if err := iotest.TestReader(b.Open(), want); err != nil {
				t.Error(err)
			}
			for _, piece := range []int{1, 2, 3, 4, 5, 4096, 256 << 10} {
				got, err := readPieces(b.Open(), piece)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("pieces of %d: %d bytes, %v; want %d", piece, len(got), err, len(want))
				}
			}
		})
	}
}

func readPieces(r io.Reader, n int) ([]byte, error) {
	var all []byte
	buf := make([]byte, n)
	for {
		m, err := r.Read(buf)
		all = append(all, buf[:m]...)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

// inlineDoc is a document as encoding/json reads it.
type inlineDoc struct {
	ID          string `json:"_id"`
	Rev         string `json:"_rev"`
	Attachments map[string]struct {
		ContentType string `json:"content_type"`
		Data        []byte `json:"data"`
		Follows     bool   `json:"follows"`
		Length      int64  `json:"length"`
		Stub        bool   `json:"stub"`
	} `json:"_attachments"`
}

func FuzzInline(f *testing.F) {
	f.Add("doc", "a.bin", "text/plain", uint32(10))
	f.Add("d/o+c \"ü\\", "a+b", "application/json", uint32(0))
	f.Add("x", "100%.bin\x00\n", "image/png", uint32(196608+1))
	f.Fuzz(func(t *testing.T, id, name, contentType string, size uint32) {
		for _, s := range []string{id, name, contentType} {
			if !utf8.ValidString(s) {
				t.Skip("not UTF-8: no JSON can hold it")
			}
		}
		list := attachments([]string{name}, int64(size%400_000))
		list[0].Type = contentType
		var got inlineDoc
		if err := json.Unmarshal(whole(t, inline{}.Build(upload(Document{ID: id, Rev: "1-a", Attachments: list})).Body), &got); err != nil {
			t.Fatal(err)
		}
		a := got.Attachments[name]
		if got.ID != id || got.Rev != "1-a" || len(got.Attachments) != 1 || a.ContentType != contentType ||
			!bytes.Equal(a.Data, content(t, list[0].Attachment)) {
			t.Errorf("document %q, attachment %q of %d bytes came out as %q, %q of %d", id, name, list[0].Size, got.ID, a.ContentType, len(a.Data))
		}
	})
}

func FuzzMultipart(f *testing.F) {
	f.Add("doc", "a.bin", uint32(10), uint8(1))
	f.Add("d/o+c \"ü\\", "a \"quoted\\ name", uint32(0), uint8(3))
	f.Add("x", "Kолян.txt", uint32(300_000), uint8(2))
	f.Fuzz(func(t *testing.T, id, name string, size uint32, n uint8) {
		if !utf8.ValidString(id) || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Skip("no file name")
		}
		var names []string
		var sizes []int64
		for i := range int64(n%5) + 1 {
			names = append(names, fmt.Sprint(i, name))
			sizes = append(sizes, (int64(size)+i)%400_000)
		}
		list := attachments(names, sizes...)
		for _, m := range []Method{related{}, form{}} {
			checkMultipart(t, m.Build(upload(Document{ID: id, Rev: "1-a", Attachments: list})), m, id, list)
		}
	})
}

// checkMultipart reads a request as mime/multipart does and compares it with
// what was to be sent.
func checkMultipart(t *testing.T, r Request, m Method, id string, list []Attachment) {
	t.Helper()
	_, parameters, err := mime.ParseMediaType(r.ContentType)
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(bytes.NewReader(whole(t, r.Body)), parameters["boundary"])
	part, err := parts.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	first, err := io.ReadAll(part)
	if err != nil {
		t.Fatal(err)
	}
	if m.Name() == "multipart" {
		checkFollows(t, part.Header.Get("Content-Type"), first, id, list)
	} else if part.FormName() != "_rev" || string(first) != "1-a" {
		t.Errorf("form: first field %q is %q", part.FormName(), first)
	}
	for i, a := range list {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatalf("%s: part %d: %v", m.Name(), i, err)
		}
		got, err := io.ReadAll(part)
		if err != nil || !bytes.Equal(got, content(t, a.Attachment)) {
			t.Errorf("%s: part %d: %d bytes, %v; want %d", m.Name(), i, len(got), err, a.Size)
		}
		_, disposition, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil || disposition["filename"] != a.Name || part.Header.Get("Content-Type") != a.Type {
			t.Errorf("%s: part %d of %q is %v, %v", m.Name(), i, a.Name, part.Header, err)
		}
	}
	if _, err := parts.NextPart(); err != io.EOF {
		t.Errorf("%s: after the last part: %v", m.Name(), err)
	}
}

// checkFollows checks the JSON part: parts are matched in the order of its
// keys (fact 5).
func checkFollows(t *testing.T, contentType string, text []byte, id string, list []Attachment) {
	t.Helper()
	var doc inlineDoc
	if err := json.Unmarshal(text, &doc); err != nil || contentType != "application/json" || doc.ID != id {
		t.Fatalf("document %q as %s: %s: %v", id, contentType, text, err)
	}
	last := -1
	for _, a := range list {
		got, ok := doc.Attachments[a.Name]
		if !ok || !got.Follows || got.Length != a.Size || got.ContentType != a.Type {
			t.Errorf("attachment %q of %d bytes: %+v", a.Name, a.Size, got)
		}
		key, _ := json.Marshal(a.Name)
		at := bytes.Index(text, append(key, `:{"content_type"`...))
		if at <= last {
			t.Errorf("%q does not stand in the order of the parts: %s", a.Name, text)
		}
		last = at
	}
}

func TestRequests(t *testing.T) {
	one := attachments([]string{"a b.bin"}, 3)
	text := content(t, one[0].Attachment)
	data := base64.StdEncoding.EncodeToString(text)
	existing := Document{ID: "d/1", Rev: "2-b", Attachments: one, Stubs: []byte(`{"old":{"stub":true}}`)}
	for _, c := range []struct {
		name string
		m    Method
		u    Upload
		want Request
		body string
	}{
		{
			"raw, new document", raw{}, upload(Document{ID: "d/1", Attachments: one}),
			Request{Method: "PUT", Path: "db/d%2F1/a%20b.bin", ContentType: "application/octet-stream", AsSent: true},
			string(text),
		},
		{
			"raw, existing document", raw{}, upload(existing),
			Request{Method: "PUT", Path: "db/d%2F1/a%20b.bin", Query: "rev=2-b", ContentType: "application/octet-stream", AsSent: true},
			string(text),
		},
		{
			"base64, existing document", inline{}, upload(existing),
			Request{Method: "PUT", Path: "db/d%2F1", ContentType: "application/json"},
			`{"_id":"d/1","_rev":"2-b","_attachments":{"old":{"stub":true},"a b.bin":{"content_type":"application/octet-stream","data":"` + data + `"}}}`,
		},
		{
			"base64, new_edits=false", inline{}, Upload{DB: "db", Docs: []Document{{ID: "d", Attachments: one}}},
			Request{Method: "PUT", Path: "db/d", Query: "new_edits=false", ContentType: "application/json"},
			`{"_id":"d","_rev":"1-8277e0910d750195b448797616e091ad","_attachments":{"a b.bin":{"content_type":"application/octet-stream","data":"` + data + `"}}}`,
		},
		{
			"bulk", bulk{}, upload(Document{ID: "d-0", Attachments: one}, Document{ID: "d-1", Attachments: one}),
			Request{Method: "POST", Path: "db/_bulk_docs", ContentType: "application/json"},
			`{"docs":[{"_id":"d-0","_attachments":{"a b.bin":{"content_type":"application/octet-stream","data":"` + data + `"}}},` +
				`{"_id":"d-1","_attachments":{"a b.bin":{"content_type":"application/octet-stream","data":"` + data + `"}}}]}`,
		},
		{
			"form, new document", form{}, upload(Document{ID: "d", Attachments: one}),
			Request{Method: "POST", Path: "db/d", ContentType: "multipart/form-data; boundary=boundary", Header: http.Header{"Referer": {"http://host:1/"}}},
			"--boundary\r\nContent-Disposition: form-data; name=\"_doc\"\r\n\r\n{}\r\n" +
				"--boundary\r\nContent-Disposition: form-data; name=\"_attachments\"; filename=\"a b.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n" +
				string(text) + "\r\n--boundary--\r\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.m.Build(c.u)
			if body := string(whole(t, got.Body)); body != c.body {
				t.Errorf("body:\n%q\nwant:\n%q", body, c.body)
			}
			got.Body = nil
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGzippedIsTheSameEveryTime(t *testing.T) {
	for _, size := range []int64{0, 1, 64 << 10, 64<<10 + 1, 300_000} {
		a := gen.Attachment{Content: gen.Text, Size: size}
		first, err := sumOf(t.Context(), newGzipped(a.Open()))
		if err != nil {
			t.Fatal(err)
		}
		text, err := readPieces(newGzipped(a.Open()), 1000)
		if err != nil || int64(len(text)) != first.length {
			t.Errorf("%d bytes: %d compressed, %v; the first time %d", size, len(text), err, first.length)
		}
	}
}
