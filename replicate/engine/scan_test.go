package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// pieces reads text n bytes at a time.
func pieces(text string, n int) io.Reader {
	if n == 1 {
		return iotest.OneByteReader(strings.NewReader(text))
	}
	return &struct{ io.Reader }{&chunks{text, n}}
}

type chunks struct {
	text string
	n    int
}

func (c *chunks) Read(p []byte) (int, error) {
	if c.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(c.n, len(p))], c.text)
	c.text = c.text[n:]
	return n, nil
}

// all reads every element of results.
func all(r *results) (list []string, err error) {
	for {
		v, err := r.next()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, string(v))
	}
}

func TestResults(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		tail       map[string]string
	}{
		{"as CouchDB writes a feed", "{\"results\":[\n{\"seq\":1}\n,\n{\"seq\":2}\n],\n\"last_seq\":\"2-x\",\"pending\":0}\n",
			[]string{`{"seq":1}`, `{"seq":2}`}, map[string]string{"last_seq": `"2-x"`, "pending": "0"}},
		{"empty", `{"results":[],"last_seq":0}`, nil, map[string]string{"last_seq": "0"}},
		{"members before", `{"a":{"results":[1]},"b":"]}","results":[3]}`, []string{"3"}, map[string]string{"a": `{"results":[1]}`, "b": `"]}"`}},
		{"brackets in strings", `{"results":[{"a":"}]\"{"},"\\",["\\\""],null,-1.5e3 ]}`,
			[]string{`{"a":"}]\"{"}`, `"\\"`, `["\\\""]`, "null", "-1.5e3"}, map[string]string{}},
		{"escaped key", `{"\u0072esults":[1]}`, []string{"1"}, map[string]string{}},
		{"results is no array", `{"results":{"a":[1]}}`, nil, map[string]string{"results": `{"a":[1]}`}},
		{"spaces", " \t{ \"results\" : [ 1 , 2 ] , \"x\" : true } ", []string{"1", "2"}, map[string]string{"x": "true"}},
	} {
		for _, n := range []int{1, 2, 7, 1 << 20} {
			t.Run(fmt.Sprintf("%s by %d", c.name, n), func(t *testing.T) {
				r := newResults(pieces(c.text, n))
				got, err := all(r)
				if err != nil || !slices.Equal(got, c.want) {
					t.Errorf("%q, %v, want %q", got, err, c.want)
				}
				tail := map[string]string{}
				for k, v := range r.tail {
					tail[k] = string(v)
				}
				if !reflect.DeepEqual(tail, c.tail) {
					t.Errorf("tail %v, want %v", tail, c.tail)
				}
			})
		}
	}
}

func TestResultsThatEndEarly(t *testing.T) {
	whole := `{"results":[{"a":"b\"c"},12],"last_seq":"x"}`
	for n := range len(whole) {
		if _, err := all(newResults(pieces(whole[:n], 3))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", whole[:n], err)
		}
	}
}

func TestResultsThatAreNone(t *testing.T) {
	for _, text := range []string{"<html>", "[1]", `{"results":[}`, `{]`, `{"a" 1}`, `{1:2}`} {
		if got, err := all(newResults(pieces(text, 5))); err == nil {
			t.Errorf("%q: %q and no error", text, got)
		}
	}
}

func TestStreamGrowsToItsLargestValue(t *testing.T) {
	large := `"` + strings.Repeat(`x\"`, streamBuffer) + `"`
	got, err := all(newResults(pieces(`{"results":[1,`+large+`,2,`+large+`]}`, 10_000)))
	if err != nil || len(got) != 4 || got[1] != large || got[3] != large {
		t.Errorf("%d values, %v", len(got), err)
	}
}

func TestStreamOfLines(t *testing.T) {
	s := newStream(pieces("\n\n{\"a\":1}\n\n{\"b\":2}\n{\"c\"", 4))
	for _, want := range []string{`{"a":1}`, `{"b":2}`} {
		if v, err := s.value(); err != nil || string(v) != want {
			t.Errorf("%s, %v, want %s", v, err, want)
		}
	}
	if _, err := s.value(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half a line: %v", err)
	}
}

func TestWholeLine(t *testing.T) {
	for text, want := range map[string]bool{"": false, "\n \n": false, "{\"a\"": false, "{}\n": true, "\n{}\n{": true} {
		s := newStream(strings.NewReader(text))
		if text != "" {
			if err := s.fill(); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.whole(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestMembersStopEarly(t *testing.T) {
	n := 0
	if err := members([]byte(`{"a":1,"b":2,"c"`), func(_, _ []byte) bool { n++; return n < 2 }); err != nil || n != 2 {
		t.Errorf("%d members, %v", n, err)
	}
	n = 0
	if err := items([]byte(`[1,2,3`), func([]byte) bool { n++; return n < 2 }); err != nil || n != 2 {
		t.Errorf("%d items, %v", n, err)
	}
}

// What encoding/json takes for an object, members cuts into the same members.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, ` { "a" : [1,{"b":"]"}] , "c" : "\\" } `, `{"\"":{"":null}}`, `{"a":-1e5,"a":2}`, `[1]`, `{`, `{"a":}`, `{"a":1]`, `{"a"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		type member struct{ Key, Value string }
		if !utf8.ValidString(s) {
			return // servers send UTF-8
		}
		var got []member
		err := members([]byte(s), func(k, v []byte) bool {
			got = append(got, member{name(k), compact(v)})
			return true
		})
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &want) != nil || want == nil {
			return // not an object: an error or nonsense, and no panic
		}
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		last := map[string]string{}
		for _, m := range got {
			last[m.Key] = m.Value
		}
		if len(last) != len(want) {
			t.Fatalf("%q: %d members, want %d", s, len(last), len(want))
		}
		for k, v := range want {
			if last[k] != compact(v) {
				t.Fatalf("%q: %q is %q, want %q", s, k, last[k], v)
			}
		}
	})
}

func compact(v []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}

// What encoding/json takes for an array, results cuts into the same elements,
// however the text arrives.
func FuzzResults(f *testing.F) {
	for _, s := range []string{`[]`, `[1,2]`, `["a\"]",{"b":[{}]}]`, ` [ true , null ] `, `[{"a":"\\\\"}]`, `[`, `[1 2]`, `{}`} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, s string, n uint8) {
		text := `{"before":1,"results":` + s + `,"after":"x"}`
		got, err := all(newResults(pieces(text, int(n)+1)))
		var want []json.RawMessage
		if json.Unmarshal([]byte(s), &want) != nil || want == nil {
			return
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q: %q, %v", s, got, err)
		}
		for i := range want {
			if got[i] != string(want[i]) {
				t.Fatalf("%q: %q, want %q", s, got[i], want[i])
			}
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add(`"a"`)
	f.Add(`"\u00e9\n\""`)
	f.Fuzz(func(t *testing.T, s string) {
		var want string
		got := text([]byte(s)) // of anything, without a panic
		if json.Unmarshal([]byte(s), &want) != nil || s != strings.TrimSpace(s) || s[0] != '"' || !utf8.ValidString(s) {
			return
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// feedText is a feed of n documents of about size bytes.
func feedText(n, size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"results":[`)
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"seq":null,"id":"doc-%06d","changes":[{"rev":"1-967a00dff5e02add41819138abb3284d"}],"doc":{"_id":"doc-%06d","_rev":"1-967a00dff5e02add41819138abb3284d","items":[`, i, i)
		for at := b.Len(); b.Len()-at < size; {
			fmt.Fprintf(&b, `{"sku":"%08x","qty":%d,"text":"alpha bravo charlie \"delta\" echo foxtrot golf hotel india juliet kilo lima mike"},`, i, i%7)
		}
		b.WriteString(`null]}}`)
	}
	b.WriteString(`],"last_seq":"1-x"}`)
	return b.Bytes()
}

func BenchmarkResults(b *testing.B) {
	feed := feedText(1000, 10_000)
	b.SetBytes(int64(len(feed)))
	for b.Loop() {
		r := newResults(bytes.NewReader(feed))
		for {
			if _, err := r.next(); err != nil {
				break
			}
		}
	}
}

// The whole way of a document that comes with the feed, but for the network.
func BenchmarkFeedRow(b *testing.B) {
	feed := feedText(1000, 10_000)
	b.SetBytes(int64(len(feed)))
	for b.Loop() {
		r := newResults(bytes.NewReader(feed))
		p := &parcel{body: []byte(parcelStart)}
		for {
			raw, err := r.next()
			if err != nil {
				break
			}
			w, err := parseRow(raw)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := readMeta(w.doc); err != nil {
				b.Fatal(err)
			}
			if p.full(len(w.doc)) {
				p.body, p.ends = p.body[:len(parcelStart)], p.ends[:0]
			}
			p.add(w.doc)
		}
	}
}
