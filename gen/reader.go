package gen

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// BufferSize is the length in bytes of the buffers in which content is best
// read: several blocks of text, and runs of random content as long as its
// rings allow.
const BufferSize = 256 << 10

// buffers lends the buffers that content passes through on its way to a
// writer.
var buffers = sync.Pool{New: func() any { return new([BufferSize]byte) }}

// Reader reads the bytes of an attachment from any offset. Read allocates
// nothing. ReadAt may be called by several goroutines at a time.
type Reader struct {
	src  source
	size int64
	pos  int64
}

var (
	_ io.ReadSeeker = (*Reader)(nil)
	_ io.ReaderAt   = (*Reader)(nil)
	_ io.WriterTo   = (*Reader)(nil)
)

// Size returns the length of the whole content in bytes, whatever was read.
func (r *Reader) Size() int64 { return r.size }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.pos >= r.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), r.size-r.pos))
	r.src.fill(p[:n], r.pos)
	r.pos += int64(n)
	return n, nil
}

// ReadAt implements io.ReaderAt.
func (r *Reader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read content at offset %d: before its start", off)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if off >= r.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), r.size-off))
	r.src.fill(p[:n], off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Seek implements io.Seeker. Reading behind the end gives io.EOF.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += r.pos
	case io.SeekEnd:
		offset += r.size
	default:
		return 0, fmt.Errorf("seek in content: unknown whence %d", whence)
	}
	if offset < 0 {
		return 0, errors.New("seek in content: before its start")
	}
	r.pos = offset
	return offset, nil
}

// WriteTo implements io.WriterTo: it writes what Read has not read yet, in
// pieces of at most BufferSize.
func (r *Reader) WriteTo(w io.Writer) (int64, error) {
	buf := buffers.Get().(*[BufferSize]byte)
	defer buffers.Put(buf)
	var written int64
	for r.pos < r.size {
		piece := buf[:min(BufferSize, r.size-r.pos)]
		r.src.fill(piece, r.pos)
		n, err := w.Write(piece)
		r.pos += int64(n)
		written += int64(n)
		if err != nil {
			return written, err
		}
		if n < len(piece) {
			return written, io.ErrShortWrite
		}
	}
	return written, nil
}
