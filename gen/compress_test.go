package gen

import (
	"bytes"
	"compress/gzip"
	"hash/maphash"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func zstdLength(t testing.TB, b []byte, options ...zstd.EOption) int {
	t.Helper()
	e, err := zstd.NewWriter(nil, append(options, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	return len(e.EncodeAll(b, nil))
}

func gzipLength(t testing.TB, b []byte, level int) int {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

func TestTextCompressesLikeText(t *testing.T) {
	const couchdbLevel = 8 // [attachments] compression_level
	for _, size := range []int64{16_000, 300_000} {
		for _, seed := range []uint64{1, 2, 3} {
			b := all(t, Attachment{Text, seed, size, 0})
			for name, length := range map[string]int{
				"gzip":         gzipLength(t, b, gzip.DefaultCompression),
				"gzip level 8": gzipLength(t, b, couchdbLevel),
				"zstd":         zstdLength(t, b),
			} {
				ratio := float64(size) / float64(length)
				if ratio < 3 || ratio > 8 {
					t.Errorf("%d bytes, seed %d: %s compresses %.2f times, want 3 to 8", size, seed, name, ratio)
				}
			}
		}
	}
}

func TestRandomDoesNotCompress(t *testing.T) {
	for name, tt := range map[string]struct {
		size    int64
		options []zstd.EOption
	}{
		"default": {16 << 20, nil},
		// The window holds each ring many times over.
		"best, long window": {4 << 20, []zstd.EOption{
			zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(8 << 20),
		}},
		"smaller than the rings": {50_000, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := all(t, Attachment{Random, 42, tt.size, 0})
			if left := zstdLength(t, b, tt.options...); float64(left) < 0.999*float64(tt.size) {
				t.Errorf("zstd leaves %d of %d bytes, want 99.9 %%", left, tt.size)
			}
		})
	}
}

func TestRandomRepeatsNoBlock(t *testing.T) {
	const block = 4 << 10
	size := int64(1 << 30)
	if testing.Short() {
		size = 64 << 20
	}
	r := Attachment{Random, 42, size, 0}.Open()
	hash := maphash.MakeSeed()
	seen := make(map[uint64]int64, size/block)
	buf := make([]byte, block)
	for off := int64(0); off < size; off += block {
		if _, err := r.Read(buf); err != nil {
			t.Fatal(err)
		}
		h := maphash.Bytes(hash, buf)
		if before, ok := seen[h]; ok {
			t.Fatalf("the block at %d is the one at %d", off, before)
		}
		seen[h] = off
	}
}
