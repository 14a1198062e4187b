package gen

import (
	"context"
	"crypto/md5"
	"fmt"
	"io"
)

// Attachment says which bytes an attachment has. They depend on nothing but
// its four fields.
type Attachment struct {
	Content Content
	Seed    uint64
	Size    int64 // bytes
	Number  int   // among the attachments of a run
}

// Open returns a reader at the first byte. It panics when a has a negative
// size or a content that ParseContent refuses.
func (a Attachment) Open() *Reader {
	if a.Size < 0 {
		panic(fmt.Sprintf("gen: attachment of %d bytes", a.Size))
	}
	for _, c := range contents {
		if c.name == a.Content {
			key := keyOf(a.Seed, uint64(a.Size), uint64(a.Number))
			return &Reader{src: c.open(key, a.Size), size: a.Size}
		}
	}
	panic(fmt.Sprintf("gen: attachment of unknown content %q", a.Content))
}

// MD5 returns the digest of the bytes: what a server reports for a type that
// it does not compress (fact 9). It takes about two seconds per gigabyte, and
// fails only when ctx ends.
func (a Attachment) MD5(ctx context.Context) ([md5.Size]byte, error) {
	var sum [md5.Size]byte
	h := md5.New()
	_, err := io.Copy(contextWriter{ctx, h}, a.Open())
	if err != nil {
		return sum, fmt.Errorf("digest %d bytes of %s content: %w", a.Size, a.Content, err)
	}
	h.Sum(sum[:0])
	return sum, nil
}

// contextWriter is w until ctx ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}
