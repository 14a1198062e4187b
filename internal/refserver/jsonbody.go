package refserver

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/segmentio/asm/base64"
)

// jsonReader reads one JSON text from a stream, piece by piece, without holding
// more of it than its caller keeps. Values are kept as they were written, only
// without white space between tokens: numbers keep every digit. Strings that
// hold base64 can be decoded while they arrive, whatever their length.
//
// Its errors are errSyntax for anything that is not JSON (RFC 8259, with UTF-8
// that is valid), and those of the stream.
type jsonReader struct {
	src   io.Reader
	buf   []byte // from jsonBuffers
	pos   int    // next byte
	end   int    // bytes in buf
	depth int
}

// jsonBufferSize is large for the sake of base64: the larger the pieces, the
// less the system calls cost.
const jsonBufferSize = 256 << 10

// maxDepth is how deep a text may nest; encoding/json has the same limit.
const maxDepth = 10000

var (
	errSyntax = errors.New("not valid JSON")
	errBase64 = errors.New("not valid base64")
)

var jsonBuffers = sync.Pool{New: func() any { return new([jsonBufferSize]byte) }}

// newJSONReader reads from src. The caller calls release when done.
func newJSONReader(src io.Reader) *jsonReader {
	return &jsonReader{src: src, buf: jsonBuffers.Get().(*[jsonBufferSize]byte)[:]}
}

func (r *jsonReader) release() {
	jsonBuffers.Put((*[jsonBufferSize]byte)(r.buf))
	r.buf = nil
}

// fill reads more. What is left before is dropped: the caller has used it.
func (r *jsonReader) fill() error {
	r.pos, r.end = 0, 0
	for range 100 {
		n, err := r.src.Read(r.buf)
		if n > 0 {
			r.end = n
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// peek is the next byte; inside a text the end of the stream is an error.
func (r *jsonReader) peek() (byte, error) {
	if r.pos == r.end {
		if err := r.fill(); err != nil {
			if err == io.EOF {
				return 0, errSyntax
			}
			return 0, err
		}
	}
	return r.buf[r.pos], nil
}

// token skips white space and is the byte after it.
func (r *jsonReader) token() (byte, error) {
	for {
		c, err := r.peek()
		if err != nil {
			return 0, err
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			r.pos++
		default:
			return c, nil
		}
	}
}

// expect takes the next token, which must be c.
func (r *jsonReader) expect(c byte) error {
	got, err := r.token()
	if err == nil && got != c {
		err = errSyntax
	}
	r.pos++
	return err
}

// finish makes sure that nothing but white space follows.
func (r *jsonReader) finish() error {
	for {
		if r.pos == r.end {
			if err := r.fill(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
		switch r.buf[r.pos] {
		case ' ', '\t', '\r', '\n':
			r.pos++
		default:
			return errSyntax
		}
	}
}

// members calls fn for each member of an object, with the member's name and the
// name as it was written. fn must read the value.
func (r *jsonReader) members(fn func(name string, raw []byte) error) error {
	if err := r.expect('{'); err != nil {
		return err
	}
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	var raw []byte
	for first := true; ; first = false {
		c, err := r.token()
		if err != nil {
			return err
		}
		if first && c == '}' {
			r.pos++
			return nil
		}
		if raw, err = r.str(raw[:0]); err != nil {
			return err
		}
		if err := r.expect(':'); err != nil {
			return err
		}
		if err := fn(unquote(raw), raw); err != nil {
			return err
		}
		if done, err := r.next('}'); done || err != nil {
			return err
		}
	}
}

// elements calls fn for each element of an array. fn must read the element.
func (r *jsonReader) elements(fn func() error) error {
	if err := r.expect('['); err != nil {
		return err
	}
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	for first := true; ; first = false {
		c, err := r.token()
		if err != nil {
			return err
		}
		if first && c == ']' {
			r.pos++
			return nil
		}
		if err := fn(); err != nil {
			return err
		}
		if done, err := r.next(']'); done || err != nil {
			return err
		}
	}
}

// next takes the comma before another member or element, or the closing byte.
func (r *jsonReader) next(closing byte) (done bool, err error) {
	c, err := r.token()
	if err != nil {
		return false, err
	}
	r.pos++
	switch c {
	case ',':
		return false, nil
	case closing:
		return true, nil
	}
	return false, errSyntax
}

func (r *jsonReader) enter() error {
	if r.depth++; r.depth > maxDepth {
		return errSyntax
	}
	return nil
}

func (r *jsonReader) leave() { r.depth-- }

// value appends the next value, compact, to dst.
func (r *jsonReader) value(dst []byte) ([]byte, error) {
	c, err := r.token()
	if err != nil {
		return dst, err
	}
	switch c {
	case '{', '[':
		return r.nested(dst, c)
	case '"':
		return r.str(dst)
	case 't':
		return r.literal(dst, "true")
	case 'f':
		return r.literal(dst, "false")
	case 'n':
		return r.literal(dst, "null")
	}
	return r.number(dst)
}

func (r *jsonReader) nested(dst []byte, open byte) ([]byte, error) {
	dst = append(dst, open)
	first := true
	comma := func() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
	}
	var err error
	if open == '[' {
		err = r.elements(func() (err error) {
			comma()
			dst, err = r.value(dst)
			return err
		})
		return append(dst, ']'), err
	}
	err = r.members(func(_ string, raw []byte) (err error) {
		comma()
		dst = append(append(dst, raw...), ':')
		dst, err = r.value(dst)
		return err
	})
	return append(dst, '}'), err
}

func (r *jsonReader) literal(dst []byte, word string) ([]byte, error) {
	for i := range len(word) {
		c, err := r.peek()
		if err != nil {
			return dst, err
		}
		if c != word[i] {
			return dst, errSyntax
		}
		r.pos++
	}
	return append(dst, word...), nil
}

// number appends a number as it was written.
func (r *jsonReader) number(dst []byte) ([]byte, error) {
	start := len(dst)
	for {
		if r.pos == r.end {
			if err := r.fill(); err == io.EOF {
				break // a number may be a whole text
			} else if err != nil {
				return dst, err
			}
		}
		c := r.buf[r.pos]
		if c-'0' > 9 && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			break
		}
		dst = append(dst, c)
		r.pos++
	}
	if !validNumber(dst[start:]) {
		return dst, errSyntax
	}
	return dst, nil
}

func validNumber(s []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(s) && s[n]-'0' <= 9 {
			n++
		}
		s = s[n:]
		return n > 0
	}
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	if len(s) > 0 && s[0] == '0' {
		s = s[1:]
	} else if !digits() {
		return false
	}
	if len(s) > 0 && s[0] == '.' {
		s = s[1:]
		if !digits() {
			return false
		}
	}
	if len(s) > 0 && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return len(s) == 0
}

// str appends the next string, with its quotes and escapes as written.
func (r *jsonReader) str(dst []byte) ([]byte, error) {
	if err := r.expect('"'); err != nil {
		return dst, err
	}
	start := len(dst)
	dst = append(dst, '"')
	simple := true
	for {
		if _, err := r.peek(); err != nil {
			return dst, err
		}
		piece := r.buf[r.pos:r.end]
		quote := bytes.IndexByte(piece, '"')
		if quote >= 0 {
			piece = piece[:quote]
		}
		if esc := bytes.IndexByte(piece, '\\'); esc >= 0 {
			dst = append(dst, piece[:esc]...)
			simple = simple && plainASCII(piece[:esc])
			r.pos += esc
			var err error
			if dst, err = r.escape(dst); err != nil {
				return dst, err
			}
			continue
		}
		dst = append(dst, piece...)
		simple = simple && plainASCII(piece)
		r.pos += len(piece)
		if quote >= 0 {
			r.pos++
			break
		}
	}
	if !simple && !validText(dst[start+1:]) {
		return dst, errSyntax
	}
	return append(dst, '"'), nil
}

// plainASCII says that p holds neither control characters nor anything beyond
// ASCII, eight bytes at a time.
func plainASCII(p []byte) bool {
	const high, low = 0x8080808080808080, 0x2020202020202020
	for len(p) >= 8 {
		x := binary.LittleEndian.Uint64(p)
		if (x|(x-low))&high != 0 {
			return false
		}
		p = p[8:]
	}
	for _, c := range p {
		if c < 0x20 || c >= 0x80 {
			return false
		}
	}
	return true
}

func validText(p []byte) bool {
	for _, c := range p {
		if c < 0x20 {
			return false
		}
	}
	return utf8.Valid(p)
}

// escape appends the escape sequence that comes next; half of a pair of
// surrogates is not text.
func (r *jsonReader) escape(dst []byte) ([]byte, error) {
	r.pos++ // the backslash
	c, err := r.peek()
	if err != nil {
		return dst, err
	}
	r.pos++
	dst = append(dst, '\\', c)
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return dst, nil
	case 'u':
	default:
		return dst, errSyntax
	}
	dst, unit, err := r.hex4(dst)
	if err != nil || unit&0xf800 != 0xd800 {
		return dst, err
	}
	if unit >= 0xdc00 {
		return dst, errSyntax
	}
	if dst, err = r.literal(dst, `\u`); err != nil {
		return dst, err
	}
	dst, unit, err = r.hex4(dst)
	if err == nil && unit&0xfc00 != 0xdc00 {
		err = errSyntax
	}
	return dst, err
}

// hex4 appends four hexadecimal digits, and is their value.
func (r *jsonReader) hex4(dst []byte) ([]byte, int, error) {
	unit := 0
	for range 4 {
		c, err := r.peek()
		if err != nil {
			return dst, 0, err
		}
		switch {
		case c-'0' <= 9:
			unit = unit<<4 | int(c-'0')
		case c|0x20-'a' <= 5:
			unit = unit<<4 | int(c|0x20-'a'+10)
		default:
			return dst, 0, errSyntax
		}
		r.pos++
		dst = append(dst, c)
	}
	return dst, unit, nil
}

// unquote is the text of a string that str has read.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw) // cannot be: str let it through
	}
	return s
}

// base64 decodes the next value, a string of base64, into w as it arrives. A
// value that is no string, or no base64, is read to its end and reported by
// errBase64, so that the caller can go on; white space in it does not matter.
func (r *jsonReader) base64(w io.Writer) error {
	c, err := r.token()
	if err != nil {
		return err
	}
	if c != '"' {
		if _, err := r.value(nil); err != nil {
			return err
		}
		return errBase64
	}
	r.pos++
	d := base64Decoder{w: w}
	for {
		if _, err := r.peek(); err != nil {
			return err
		}
		piece := r.buf[r.pos:r.end]
		quote := bytes.IndexByte(piece, '"')
		if quote >= 0 {
			piece = piece[:quote]
		}
		esc := bytes.IndexByte(piece, '\\')
		if esc >= 0 {
			piece = piece[:esc]
		}
		if err := d.write(piece); err != nil {
			return err
		}
		r.pos += len(piece)
		if esc >= 0 {
			raw, err := r.escape([]byte{'"'})
			if err != nil {
				return err
			}
			if err := d.write([]byte(unquote(append(raw, '"')))); err != nil {
				return err
			}
			continue
		}
		if quote >= 0 {
			r.pos++
			return d.finish()
		}
	}
}

// base64Decoder decodes base64 that arrives in pieces of any length. After
// something that is not base64 it goes on without decoding, and finish tells.
type base64Decoder struct {
	w     io.Writer
	rest  [4]byte // characters that do not make a group of four yet
	nrest int
	ended bool // padding was seen
	bad   bool
	out   []byte
}

// decodeAtOnce is how many characters are decoded before they are written on:
// enough for the fast decoder, little enough to stay in the cache.
const decodeAtOnce = 64 << 10

func (d *base64Decoder) write(p []byte) error {
	for len(p) > 0 && !d.bad {
		if d.nrest == 0 && len(p) >= 4 {
			n := min(len(p), decodeAtOnce) &^ 3
			if err := d.decode(p[:n]); err != nil {
				return err
			}
			p = p[n:]
			continue
		}
		c := p[0]
		p = p[1:]
		if isSpace(c) {
			continue
		}
		d.rest[d.nrest] = c
		if d.nrest++; d.nrest == len(d.rest) {
			d.nrest = 0
			if err := d.decode(d.rest[:]); err != nil {
				return err
			}
		}
	}
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// decode takes whole groups of four, unless there is white space between them.
func (d *base64Decoder) decode(p []byte) error {
	if cap(d.out) < len(p) {
		d.out = make([]byte, 0, len(p))
	}
	n, err := base64.StdEncoding.Decode(d.out[:cap(d.out)], p)
	if err != nil || n < len(p)/4*3 {
		if packed := slices.DeleteFunc(slices.Clone(p), isSpace); len(packed) < len(p) {
			return d.write(packed)
		}
	}
	if err != nil || d.ended {
		d.bad = true
		return nil
	}
	d.ended = p[len(p)-1] == '='
	_, err = d.w.Write(d.out[:n])
	return err
}

func (d *base64Decoder) finish() error {
	if d.bad || d.nrest > 0 {
		return errBase64
	}
	return nil
}
