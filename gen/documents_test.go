package gen

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// shape lists the tokens of a JSON document, with each digit or letter that
// may vary replaced by its class, and without the reserved members.
func shape(t testing.TB, doc []byte) []string {
	t.Helper()
	var object map[string]json.RawMessage
	if err := json.Unmarshal(doc, &object); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var tokens []string
	var open []bool // for each enclosing value: is it an object?
	key := false    // does a key come next?
	for {
		token, err := d.Token()
		if err == io.EOF {
			return tokens
		}
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		inObject := len(open) > 0 && open[len(open)-1]
		switch v := token.(type) {
		case json.Delim:
			tokens = append(tokens, v.String())
			if v == '{' || v == '[' {
				open = append(open, v == '{')
				key = v == '{'
				continue
			}
			open = open[:len(open)-1]
			inObject = len(open) > 0 && open[len(open)-1]
		case string:
			if !key {
				tokens = append(tokens, fmt.Sprintf("string %q", classes(v)))
				break
			}
			if len(open) == 1 && strings.HasPrefix(v, "_") {
				var skipped json.RawMessage
				if err := d.Decode(&skipped); err != nil {
					t.Fatal(err)
				}
				continue
			}
			tokens = append(tokens, fmt.Sprintf("key %q", v))
			key = false
			continue
		case json.Number:
			number := v.String()
			if !strings.ContainsAny(number, "eE") {
				number = digits(number)
			}
			tokens = append(tokens, "number "+number)
		default:
			tokens = append(tokens, fmt.Sprint(v))
		}
		key = inObject
	}
}

func classes(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return 'a'
		case 'A' <= r && r <= 'Z':
			return 'A'
		case '0' <= r && r <= '9':
			return '0'
		}
		return r
	}, s)
}

// digits replaces the digits of a number, except a zero that is all of its
// whole part.
func digits(number string) string {
	whole, fraction, isFraction := strings.Cut(number, ".")
	if whole != "0" && whole != "-0" {
		whole = strings.ReplaceAll(classes(whole), "0", "9")
	}
	if !isFraction {
		return whole
	}
	return whole + "." + classes(fraction)
}

func TestTemplateKeepsItsShape(t *testing.T) {
	for _, tt := range []struct{ name, template, want string }{
		{"empty", `{}`, `{"_id":"doc-0000000003"}`},
		{"kept", `{"a":[true,false,null,0,-0,1e5,1.5E-300,"","é\n\u0041\"\\"]}`,
			`{"_id":"doc-0000000003","a":[true,false,null,0,-0,1e5,1.5E-300,"","é\n\u0041\"\\"]}`},
		{"read from a database", `{"_id":"x","\u005frev":"1-ab","a":{"_b":null},"_attachments":{"f":{"stub":true}}}`,
			`{"_id":"doc-0000000003","a":{"_b":null}}`},
		{"only reserved members", `{"_id":{"a":[1]},"_rev":"1-ab"}`, `{"_id":"doc-0000000003"}`},
		{"spaces", " { \"a\" : [ ] ,\n\"b\" : { } } ", `{"_id":"doc-0000000003","a":[],"b":{}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			template, err := ParseTemplate([]byte(tt.template))
			if err != nil {
				t.Fatal(err)
			}
			if got := (Documents{1, template}).Append(nil, 3); string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestTemplateVariesEveryLeaf(t *testing.T) {
	template, err := ParseTemplate([]byte(`{"s":"Room 12, Café","i":70,"n":-5,"f":0.250,"deep":[{"s":["x"]}],"k":"\u00e9z"}`))
	if err != nil {
		t.Fatal(err)
	}
	type leaves struct {
		S, K string
		I, N json.Number
		F    json.Number
		Deep []struct{ S []string }
	}
	seen := make(map[string]map[string]bool)
	add := func(field, value string) {
		if seen[field] == nil {
			seen[field] = make(map[string]bool)
		}
		seen[field][value] = true
	}
	for n := range int64(200) {
		var doc leaves
		if err := json.Unmarshal((Documents{1, template}).Append(nil, n), &doc); err != nil {
			t.Fatal(err)
		}
		add("s", doc.S)
		add("i", doc.I.String())
		add("n", doc.N.String())
		add("f", doc.F.String())
		add("deep", doc.Deep[0].S[0])
		add("k", doc.K)
	}
	for field, atLeast := range map[string]int{"s": 200, "i": 70, "n": 9, "f": 150, "deep": 26, "k": 26} {
		if len(seen[field]) < atLeast {
			t.Errorf("%s has %d values in 200 documents, want %d", field, len(seen[field]), atLeast)
		}
	}
}

func TestParseTemplateSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "template: not JSON: unexpected end of JSON input"},
		{`{"a":}`, "template: not JSON: invalid character '}' looking for beginning of value"},
		{`[1]`, "template: not a JSON object, which a document is"},
		{"{\"a\":\"\xff\"}", "template: not UTF-8"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			_, err := ParseTemplate([]byte(tt.text))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, `{"_id":"x","a":[{"b":-1.50,"c":"Z9 é\u00e9"}]}`, `{"":""}`, `{"a":1e9,"a":{"_x":[]}}`,
		`{"a\"":"\\","b":[[],[0.1]]}`, `{"\u005f":0}`,
	} {
		f.Add([]byte(s), uint64(1), int64(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64, n int64) {
		template, err := ParseTemplate(text)
		if err != nil {
			return
		}
		prefix := []byte("before")
		documents := Documents{seed, template}
		doc, ok := bytes.CutPrefix(documents.Append(prefix, n), prefix)
		if !ok {
			t.Fatal("what stood before is gone")
		}
		if int64(len(doc)) != template.Size() {
			t.Errorf("%d bytes, want %d", len(doc), template.Size())
		}
		if head := `{"_id":"` + documents.ID(n) + `"`; !strings.HasPrefix(string(doc), head) {
			t.Errorf("%s does not begin with %s", doc, head)
		}
		if got, want := shape(t, doc), shape(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s became %s", text, doc)
		}
	})
}

func TestDocTemplateHasTheSizeAskedFor(t *testing.T) {
	var sizes []int64
	for size := MinDocument; size < 600; size++ {
		sizes = append(sizes, size)
	}
	for _, size := range append(sizes, 1048, 10_000, 11_487, 1_000_000) {
		template, err := DocTemplate(size)
		if err != nil {
			t.Fatal(err)
		}
		doc := Documents{1, template}.Append(nil, 7)
		if int64(len(doc)) != size || !json.Valid(doc) {
			t.Errorf("asked for %d bytes, got %d: %s", size, len(doc), doc)
		}
	}
	for _, size := range []int64{0, MinDocument - 1, MaxDocument + 1} {
		if _, err := DocTemplate(size); err == nil {
			t.Errorf("documents of %d bytes are accepted", size)
		}
	}
}

func TestDocumentsAreTheSameEverywhere(t *testing.T) {
	doc, err := DocTemplate(10_000)
	if err != nil {
		t.Fatal(err)
	}
	notification, err := BuiltinTemplate("notification")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name      string
		documents Documents
		md5       string // of the first thousand
	}{
		{"doc", Documents{42, doc}, "7d92c7e42d969738e3c25f13c675b469"},
		{"doc, another seed", Documents{43, doc}, "ea3258224705071f6739dbb245b0d750"},
		{"notification", Documents{42, notification}, "1bb016b412438c29362219784157f1be"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := md5.New()
			var buf []byte
			for n := range int64(1000) {
				buf = tt.documents.Append(buf[:0], n)
				h.Write(buf)
			}
			if got := hex.EncodeToString(h.Sum(nil)); got != tt.md5 {
				t.Errorf("MD5 is %s, want %s", got, tt.md5)
			}
		})
	}
}

func TestDocumentsDoNotCompressTrivially(t *testing.T) {
	template, err := DocTemplate(10_000)
	if err != nil {
		t.Fatal(err)
	}
	var docs []byte
	for n := range int64(100) {
		docs = Documents{1, template}.Append(docs, n)
	}
	if ratio := float64(len(docs)) / float64(zstdLength(t, docs)); ratio > 2 {
		t.Errorf("zstd compresses the documents %.2f times", ratio)
	}
}

func TestBuiltinTemplates(t *testing.T) {
	for _, name := range BuiltinTemplates() {
		if _, err := BuiltinTemplate(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := BuiltinTemplate("invoice")
	const want = `template "invoice" is unknown: use one of notification`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNotificationHasTheMembersOfTheCountComparison(t *testing.T) {
	template, err := BuiltinTemplate("notification")
	if err != nil {
		t.Fatal(err)
	}
	var members []string
	for _, token := range shape(t, Documents{1, template}.Append(nil, 0)) {
		if key, ok := strings.CutPrefix(token, "key "); ok {
			members = append(members, strings.Trim(key, `"`))
		}
	}
	const want = "notificationId logId createdDate action subActions operation propertyId propertyName channelId " +
		"dates dateFrom dateTo rates rooms prices allotment closeSales readedBy isReaded readedDate"
	if got := strings.Join(members, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAppendAllocatesNothingIntoRoom(t *testing.T) {
	template, err := DocTemplate(10_000)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 0, 10_000)
	n := testing.AllocsPerRun(20, func() { Documents{1, template}.Append(buf, 5) })
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDocuments(b *testing.B) {
	for _, size := range []int64{1_000, 10_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			template, err := DocTemplate(size)
			if err != nil {
				b.Fatal(err)
			}
			buf := make([]byte, 0, size)
			b.SetBytes(size)
			b.ReportAllocs()
			var n int64
			for b.Loop() {
				Documents{1, template}.Append(buf, n)
				n++
			}
		})
	}
}
