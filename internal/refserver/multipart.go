package refserver

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/textproto"
	"strings"
)

// partReader takes a multipart body apart as it arrives. It is itself the reader
// of the part that nextPart has come to.
type partReader struct {
	src   io.Reader
	buf   []byte // from jsonBuffers
	pos   int
	end   int
	delim []byte // what ends a part: CR LF, two dashes, the boundary
	ready int    // bytes from pos on that are known to be the part's
	over  bool   // the part ends after them
	err   error  // of src
}

var (
	errMultipart = badRequest("malformed multipart body")
	errNoBody    = badRequest("no multipart boundary in the Content-Type")
)

// maxPartHeader is how long the headers of a part may be.
const maxPartHeader = 64 << 10

// newPartReader reads body, whose Content-Type names the boundary. The caller
// calls release when done.
func newPartReader(body io.Reader, contentType string) (*partReader, error) {
	_, params, err := mime.ParseMediaType(contentType)
	boundary := params["boundary"]
	if err != nil || boundary == "" || len(boundary) > 1024 {
		return nil, errNoBody
	}
	m := &partReader{src: body, delim: []byte("\r\n--" + boundary)}
	m.buf = jsonBuffers.Get().(*[jsonBufferSize]byte)[:]
	m.end = copy(m.buf, "\r\n") // the first boundary has no part before it
	return m, nil
}

func (m *partReader) release() {
	jsonBuffers.Put((*[jsonBufferSize]byte)(m.buf))
	m.buf = nil
}

// more reads on, keeping what is unread.
func (m *partReader) more() error {
	if m.err != nil {
		return m.err
	}
	m.end = copy(m.buf, m.buf[m.pos:m.end])
	m.pos = 0
	if m.end == len(m.buf) {
		return errMultipart
	}
	for range 100 {
		n, err := m.src.Read(m.buf[m.end:])
		m.end += n
		if err == io.EOF {
			err = errMultipart
		}
		m.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// look finds out how much of the part is at hand; io.EOF at the part's end.
func (m *partReader) look() error {
	for m.ready == 0 && !m.over {
		unread := m.buf[m.pos:m.end]
		if i := bytes.Index(unread, m.delim); i >= 0 {
			m.ready, m.over = i, true
		} else if safe := len(unread) - len(m.delim) + 1; safe > 0 {
			m.ready = safe
		} else if err := m.more(); err != nil {
			return err
		}
	}
	if m.ready == 0 {
		return io.EOF
	}
	return nil
}

// chunk is the next piece of the part, good until the next call; io.EOF at the
// part's end.
func (m *partReader) chunk() ([]byte, error) {
	if err := m.look(); err != nil {
		return nil, err
	}
	c := m.buf[m.pos : m.pos+m.ready]
	m.pos += m.ready
	m.ready = 0
	return c, nil
}

// Read reads from the part.
func (m *partReader) Read(p []byte) (int, error) {
	if err := m.look(); err != nil {
		return 0, err
	}
	n := copy(p, m.buf[m.pos:m.pos+m.ready])
	m.pos += n
	m.ready -= n
	return n, nil
}

// copyTo writes the rest of the part to w.
func (m *partReader) copyTo(w io.Writer) error {
	for {
		c, err := m.chunk()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := w.Write(c); err != nil {
			return err
		}
	}
}

// nextPart leaves the part it is in and returns the headers of the next; io.EOF
// after the last.
func (m *partReader) nextPart() (textproto.MIMEHeader, error) {
	for {
		if _, err := m.chunk(); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
	}
	m.pos += len(m.delim)
	m.over = false
	for m.end-m.pos < 2 {
		if err := m.more(); err != nil {
			return nil, err
		}
	}
	if string(m.buf[m.pos:m.pos+2]) == "--" {
		return nil, io.EOF
	}
	return m.header()
}

func (m *partReader) header() (textproto.MIMEHeader, error) {
	h := textproto.MIMEHeader{}
	for first, total := true, 0; ; first = false {
		i := bytes.Index(m.buf[m.pos:m.end], []byte("\r\n"))
		if i < 0 {
			if m.end-m.pos > maxPartHeader {
				return nil, errMultipart
			}
			if err := m.more(); err != nil {
				return nil, err
			}
			continue
		}
		line := string(m.buf[m.pos : m.pos+i])
		if total += i; total > maxPartHeader {
			return nil, errMultipart
		}
		switch name, value, ok := strings.Cut(line, ":"); {
		case first: // what follows the boundary on its line
			if strings.TrimSpace(line) != "" {
				return nil, errMultipart
			}
		case line == "":
			m.pos += 2
			return h, nil
		case !ok:
			return nil, badRequest("bad part header")
		default:
			h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
		m.pos += i + 2
	}
}

// readRelated reads a document and its attachments from multipart/related: the
// JSON, then one part for each attachment that it announces, in its order
// (facts 4 and 5).
func (x *exchange) readRelated(db *database) (p *parsedDoc, err error) {
	if x.r.ContentLength > x.limits.requestSize {
		return nil, errRequestTooLarge
	}
	if x.s.opts.Discard {
		return &parsedDoc{}, discard(x.r.Body)
	}
	m, err := newPartReader(x.r.Body, x.r.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	defer m.release()
	if _, err := m.nextPart(); err != nil {
		return nil, err
	}
	j := newJSONReader(m)
	d := docReader{db: db, limits: *x.limits, json: j}
	p, err = d.document()
	if err == nil {
		err = j.finish()
	}
	j.release()
	if errors.Is(err, errSyntax) {
		err = errBadJSON
	}
	if err == nil {
		err = p.err
	}
	for k := 0; err == nil && k < len(p.follows); k++ {
		err = d.follow(m, &p.atts[p.follows[k]])
	}
	if err == nil {
		err = discard(x.r.Body) // the last boundary and what is after it
	}
	return p, err
}

var (
	errShorter = badRequest("attachment shorter than expected")
	errLonger  = badRequest("attachment longer than expected")
)

// follow reads the next part as the bytes of a, whose lengths, encoding and
// digest its JSON has announced.
func (d *docReader) follow(m *partReader, a *newAttachment) error {
	if a.stored < 0 {
		return badRequest("the length of attachment " + a.name + " is missing")
	}
	if _, err := m.nextPart(); err == io.EOF {
		return errShorter
	} else if err != nil {
		return err
	}
	compress := a.encoding == identity && d.limits.compressible.MatchString(a.contentType)
	blob, err := newBlobWriter(d.db.blobDir(), d.db.fsync, a.name, d.limits.attachmentSize, compress)
	if err != nil {
		return err
	}
	announced := a.attachment
	if err = m.copyTo(blob); err == nil {
		err = blob.finish()
	}
	if err == nil {
		a.data = blob
		err = checkAnnounced(&announced, blob)
	}
	if err != nil {
		blob.discard()
		a.data = nil
		return err
	}
	blob.describe(&a.attachment)
	if announced.encoding == gzipped {
		a.encoding, a.length = gzipped, announced.length
	}
	return nil
}

// checkAnnounced holds the bytes that came against what the JSON said of them.
func checkAnnounced(a *attachment, blob *blobWriter) error {
	switch {
	case blob.length < a.stored:
		return errShorter
	case blob.length > a.stored:
		return errLonger
	}
	var none [16]byte
	sum := blob.sum
	if blob.plain != nil {
		sum = blob.plain
	}
	if a.digest != none && !bytes.Equal(sum.Sum(nil), a.digest[:]) {
		return errMD5
	}
	return nil
}
