package refserver

import (
	"bytes"
	"io"
	"mime/multipart"
	"strings"
	"testing"
	"testing/iotest"
)

const testBoundary = "BB"

// splitParts takes a body apart.
func splitParts(r io.Reader) (parts []string, err error) {
	m, err := newPartReader(r, `multipart/related; boundary="`+testBoundary+`"`)
	if err != nil {
		return nil, err
	}
	defer m.release()
	for {
		if _, err := m.nextPart(); err == io.EOF {
			return parts, nil
		} else if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(m)
		if err != nil {
			return nil, err
		}
		parts = append(parts, string(b))
	}
}

func FuzzPartReader(f *testing.F) {
	for _, s := range []string{"", "abc", "a\r\n--B", "\r\n", "\r\n--BX", "--BB", strings.Repeat("x", 5000), "\r\n\r\n"} {
		f.Add([]byte(s), []byte("second"), uint8(7))
	}
	f.Fuzz(func(t *testing.T, a, b []byte, step uint8) {
		delim := []byte("\r\n--" + testBoundary)
		if bytes.Contains(append([]byte("\r\n"), a...), delim) || bytes.Contains(append([]byte("\r\n"), b...), delim) {
			return // no body could be written with this boundary
		}
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		if err := w.SetBoundary(testBoundary); err != nil {
			t.Fatal(err)
		}
		for _, p := range [][]byte{a, b} {
			part, err := w.CreatePart(map[string][]string{"Content-Type": {"x/y"}})
			if err != nil {
				t.Fatal(err)
			}
			part.Write(p)
		}
		w.Close()
		for name, r := range map[string]io.Reader{
			"at once": bytes.NewReader(body.Bytes()), "in pieces": &stepReader{bytes.NewReader(body.Bytes()), int(step)%13 + 1},
		} {
			parts, err := splitParts(r)
			if err != nil || len(parts) != 2 || parts[0] != string(a) || parts[1] != string(b) {
				t.Fatalf("%s: %q, %v, want %q and %q", name, parts, err, a, b)
			}
		}
	})
}

// stepReader gives n bytes at a time.
type stepReader struct {
	r io.Reader
	n int
}

func (s *stepReader) Read(p []byte) (int, error) { return s.r.Read(p[:min(s.n, len(p))]) }

// FuzzPartReaderGarbage holds the reader to end on anything.
func FuzzPartReaderGarbage(f *testing.F) {
	f.Add([]byte("--BB\r\n\r\nx\r\n--BB--"))
	f.Add([]byte("--BB\r\nno colon\r\n\r\n"))
	f.Add([]byte("--BB junk\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		splitParts(bytes.NewReader(in))
		splitParts(iotest.OneByteReader(bytes.NewReader(in)))
	})
}

func TestPartReaderErrors(t *testing.T) {
	for name, in := range map[string]string{
		"cut in a part": "--BB\r\n\r\nabc", "cut in a header": "--BB\r\nA: b", "no boundary at all": "abc", "no colon": "--BB\r\nabc\r\n\r\nx\r\n--BB--",
		"endless header": "--BB\r\nA: " + strings.Repeat("x", 100_000),
	} {
		if parts, err := splitParts(strings.NewReader(in)); err == nil {
			t.Errorf("%s: %q", name, parts)
		}
	}
	if _, err := newPartReader(nil, "multipart/related"); err == nil {
		t.Error("a Content-Type without a boundary is taken")
	}
}

func BenchmarkPartReader(b *testing.B) {
	body := []byte(related(`{}`, strings.Repeat("0123456789abcdef", 1<<20)))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		m, err := newPartReader(bytes.NewReader(body), `multipart/related; boundary="BB"`)
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := m.nextPart(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			if err := m.copyTo(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
		m.release()
	}
}
