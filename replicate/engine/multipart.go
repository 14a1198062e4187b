package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"slices"

	"github.com/segmentio/asm/base64"
)

// message is a document as it stands in a multipart answer.
type message struct {
	doc   []byte
	meta  meta
	parts *multipart.Reader // of its attachments; nil when none follow
}

// mixed reads multipart/mixed: for each revision either a JSON document, or a
// multipart/related of the document and its attachments (CouchDB
// documentation, "GET /{db}/{docid}", "Retrieving multiple revisions").
// Revisions that the server did not find are left out.
func mixed(body io.Reader, boundary string, take func(message) error) error {
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
		if params["error"] == "true" {
			continue
		}
		var m message
		var text io.Reader = p
		if kind == "multipart/related" {
			m.parts = multipart.NewReader(p, params["boundary"])
			if text, err = m.parts.NextRawPart(); err != nil {
				return broken(err)
			}
		}
		if m.doc, err = io.ReadAll(text); err != nil {
			return broken(err)
		}
		m.doc = bytes.TrimSpace(m.doc)
		if m.meta, err = readMeta(m.doc); err != nil {
			return fmt.Errorf("read a document: %w", err)
		}
		if err := take(m); err != nil {
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

// message copies a document and the attachments that follow it.
func (c *copier) message(ctx context.Context, g message) error {
	if g.parts == nil || g.meta.attachments == nil {
		return c.pass(ctx, g.doc, &g.meta)
	}
	all, err := readAttachments(g.meta.attachments)
	if err != nil {
		return fmt.Errorf("read the attachments of a document: %w", err)
	}
	var length, packed int64
	var atts []part
	for _, a := range all {
		if !a.follows {
			continue
		}
		length += a.length
		if a.encoding != "" {
			packed += a.length
		}
		atts = append(atts, part{attachment: a, content: &lazyPart{parts: g.parts}})
	}
	if len(atts) == 0 {
		return c.pass(ctx, g.doc, &g.meta)
	}
	inline := length == 0 || !c.alone && length <= inlineBytes && packed <= inlinePacked
	if packed > 0 && (inline || c.w.r.plainTarget()) {
		if err := unpack(atts); err != nil {
			return err
		}
		if !inline {
			return c.put(ctx, withAttachments(g.doc, &g.meta, all, atts, nil), &g.meta, atts)
		}
	}
	if inline {
		return c.inline(ctx, g.doc, &g.meta, all, atts)
	}
	return c.put(ctx, g.doc, &g.meta, atts)
}

// inline puts small attachments into the document, and empty ones always:
// CouchDB can wait 300 s for the content of a multipart message that has none.
func (c *copier) inline(ctx context.Context, doc []byte, m *meta, all []attachment, atts []part) error {
	data := make(map[string][]byte, len(atts))
	for _, a := range atts {
		b := make([]byte, a.length)
		if _, err := io.ReadFull(&exactly{r: a.content, name: a.name, left: a.length}, b); err != nil {
			return broken(err)
		}
		if err := ends(a.content, a.name); err != nil {
			return err
		}
		data[a.name] = b
	}
	return c.pass(ctx, withAttachments(doc, m, all, nil, data), m)
}

// ends fails when there is more than the source said: cutting it off would be
// a loss that nobody sees.
func ends(r io.Reader, name string) error {
	var more [1]byte
	switch n, err := io.ReadFull(r, more[:]); {
	case n > 0:
		return fmt.Errorf("attachment %q is longer than the source says", name)
	case err != io.EOF:
		return broken(err)
	}
	return nil
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
			b = appendBase64(b, content)
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

func appendBase64(b, content []byte) []byte {
	n := base64.StdEncoding.EncodedLen(len(content))
	b = slices.Grow(b, n)
	base64.StdEncoding.Encode(b[len(b):len(b)+n], content)
	return b[:len(b)+n]
}
