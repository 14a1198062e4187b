package upload

import (
	"bytes"
	"context"
	"crypto/md5"
	"io"

	"github.com/klauspost/compress/gzip"
)

// gzipped reads src compressed, in memory that does not depend on its length.
// Equal content gives equal bytes: it is compressed in pieces of one size.
type gzipped struct {
	src   io.Reader
	to    *gzip.Writer
	out   bytes.Buffer
	piece [64 << 10]byte
	ended bool
}

// gzipLevel is the first of klauspost/compress that codes literals by Huffman
// where no string repeats: it makes 0.75 of base64, the ones below leave it as
// long as it is. It is faster than level 6 of compress/gzip, which is what
// kivik and most clients use, and makes text 3 % longer.
const gzipLevel = 7

func newGzipped(src io.Reader) *gzipped {
	g := &gzipped{src: src}
	g.to, _ = gzip.NewWriterLevel(&g.out, gzipLevel) // it fails for unknown levels only
	return g
}

// Read implements io.Reader.
func (g *gzipped) Read(p []byte) (int, error) {
	for g.out.Len() == 0 {
		if g.ended {
			return 0, io.EOF
		}
		if err := g.fill(); err != nil {
			return 0, err
		}
	}
	return g.out.Read(p)
}

// fill compresses the next piece.
func (g *gzipped) fill() error {
	n, err := io.ReadFull(g.src, g.piece[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if _, err := g.to.Write(g.piece[:n]); err != nil {
		return err
	}
	if n < len(g.piece) {
		g.ended = true
		return g.to.Close()
	}
	return nil
}

// sum is the length in bytes and the digest of a stream.
type sum struct {
	length int64
	md5    [md5.Size]byte
}

// sumOf reads r to its end, or until ctx ends.
func sumOf(ctx context.Context, r io.Reader) (sum, error) {
	var s sum
	h := md5.New()
	buf := make([]byte, 64<<10)
	for {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		n, err := r.Read(buf)
		h.Write(buf[:n])
		s.length += int64(n)
		if err == io.EOF {
			h.Sum(s.md5[:0])
			return s, nil
		}
		if err != nil {
			return s, err
		}
	}
}
