package servertest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"
)

// Request is one request as it came over the wire.
type Request struct {
	Method string
	Target string      // path and query, escaped as they were sent
	Header http.Header // all of it, Host and Transfer-Encoding too
	Head   []byte      // request line and header, to the empty line, byte for byte
	Body   []byte      // without chunking; only Record keeps it
	Bytes  int64       // of head and body on the wire, chunking included
}

// requestReader reads the requests of one connection.
type requestReader struct {
	counted  *countingReader
	buffered *bufio.Reader
}

func newRequestReader(source io.Reader) *requestReader {
	counted := &countingReader{source: source}
	return &requestReader{counted, bufio.NewReaderSize(counted, 256<<10)}
}

// taken is how many bytes of the connection belong to what was read so far.
func (r *requestReader) taken() int64 { return r.counted.n - int64(r.buffered.Buffered()) }

// head reads a request up to its body. It returns io.EOF where the connection
// ends instead of starting another request.
func (r *requestReader) head() (Request, error) {
	start := r.taken()
	head, err := r.lines()
	if err != nil {
		return Request{}, err
	}
	line, header, _ := bytes.Cut(head, []byte("\r\n"))
	words := strings.Split(string(line), " ")
	if len(words) != 3 {
		return Request{}, fmt.Errorf("read a request: %q is no request line", line)
	}
	fields, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(header))).ReadMIMEHeader()
	if err != nil {
		return Request{}, fmt.Errorf("read a request: header: %w", err)
	}
	return Request{
		Method: words[0],
		Target: words[1],
		Header: http.Header(fields),
		Head:   head,
		Bytes:  r.taken() - start,
	}, nil
}

// body copies the body that follows the head, without its chunking, and adds
// what it took on the wire to request.Bytes, also when it ends too early.
func (r *requestReader) body(to io.Writer, request *Request) error {
	start := r.taken()
	defer func() { request.Bytes += r.taken() - start }()
	if request.Header.Get("Transfer-Encoding") == "chunked" {
		if _, err := io.Copy(to, httputil.NewChunkedReader(r.buffered)); err != nil {
			return fmt.Errorf("read a chunked body: %w", err)
		}
		_, err := r.lines() // the trailer: at least the empty line
		return err
	}
	text := request.Header.Get("Content-Length")
	if text == "" {
		return nil
	}
	length, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("read a body: Content-Length: %w", err)
	}
	if n, err := io.CopyN(to, r.buffered, length); err != nil {
		return fmt.Errorf("read a body: %d bytes of %d: %w", n, length, err)
	}
	return nil
}

// lines reads lines up to and with an empty one.
func (r *requestReader) lines() ([]byte, error) {
	var all []byte
	for {
		line, err := r.buffered.ReadSlice('\n')
		all = append(all, line...)
		if err != nil {
			if errors.Is(err, io.EOF) && len(all) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if string(line) == "\r\n" {
			return all, nil
		}
	}
}

type countingReader struct {
	source io.Reader
	n      int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.source.Read(p)
	c.n += int64(n)
	return n, err
}
