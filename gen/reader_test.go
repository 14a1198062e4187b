package gen

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/iotest"
)

// sizes lie around the borders of the buffers, blocks and rings.
var sizes = []int64{
	0, 1, 7, 8, 9, textBlock - 1, textBlock, textBlock + 1, 3*textBlock + 5,
	ringA - 1, ringA, ringA + 1, ringB - 1, ringB, ringB + 1,
	BufferSize - 1, BufferSize, BufferSize + 1, 1 << 20,
}

func eachAttachment(t *testing.T, test func(*testing.T, Attachment)) {
	for _, content := range Contents() {
		t.Run(string(content), func(t *testing.T) {
			for _, size := range sizes {
				test(t, Attachment{Content: content, Seed: 1, Size: size})
			}
		})
	}
}

func TestReaderKeepsTheContractOfIO(t *testing.T) {
	for _, content := range Contents() {
		a := Attachment{Content: content, Seed: 1, Size: 3*textBlock + 5}
		if err := iotest.TestReader(a.Open(), all(t, a)); err != nil {
			t.Errorf("%s: %v", content, err)
		}
	}
}

func TestReaderStartsAnywhere(t *testing.T) {
	offsets := rand.New(rand.NewPCG(1, 1))
	eachAttachment(t, func(t *testing.T, a Attachment) {
		want := all(t, a)
		for range 20 {
			off := offsets.Int64N(a.Size + 1)
			r := a.Open()
			if _, err := r.Seek(off, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if n, err := r.WriteTo(&got); n != a.Size-off || err != nil {
				t.Fatalf("WriteTo from %d of %d: %d bytes, %v", off, a.Size, n, err)
			}
			if !bytes.Equal(got.Bytes(), want[off:]) {
				t.Fatalf("%d bytes: other bytes from offset %d on", a.Size, off)
			}
		}
	})
}

func TestReadAtIsConcurrent(t *testing.T) {
	for _, content := range Contents() {
		a := Attachment{Content: content, Seed: 1, Size: 1 << 20}
		want := all(t, a)
		r := a.Open()
		var wg sync.WaitGroup
		for i := range int64(8) {
			wg.Go(func() {
				got := make([]byte, 100_000)
				if _, err := r.ReadAt(got, i*100_000); err != nil {
					t.Error(err)
				}
				if !bytes.Equal(got, want[i*100_000:][:100_000]) {
					t.Errorf("%s: other bytes at %d", content, i*100_000)
				}
			})
		}
		wg.Wait()
	}
}

func TestReaderRefusesWhatIsOutside(t *testing.T) {
	r := Attachment{Content: Zeros, Size: 10}.Open()
	if _, err := r.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("ReadAt before the start succeeded")
	}
	if _, err := r.Seek(-11, io.SeekEnd); err == nil {
		t.Error("Seek before the start succeeded")
	}
	if _, err := r.Seek(0, 3); err == nil {
		t.Error("Seek with an unknown whence succeeded")
	}
	if _, err := r.Seek(1<<40, io.SeekStart); err != nil {
		t.Error(err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("Read behind the end: %d, %v", n, err)
	}
	if r.Size() != 10 {
		t.Errorf("Size is %d after a seek, want 10", r.Size())
	}
}

// limited takes left bytes and then fails with err.
type limited struct {
	left int
	err  error
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) <= l.left {
		l.left -= len(p)
		return len(p), nil
	}
	return l.left, l.err
}

func TestWriteToStopsWhereItsWriterStops(t *testing.T) {
	full := errors.New("full")
	for _, tt := range []struct {
		name string
		err  error
		want error
	}{
		{"an error", full, full},
		{"a short write", nil, io.ErrShortWrite},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := Attachment{Content: Random, Size: 1 << 20}
			r := a.Open()
			n, err := r.WriteTo(&limited{300_000, tt.err})
			if n != 300_000 || !errors.Is(err, tt.want) {
				t.Errorf("wrote %d, %v, want 300000, %v", n, err, tt.want)
			}
			rest, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(rest, all(t, a)[300_000:]) {
				t.Errorf("the reader does not go on behind what was written (%v)", err)
			}
		})
	}
}

func TestReadAllocatesNothing(t *testing.T) {
	for _, content := range Contents() {
		r := Attachment{Content: content, Size: 1 << 40}.Open()
		buf := make([]byte, BufferSize)
		if n := testing.AllocsPerRun(20, func() { r.Read(buf) }); n != 0 {
			t.Errorf("%s: %v allocations a Read", content, n)
		}
	}
}

func TestOpenPanicsOnNonsense(t *testing.T) {
	for name, a := range map[string]Attachment{
		"negative size":   {Content: Random, Size: -1},
		"unknown content": {Content: "noise", Size: 1},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			a.Open()
		})
	}
}

func TestParseContent(t *testing.T) {
	for _, content := range Contents() {
		if got, err := ParseContent(string(content)); got != content || err != nil {
			t.Errorf("ParseContent(%q) is %q, %v", content, got, err)
		}
	}
	_, err := ParseContent("noise")
	const want = `content "noise" is unknown: use one of random, text, zeros`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func benchmarkRead(b *testing.B, content Content) {
	r := Attachment{Content: content, Size: 1 << 60}.Open()
	buf := make([]byte, BufferSize)
	b.SetBytes(BufferSize)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRandom(b *testing.B) { benchmarkRead(b, Random) }
func BenchmarkText(b *testing.B)   { benchmarkRead(b, Text) }

// BenchmarkOpen is what an attachment costs besides its bytes.
func BenchmarkOpen(b *testing.B) {
	for name, size := range map[string]int64{"10B": 10, "100kB": 100_000, "1MB": 1_000_000} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := io.Copy(io.Discard, (Attachment{Content: Random, Size: size}).Open()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
