package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
)

// mixed reads multipart/mixed: for each revision either a JSON document, or a
// multipart/related of the document and its attachments (CouchDB
// documentation, "GET /{db}/{docid}", "Retrieving multiple revisions").
func (c *copier) mixed(ctx context.Context, body io.Reader, boundary string) error {
	parts := multipart.NewReader(body, boundary)
	for {
		p, err := parts.NextRawPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return broken(err)
		}
		kind, params, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if err != nil {
			return fmt.Errorf("read a part of the answer: Content-Type %q: %w", p.Header.Get("Content-Type"), err)
		}
		switch {
		case params["error"] == "true":
			// The revision stays open and is reported at the end.
		case kind == "multipart/related":
			err = c.related(ctx, p, params["boundary"])
		default:
			err = c.plain(ctx, p)
		}
		if err != nil {
			return err
		}
	}
}

// broken marks a multipart message that ended early as a lost connection.
func broken(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read a part of the answer: %w", err)
}

// plain reads a document without attachments that would have to be sent.
func (c *copier) plain(ctx context.Context, p io.Reader) error {
	doc, err := io.ReadAll(p)
	if err != nil {
		return broken(err)
	}
	doc = bytes.TrimSpace(doc)
	m, err := readMeta(doc)
	if err != nil {
		return fmt.Errorf("read a document: %w", err)
	}
	return c.pass(ctx, doc, &m)
}

// related reads a document and its attachments, and sends them on.
func (c *copier) related(ctx context.Context, body io.Reader, boundary string) error {
	parts := multipart.NewReader(body, boundary)
	first, err := parts.NextRawPart()
	if err != nil {
		return broken(err)
	}
	doc, err := io.ReadAll(first)
	if err != nil {
		return broken(err)
	}
	doc = bytes.TrimSpace(doc)
	m, err := readMeta(doc)
	if err != nil {
		return fmt.Errorf("read a document: %w", err)
	}
	all, err := readAttachments(m.attachments)
	if err != nil {
		return fmt.Errorf("read the attachments of a document: %w", err)
	}
	var sum int64
	var atts []part
	for _, a := range all {
		if !a.follows {
			continue
		}
		sum += a.size()
		atts = append(atts, part{attachment: a, content: &lazyPart{parts: parts}})
	}
	if len(atts) == 0 {
		return c.pass(ctx, doc, &m)
	}
	if packed(all) && c.w.r.plainTarget() {
		if atts, err = unpack(atts); err != nil {
			return err
		}
		doc = withAttachments(doc, &m, all, atts, nil)
	}
	if sum <= inlineBytes && !c.alone && !packed(all) {
		return c.inline(ctx, doc, &m, all, atts)
	}
	return c.put(ctx, doc, &m, atts)
}

// inline puts small attachments into the document.
func (c *copier) inline(ctx context.Context, doc []byte, m *meta, all []attachment, atts []part) error {
	data := make(map[string][]byte, len(atts))
	for _, a := range atts {
		b, err := io.ReadAll(a.content)
		if err != nil {
			return broken(err)
		}
		if int64(len(b)) != a.length {
			return fmt.Errorf("read attachment %q: %d bytes of %d: %w", a.name, len(b), a.length, io.ErrUnexpectedEOF)
		}
		data[a.name] = b
	}
	return c.pass(ctx, withAttachments(doc, m, all, nil, data), m)
}

// packed tells whether an attachment that follows is stored compressed.
func packed(all []attachment) bool {
	for _, a := range all {
		if a.follows && a.encoding != "" {
			return true
		}
	}
	return false
}

// lazyPart is a part that is opened when it is first read: the one before it
// was read to its end by then.
type lazyPart struct {
	parts *multipart.Reader
	p     *multipart.Part
}

func (l *lazyPart) Read(b []byte) (int, error) {
	if l.p == nil {
		p, err := l.parts.NextRawPart()
		if err != nil {
			return 0, broken(err)
		}
		l.p = p
	}
	return l.p.Read(b)
}

// withAttachments writes the document with another _attachments: those in
// parts follow as they are described there, those in data stand in it as
// base64, the rest stays.
func withAttachments(doc []byte, m *meta, all []attachment, parts []part, data map[string][]byte) []byte {
	size := len(doc) + 256
	for _, b := range data {
		size += base64.StdEncoding.EncodedLen(len(b))
	}
	at := cap(doc) - cap(m.attachments) // the one is a part of the other
	b := append(make([]byte, 0, size), doc[:at]...)
	b = append(b, '{')
	follow := map[string]*part{}
	for i := range parts {
		follow[parts[i].name] = &parts[i]
	}
	for i, a := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, quote(a.name)...), ':')
		content, inline := data[a.name]
		p := follow[a.name]
		switch {
		case inline:
			b = a.head(b)
			b = append(b, `"data":"`...)
			b = base64.StdEncoding.AppendEncode(b, content)
			b = append(b, `"}`...)
		case p != nil:
			b = a.head(b)
			b = fmt.Appendf(b, `"follows":true,"length":%d}`, p.length)
		default:
			b = append(b, a.raw...)
		}
	}
	b = append(b, '}')
	return append(b, doc[at+len(m.attachments):]...)
}

// head starts an entry with what stays when the content travels another way.
// The digest is left out: it may be that of the compressed content.
func (a *attachment) head(b []byte) []byte {
	b = append(b, '{')
	if a.contentType != nil {
		b = append(append(append(b, `"content_type":`...), a.contentType...), ',')
	}
	if a.revpos > 0 {
		b = fmt.Appendf(b, `"revpos":%d,`, a.revpos)
	}
	return b
}
