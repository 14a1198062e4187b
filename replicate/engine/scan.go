package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

var errJSON = errors.New("the answer is not the JSON that was expected")

// finder looks for the end of a JSON object, array or string in text that
// may arrive in pieces. It matches brackets and quotes and trusts the rest.
type finder struct {
	depth int
	str   bool
}

// structural marks the bytes at which depth or string state changes.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// find continues at b[n:], where b[:n] was seen by earlier calls and b starts
// where the value starts. It returns the value's end and true, or len(b) and
// false when more text is needed.
func (f *finder) find(b []byte, n int) (int, bool) {
	for {
		if f.str {
			i := bytes.IndexByte(b[n:], '"')
			if i < 0 {
				return len(b), false
			}
			n += i + 1
			if escaped(b[:n-1]) {
				continue
			}
			f.str = false
			if f.depth == 0 {
				return n, true
			}
		}
		for n < len(b) && !structural[b[n]] {
			n++
		}
		if n == len(b) {
			return n, false
		}
		switch b[n] {
		case '"':
			f.str = true
		case '{', '[':
			f.depth++
		default:
			f.depth--
			if f.depth <= 0 {
				return n + 1, true
			}
		}
		n++
	}
}

// escaped tells whether the byte after b is escaped: an odd number of
// backslashes stands before it.
func escaped(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func skipSpace(b []byte, n int) int {
	for n < len(b) && space(b[n]) {
		n++
	}
	return n
}

// skipValue returns the end of the value that starts at b[n].
func skipValue(b []byte, n int) (int, error) {
	if n >= len(b) {
		return n, errJSON
	}
	switch b[n] {
	case '{', '[', '"':
		var f finder
		end, ok := f.find(b[n:], 0)
		if !ok {
			return n, errJSON
		}
		return n + end, nil
	}
	end := n
	for end < len(b) && !delimiter(b[end]) {
		end++
	}
	if end == n {
		return n, errJSON
	}
	return end, nil
}

func delimiter(c byte) bool { return c == ',' || c == ']' || c == '}' || c == ':' || space(c) }

// members calls visit with every member of a JSON object: the key between its
// quotes and the value as written. It stops early when visit returns false.
func members(obj []byte, visit func(key, value []byte) bool) error {
	n := skipSpace(obj, 0)
	if n >= len(obj) || obj[n] != '{' {
		return errJSON
	}
	n = skipSpace(obj, n+1)
	if n < len(obj) && obj[n] == '}' {
		return nil
	}
	for {
		if n >= len(obj) || obj[n] != '"' {
			return errJSON
		}
		end, err := skipValue(obj, n)
		if err != nil {
			return err
		}
		key := obj[n+1 : end-1]
		n = skipSpace(obj, end)
		if n >= len(obj) || obj[n] != ':' {
			return errJSON
		}
		n = skipSpace(obj, n+1)
		if end, err = skipValue(obj, n); err != nil {
			return err
		}
		if !visit(key, obj[n:end]) {
			return nil
		}
		n = skipSpace(obj, end)
		if n >= len(obj) {
			return errJSON
		}
		if obj[n] == '}' {
			return nil
		}
		if obj[n] != ',' {
			return errJSON
		}
		n = skipSpace(obj, n+1)
	}
}

// items calls visit with every element of a JSON array. It stops early when
// visit returns false.
func items(arr []byte, visit func(value []byte) bool) error {
	n := skipSpace(arr, 0)
	if n >= len(arr) || arr[n] != '[' {
		return errJSON
	}
	n = skipSpace(arr, n+1)
	if n < len(arr) && arr[n] == ']' {
		return nil
	}
	for {
		end, err := skipValue(arr, n)
		if err != nil {
			return err
		}
		if !visit(arr[n:end]) {
			return nil
		}
		n = skipSpace(arr, end)
		if n >= len(arr) {
			return errJSON
		}
		if arr[n] == ']' {
			return nil
		}
		if arr[n] != ',' {
			return errJSON
		}
		n = skipSpace(arr, n+1)
	}
}

// text decodes a JSON string; of anything else it returns the JSON.
func text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return string(raw)
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// stream reads JSON values from r one at a time.
type stream struct {
	r        io.Reader
	buf      []byte
	pos, end int // buf[pos:end] is read from r and not yet used
}

// streamBuffer is the room a stream starts with; it grows to the largest
// value.
const streamBuffer = 256 << 10

func newStream(r io.Reader) *stream {
	return &stream{r: r, buf: make([]byte, streamBuffer)}
}

// fill reads more. It makes room by moving the unused text to the front, or
// by growing when that fills the buffer.
func (s *stream) fill() error {
	if s.pos > 0 && s.end == len(s.buf) {
		copy(s.buf, s.buf[s.pos:s.end])
		s.end -= s.pos
		s.pos = 0
	}
	if s.end == len(s.buf) {
		grown := make([]byte, 2*len(s.buf))
		copy(grown, s.buf[:s.end])
		s.buf = grown
	}
	n, err := s.r.Read(s.buf[s.end:])
	s.end += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// peek returns the next byte that is not white space, without using it.
func (s *stream) peek() (byte, error) {
	for {
		for s.pos < s.end {
			if c := s.buf[s.pos]; !space(c) {
				return c, nil
			}
			s.pos++
		}
		s.pos, s.end = 0, 0
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// value returns the next value. It is valid until the next call.
func (s *stream) value() ([]byte, error) {
	c, err := s.peek()
	if err != nil {
		return nil, err
	}
	if c != '{' && c != '[' && c != '"' {
		return s.scalar()
	}
	var f finder
	n := 0
	for {
		end, ok := f.find(s.buf[s.pos:s.end], n)
		if ok {
			v := s.buf[s.pos : s.pos+end]
			s.pos += end
			return v, nil
		}
		n = end
		if err := s.fill(); err != nil {
			return nil, unexpected(err)
		}
	}
}

func (s *stream) scalar() ([]byte, error) {
	n := 0
	for {
		for ; s.pos+n < s.end; n++ {
			if delimiter(s.buf[s.pos+n]) {
				if n == 0 {
					return nil, errJSON
				}
				v := s.buf[s.pos : s.pos+n]
				s.pos += n
				return v, nil
			}
		}
		if err := s.fill(); err != nil {
			if err == io.EOF && n > 0 {
				v := s.buf[s.pos : s.pos+n]
				s.pos += n
				return v, nil
			}
			return nil, unexpected(err)
		}
	}
}

// whole tells whether a whole line is waiting, so that value does not block.
func (s *stream) whole() bool {
	return bytes.IndexByte(bytes.TrimLeft(s.buf[s.pos:s.end], " \r\n\t"), '\n') >= 0
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// results hands out the elements of the array under the key "results" of one
// JSON object: the shape of _changes and of _bulk_get.
type results struct {
	s     *stream
	state int
	// tail has the object's other members, such as last_seq.
	tail map[string]json.RawMessage
}

const (
	beforeObject = iota
	inObject
	inArray
	afterObject
)

func newResults(r io.Reader) *results {
	return &results{s: newStream(r), tail: map[string]json.RawMessage{}}
}

// next returns the next element, valid until the next call, and io.EOF after
// the object's end.
func (r *results) next() ([]byte, error) {
	for {
		c, err := r.s.peek()
		if err != nil {
			if r.state == afterObject {
				return nil, err
			}
			return nil, unexpected(err)
		}
		switch r.state {
		case beforeObject:
			if c != '{' {
				return nil, errJSON
			}
			r.s.pos++
			r.state = inObject
		case inObject:
			if err := r.member(c); err != nil {
				return nil, err
			}
		case inArray:
			switch c {
			case ']':
				r.s.pos++
				r.state = inObject
			case ',':
				r.s.pos++
			default:
				return r.s.value()
			}
		case afterObject:
			return nil, io.EOF
		}
	}
}

func (r *results) member(c byte) error {
	switch c {
	case '}':
		r.s.pos++
		r.state = afterObject
		return nil
	case ',':
		r.s.pos++
		return nil
	case '"':
	default:
		return errJSON
	}
	raw, err := r.s.value()
	if err != nil {
		return err
	}
	key := text(raw)
	if c, err = r.s.peek(); err != nil {
		return unexpected(err)
	}
	if c != ':' {
		return errJSON
	}
	r.s.pos++
	if c, err = r.s.peek(); err != nil {
		return unexpected(err)
	}
	if key == "results" && c == '[' {
		r.s.pos++
		r.state = inArray
		return nil
	}
	v, err := r.s.value()
	if err != nil {
		return err
	}
	r.tail[key] = bytes.Clone(v)
	return nil
}
