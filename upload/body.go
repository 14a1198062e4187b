package upload

import (
	"io"

	"couchgauge/gen"

	"github.com/segmentio/asm/base64"
)

// Body is a request's body as a list of pieces. It can be opened as often as
// needed and holds no content itself.
type Body []piece

// piece is literal text, or an attachment as it is or in base64.
type piece struct {
	text    []byte
	content *gen.Attachment // nil: text
	base64  bool
}

func (p piece) length() int64 {
	switch {
	case p.content == nil:
		return int64(len(p.text))
	case p.base64:
		return (p.content.Size + 2) / 3 * 4
	default:
		return p.content.Size
	}
}

// Len is the exact length in bytes.
func (b Body) Len() int64 {
	var n int64
	for _, p := range b {
		n += p.length()
	}
	return n
}

// Open returns a reader at the first byte. It fills every buffer that it is
// given, so that a small request leaves in one write.
func (b Body) Open() io.Reader {
	r := &bodyReader{rest: b}
	for _, p := range b {
		if p.base64 {
			r.scratch = make([]byte, max(int64(len(r.scratch)), min(encodeChunk, p.content.Size)))
		}
	}
	r.next()
	return r
}

func (b *Body) text(s string) {
	if n := len(*b); n > 0 && (*b)[n-1].content == nil {
		(*b)[n-1].text = append((*b)[n-1].text, s...)
		return
	}
	*b = append(*b, piece{text: []byte(s)})
}

func (b *Body) attachment(a gen.Attachment) {
	*b = append(*b, piece{content: &a})
}

func (b *Body) base64(a gen.Attachment) {
	*b = append(*b, piece{content: &a, base64: true})
}

type bodyReader struct {
	rest    Body // from the current piece on
	text    []byte
	content io.Reader
	scratch []byte // for base64, made before anything is timed
}

// next opens the first piece of rest.
func (r *bodyReader) next() {
	r.text, r.content = nil, nil
	if len(r.rest) == 0 {
		return
	}
	switch p := r.rest[0]; {
	case p.content == nil:
		r.text = p.text
	case p.base64:
		r.content = &encoder{src: p.content.Open(), left: p.content.Size, raw: r.scratch}
	default:
		r.content = p.content.Open()
	}
}

// Read implements io.Reader.
func (r *bodyReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && len(r.rest) > 0 {
		var m int
		err := io.EOF
		if r.content != nil {
			m, err = r.content.Read(p[n:])
		} else if len(r.text) > 0 {
			m, err = copy(p[n:], r.text), nil
			r.text = r.text[m:]
		}
		n += m
		if err == io.EOF {
			r.rest = r.rest[1:]
			r.next()
		} else if err != nil {
			return n, err
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// encodeChunk is how many bytes are read before they are encoded: a multiple
// of 3, and 256 KiB when encoded. encoding/base64 makes 0.6 GB/s of such
// chunks, this encoder ten times that (fact 34).
const encodeChunk = 192 << 10

// encoder reads src in base64.
type encoder struct {
	src   io.Reader
	left  int64  // bytes of src not read yet
	raw   []byte // for what was read from src; its length a multiple of 3, or all of it
	store [4]byte
	ready []byte // encoded, in store, not given out yet
}

// Read implements io.Reader.
func (e *encoder) Read(p []byte) (int, error) {
	if len(e.ready) > 0 {
		n := copy(p, e.ready)
		e.ready = e.ready[n:]
		return n, nil
	}
	if e.left == 0 {
		return 0, io.EOF
	}
	if len(p) < 4 {
		n, err := e.encode(e.store[:])
		if err != nil {
			return 0, err
		}
		e.ready = e.store[:n]
		return e.Read(p)
	}
	return e.encode(p)
}

// encode fills dst, of at least 4 bytes, as far as whole groups of 4 allow.
func (e *encoder) encode(dst []byte) (int, error) {
	raw := e.raw[:min(int64(len(dst)/4*3), int64(len(e.raw)), e.left)]
	if _, err := io.ReadFull(e.src, raw); err != nil {
		return 0, err
	}
	e.left -= int64(len(raw))
	n := base64.StdEncoding.EncodedLen(len(raw))
	base64.StdEncoding.Encode(dst[:n], raw)
	return n, nil
}
