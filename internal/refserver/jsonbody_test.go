package refserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// readAll reads one text and nothing after it.
func readAll(r io.Reader) ([]byte, error) {
	j := newJSONReader(r)
	defer j.release()
	v, err := j.value(nil)
	if err == nil {
		err = j.finish()
	}
	return v, err
}

// loneSurrogate says whether encoding/json has put a replacement character where
// the text had half of a pair: we refuse that, as CouchDB does.
func loneSurrogate(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsRune(v, utf8.RuneError)
	case []any:
		for _, e := range v {
			if loneSurrogate(e) {
				return true
			}
		}
	case map[string]any:
		for k, e := range v {
			if loneSurrogate(k) || loneSurrogate(e) {
				return true
			}
		}
	}
	return false
}

func FuzzJSONReader(f *testing.F) {
	for _, s := range []string{
		`{}`, ` [ 1 , -0.5e+10 , "a\"\u00e9\n" ] `, `{"a":{"b":[true,false,null]}}`, `"` + strings.Repeat("é", 100) + `"`, `1`, `-`, `01`, `1.`, `1e`, `tru`, `[1,]`, `{"a"}`,
		`{"a":1,}`, `"\ud83d\ude00"`, `"\ud83d"`, `"\x"`, "\"\x01\"", "\"\xff\"", `[[[[[[]]]]]]`, `"\/"`, ``, ` `, `{"a":1}x`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := readAll(bytes.NewReader(in))
		slow, slowErr := readAll(iotest.OneByteReader(bytes.NewReader(in)))
		if (err == nil) != (slowErr == nil) || err == nil && !bytes.Equal(got, slow) {
			t.Fatalf("%q: %q, %v, but byte by byte %q, %v", in, got, err, slow, slowErr)
		}
		var want any
		wantErr := json.Unmarshal(in, &want)
		if !utf8.Valid(in) || wantErr == nil && loneSurrogate(want) {
			return // encoding/json takes more
		}
		var number *json.UnmarshalTypeError
		if errors.As(wantErr, &number) {
			return // a number that no float64 holds
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, encoding/json: %v", in, err, wantErr)
		}
		if err != nil {
			return
		}
		var have any
		if err := json.Unmarshal(got, &have); err != nil || !reflect.DeepEqual(have, want) {
			t.Fatalf("%q: kept as %q: %v", in, got, err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, in); err != nil || compact.String() != string(got) {
			t.Fatalf("%q: kept as %q, compact is %q", in, got, compact.String())
		}
	})
}

func TestJSONReaderKeepsNumbers(t *testing.T) {
	const in = `{"a": 1.50 ,"b":1E5, "c":123456789012345678901234567890,"d":-0}`
	got, err := readAll(strings.NewReader(in))
	if want := strings.ReplaceAll(in, " ", ""); err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestJSONReaderDepth(t *testing.T) {
	if _, err := readAll(strings.NewReader(strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth))); err != nil {
		t.Errorf("%d deep: %v", maxDepth, err)
	}
	if _, err := readAll(strings.NewReader(strings.Repeat("[", 1_000_000))); !errors.Is(err, errSyntax) {
		t.Errorf("endlessly deep: %v", err)
	}
}

// decodeString reads a JSON string of base64.
func decodeString(r io.Reader) ([]byte, error) {
	j := newJSONReader(r)
	defer j.release()
	var b bytes.Buffer
	err := j.base64(&b)
	if err == nil || errors.Is(err, errBase64) {
		if end := j.finish(); end != nil {
			return nil, end
		}
	}
	return b.Bytes(), err
}

func FuzzBase64(f *testing.F) {
	for _, s := range []string{"", "QQ==", "QUI=", "QUJD", " Q Q\t=\n=", "QQ", "QQ=", "Q===", "QUJDRA==QUJD", "####", strings.Repeat("AbC/", 40), "QQ==\n", strings.Repeat("AAAA ", 30) + "!"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted, err := json.Marshal(text)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		clean := strings.Map(func(r rune) rune {
			if r < utf8.RuneSelf && isSpace(byte(r)) {
				return -1
			}
			return r
		}, text)
		want, wantErr := base64.StdEncoding.DecodeString(clean)
		for name, r := range map[string]io.Reader{"at once": bytes.NewReader(quoted), "byte by byte": iotest.OneByteReader(bytes.NewReader(quoted))} {
			got, err := decodeString(r)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%s %q: %v, encoding/base64: %v", name, text, err, wantErr)
			}
			if err == nil && !bytes.Equal(got, want) {
				t.Fatalf("%s %q: %q, want %q", name, text, got, want)
			}
		}
	})
}

func TestBase64InPieces(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	data := make([]byte, 3*jsonBufferSize+1)
	for i := range data {
		data[i] = byte(rnd.Uint32())
	}
	text := base64.StdEncoding.EncodeToString(data)
	lines := strings.Builder{} // as MIME writes it
	for i := 0; i < len(text); i += 76 {
		lines.WriteString(text[i:min(i+76, len(text))] + `\r\n`)
	}
	for name, in := range map[string]string{
		"plain": text, "escaped slashes": strings.ReplaceAll(text, "/", `\/`), "lines": lines.String(), "spaces": strings.ReplaceAll(text, "A", "A "),
	} {
		got, err := decodeString(iotest.HalfReader(strings.NewReader(`"` + in + `"`)))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

func BenchmarkBase64(b *testing.B) {
	text := []byte(`"` + strings.Repeat("QUJD", 4<<20) + `"`)
	b.SetBytes(int64(len(text)) / 4 * 3)
	for b.Loop() {
		j := newJSONReader(bytes.NewReader(text))
		if err := j.base64(io.Discard); err != nil {
			b.Fatal(err)
		}
		j.release()
	}
}

func BenchmarkJSONReader(b *testing.B) {
	text := []byte(`{"docs":[` + strings.Repeat(`{"_id":"abcdef","text":"`+strings.Repeat("words and numbers ", 500)+`","n":[1,2.5,3]},`, 99) + `{}]}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := readAll(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}
