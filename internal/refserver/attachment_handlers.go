package refserver

import (
	"io"
	"net/http"
	"strconv"
	"strings"
)

// attachment serves /{db}/{doc}/{attachment}.
func (x *exchange) attachment(db *database, id, name string) error {
	switch x.method {
	case http.MethodGet:
		return x.getAttachment(db, id, name)
	case http.MethodPut:
		return x.putAttachment(db, id, name)
	case http.MethodDelete:
		return x.deleteAttachment(db, id, name)
	}
	return x.notAllowed("DELETE,GET,HEAD,PUT")
}

var errNoAttachment = notFound("Document is missing attachment")

func (x *exchange) getAttachment(db *database, id, name string) error {
	o, err := x.docOptions()
	if err != nil {
		return err
	}
	d, err := x.open(db, id, o)
	if err != nil {
		return err
	}
	a := findAttachment(d.atts, name)
	if a == nil {
		return errNoAttachment
	}
	etag := `"` + a.digestText() + `"`
	if x.notModified(etag) {
		return nil
	}
	x.common()
	x.setHeader("ETag", etag)
	x.setHeader("Cache-Control", "must-revalidate")
	x.setHeader("Content-Type", a.contentType)
	x.setHeader("Content-Security-Policy", "sandbox")
	if a.encoding == identity {
		x.setHeader("Accept-Ranges", "bytes")
		return x.sendIdentity(db, a)
	}
	x.setHeader("Accept-Ranges", "none")
	length, open := a.length, db.openDecoded
	switch {
	case x.acceptsGzip():
		x.setHeader("Content-Encoding", a.encoding.String())
		length, open = a.stored, db.openBlob
	case a.length == a.stored:
		length = -1 // it came gzipped: how much it is decoded is not known
	}
	src, err := open(a)
	if err != nil {
		return err
	}
	defer src.Close()
	if length >= 0 {
		x.setHeader("Content-Length", strconv.FormatInt(length, 10))
	}
	return x.copy(http.StatusOK, src)
}

// copy sends a body.
func (x *exchange) copy(status int, src io.Reader) error {
	x.started = true
	x.w.WriteHeader(status)
	if x.r.Method == http.MethodHead {
		return nil
	}
	_, err := io.Copy(x.w, src) // sendfile, when src is a file
	return err
}

// sendIdentity sends an attachment that is stored as it is, or the ranges of it
// that are asked for.
func (x *exchange) sendIdentity(db *database, a *attachment) error {
	ranges, err := parseRanges(x.r.Header.Get("Range"), a.stored)
	if err != nil {
		return err
	}
	blob, err := db.openBlob(a)
	if err != nil {
		return err
	}
	defer blob.Close()
	if len(ranges) == 0 || len(ranges) >= maxRanges {
		x.setHeader("Content-Length", strconv.FormatInt(a.stored, 10))
		return x.copy(http.StatusOK, blob)
	}
	src := blob.(io.ReadSeeker) // a file or smallBytes
	if len(ranges) == 1 {
		r := ranges[0]
		if _, err := src.Seek(r.from, io.SeekStart); err != nil {
			return err
		}
		x.setHeader("Content-Range", r.contentRange(a.stored))
		x.setHeader("Content-Length", strconv.FormatInt(r.length(), 10))
		return x.copy(http.StatusPartialContent, io.LimitReader(src, r.length()))
	}
	boundary := randomHex(16)
	for _, name := range []string{"Accept-Ranges", "Cache-Control", "Content-Security-Policy", "ETag"} {
		delete(x.w.Header(), name) // CouchDB sends none of them with several parts
	}
	x.setHeader("Content-Type", `multipart/byteranges; boundary="`+boundary+`"`)
	w := x.begin(http.StatusPartialContent)
	w.WriteString("--" + boundary)
	for _, r := range ranges {
		if _, err := src.Seek(r.from, io.SeekStart); err != nil {
			return err
		}
		w.WriteString("\r\nContent-Type: " + a.contentType + "\r\nContent-Range: " + r.contentRange(a.stored) + "\r\n\r\n")
		if _, err := io.CopyN(w, src, r.length()); err != nil {
			return err
		}
		w.WriteString("\r\n--" + boundary)
	}
	w.WriteString("--")
	return w.Flush()
}

func (x *exchange) putAttachment(db *database, id, name string) error {
	if err := checkAttachmentName(name); err != nil {
		return err
	}
	a := newAttachment{attachment: attachment{name: name, contentType: x.r.Header.Get("Content-Type")}}
	if a.contentType == "" {
		a.contentType = defaultContentType
	}
	enc := identity
	switch strings.ToLower(strings.TrimSpace(x.r.Header.Get("Content-Encoding"))) {
	case "", "identity":
	case "gzip":
		enc = gzipped
	default:
		return badContentType("Only gzip and identity content-encodings are supported")
	}
	if x.r.ContentLength > x.limits.attachmentSize {
		return attachmentTooLarge(name)
	}
	base, named, err := x.namedRev()
	if err != nil {
		return err
	}
	if err := checkDocID(id); err != nil {
		return err
	}
	e := &edit{id: id}
	if x.s.opts.Discard {
		e.pos, e.ids = base.pos, []string{base.id}
		if err := discard(x.r.Body); err != nil {
			return err
		}
		return x.answerAttachment(db, e, name)
	}
	if named {
		if e, err = db.editOnto(id, base, name); err != nil {
			return err
		}
	}
	compress := enc == identity && x.limits.compressible.MatchString(a.contentType)
	blob, err := newBlobWriter(db.blobDir(), db.fsync, name, x.limits.attachmentSize, compress)
	if err != nil {
		return err
	}
	if enc == gzipped {
		blob.encoded = gzipped
	}
	if err = copyPooled(blob, x.r.Body); err == nil {
		err = blob.finish()
	}
	if err != nil {
		blob.discard()
		return err
	}
	blob.describe(&a.attachment)
	a.data = blob
	e.atts = append([]newAttachment{a}, e.atts...)
	return x.answerAttachment(db, e, name)
}

// copyPooled copies a body in large pieces: net/http hands those through without
// copying them, and the hash and the disk like them.
func copyPooled(dst io.Writer, src io.Reader) error {
	buf := jsonBuffers.Get().(*[jsonBufferSize]byte)
	defer jsonBuffers.Put(buf)
	for {
		n, err := src.Read(buf[:])
		if n > 0 {
			if _, err := dst.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// discard reads a body to its end.
func discard(src io.Reader) error { return copyPooled(io.Discard, src) }

func (x *exchange) answerAttachment(db *database, e *edit, name string) error {
	r, err := x.commit(db, e)
	if err != nil {
		return err
	}
	if x.method == http.MethodDelete {
		return x.json(http.StatusOK, object{{"ok", true}, {"id", e.id}, {"rev", r.String()}})
	}
	x.setHeader("Location", x.location(db.name, e.id, name))
	return x.json(http.StatusCreated, object{{"ok", true}, {"id", e.id}, {"rev", r.String()}})
}

// errMissingRev is how CouchDB answers an attachment for a revision that is not
// there.
var errMissingRev = &apiError{http.StatusConflict, "not_found", "missing_rev"}

// editOnto is an edit that keeps what revision r says and holds, but for the
// attachment called name.
func (db *database) editOnto(id string, r rev, name string) (*edit, error) {
	d, err := db.revision(id, r, docOptions{})
	if err == errMissing {
		return nil, errMissingRev
	}
	if err != nil {
		return nil, err
	}
	e := &edit{id: id, pos: d.pos, ids: d.ids[:1], deleted: d.deleted, body: d.body}
	for _, a := range d.atts {
		if a.name != name {
			e.atts = append(e.atts, newAttachment{attachment: a})
		}
	}
	return e, nil
}

func (x *exchange) deleteAttachment(db *database, id, name string) error {
	if err := checkAttachmentName(name); err != nil {
		return err
	}
	base, named, err := x.namedRev()
	if err != nil {
		return err
	}
	e := &edit{id: id}
	if !named {
		d, err := x.open(db, id, docOptions{})
		if err != nil {
			return err
		}
		if findAttachment(d.atts, name) == nil {
			return errNoAttachment
		}
	} else if e, err = x.withoutAttachment(db, id, base, name); err != nil {
		return err
	}
	return x.answerAttachment(db, e, name)
}

func (x *exchange) withoutAttachment(db *database, id string, base rev, name string) (*edit, error) {
	d, err := db.revision(id, base, docOptions{})
	if err == errMissing {
		return nil, errMissingRev
	}
	if err != nil {
		return nil, err
	}
	if findAttachment(d.atts, name) == nil {
		return nil, errNoAttachment
	}
	return db.editOnto(id, base, name)
}
