package engine

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// stubs copies a document whose attachments came as stubs: each is read with
// a request of its own when its turn comes.
func (c *copier) stubs(ctx context.Context, doc []byte) error {
	m, err := readMeta(doc)
	if err != nil {
		return fmt.Errorf("read a document: %w", err)
	}
	if m.attachments == nil {
		return c.pass(ctx, doc, &m)
	}
	all, err := readAttachments(m.attachments)
	if err != nil {
		return fmt.Errorf("read the attachments of a document: %w", err)
	}
	known := m.known(c.v.ancestors)
	var atts []part
	var length int64
	for _, a := range all {
		if a.inline || a.revpos > 0 && a.revpos <= known {
			continue
		}
		// A GET of the attachment gives its content, never the stored form.
		a.encoding, a.encoded = "", 0
		content := c.open(ctx, text(m.id), m.rev, a.name)
		defer content.Close()
		atts = append(atts, part{attachment: a, content: content})
		length += a.length
	}
	switch {
	case len(atts) == 0:
		return c.pass(ctx, doc, &m)
	case length == 0:
		return c.inline(ctx, doc, &m, all, atts)
	}
	return c.put(ctx, withAttachments(doc, &m, all, atts, nil), &m, atts)
}

// open reads an attachment from the source, asking for it at the first Read.
func (c *copier) open(ctx context.Context, id, rev, name string) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	return &attachmentReader{PipeReader: r, cancel: cancel, start: func() {
		get := request{
			method: http.MethodGet, path: docPath(id) + "/" + escape(name),
			query: url.Values{"rev": {rev}}, accept: "*/*",
			urgent: true, // the document's own request is still open
		}
		err := c.w.r.source.once(ctx, get, func(res *http.Response) error {
			_, err := io.Copy(w, res.Body)
			return err
		})
		w.CloseWithError(err) // nil is EOF
	}}
}

type attachmentReader struct {
	*io.PipeReader
	cancel context.CancelFunc
	start  func()
}

func (a *attachmentReader) Read(p []byte) (int, error) {
	if a.start != nil {
		go a.start()
		a.start = nil
	}
	return a.PipeReader.Read(p)
}

func (a *attachmentReader) Close() error {
	a.cancel()
	return a.PipeReader.Close()
}
