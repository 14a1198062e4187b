package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// bulk reads wants by one _bulk_get, whose answer it cuts into documents
// while it arrives. It returns what is left to be read another way: documents
// with attachments that the target lacks, unless they were asked for, and
// revisions that the source did not find.
func (w *reader) bulk(ctx context.Context, wants []want, attachments bool) (rest []want, err error) {
	open := newOpenWants(wants)
	w.r.count.bulkAttempts.Add(int64(open.left))
	m := request{
		method: http.MethodPost, path: "_bulk_get",
		query: url.Values{"revs": {"true"}, "latest": {"true"}, "attachments": {strconv.FormatBool(attachments)}},
	}
	if attachments {
		// CouchDB sends parts only to those who do not take JSON.
		m.accept = "multipart/mixed"
	}
	err = w.r.source.again(ctx, func() (bool, error) {
		before := open.left
		m.body = open.body(attachments)
		err := w.r.source.once(ctx, m, func(res *http.Response) error {
			kind, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
			if err == nil && strings.HasPrefix(kind, "multipart/") {
				return mixed(res.Body, params["boundary"], func(g message) error { return w.bulkMessage(ctx, g, open) })
			}
			return w.bulkAnswer(ctx, res.Body, open, attachments, &rest)
		})
		return open.left < before, err
	})
	if err != nil && noBulkGet(err) {
		if !attachments {
			w.r.noBulkGet.Store(true)
		}
		return append(rest, open.remaining()...), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %d documents of %s: %w", len(wants), w.r.source.base, err)
	}
	return append(rest, open.remaining()...), nil
}

// noBulkGet tells whether the source does not have _bulk_get: older servers
// take the request for another one.
func noBulkGet(err error) bool {
	if errors.Is(err, errJSON) {
		return true
	}
	switch status(err) {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
		http.StatusUnsupportedMediaType, http.StatusNotImplemented:
		return true
	}
	return false
}

// bulkAnswer reads {"results":[{"id":…,"docs":[{"ok":DOC}|{"error":…},…]},…]}.
func (w *reader) bulkAnswer(ctx context.Context, body io.Reader, open *openWants, attachments bool, rest *[]want) error {
	rs := newResults(body)
	for n := 0; ; n++ {
		raw, err := rs.next()
		if err == io.EOF && n == 0 {
			return errJSON // it answered something else
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var docs [][]byte
		if err := members(raw, func(key, value []byte) bool {
			if string(key) == "docs" {
				_ = items(value, func(item []byte) bool {
					_ = members(item, func(key, value []byte) bool {
						if string(key) == "ok" && value[0] == '{' {
							docs = append(docs, value)
						}
						return true
					})
					return true
				})
			}
			return true
		}); err != nil {
			return err
		}
		for _, doc := range docs {
			if err := w.bulkDoc(ctx, doc, open, attachments, rest); err != nil {
				return err
			}
		}
	}
}

// bulkDoc passes a document on, or leaves it for another way.
func (w *reader) bulkDoc(ctx context.Context, doc []byte, open *openWants, attachments bool, rest *[]want) error {
	m, err := readMeta(doc)
	if err != nil {
		return err
	}
	v := open.waiting(&m)
	if v == nil {
		return nil // the latest revision of another want, which was passed on
	}
	open.met(&m)
	if m.attachments != nil && !attachments {
		if n, size := lacking(m.attachments, m.known(v.ancestors)); n > 0 {
			*rest = append(*rest, want{id: v.id, revs: []string{m.rev}, ancestors: v.ancestors, attBytes: size})
			return nil
		}
	}
	w.r.count.bulkDocs.Add(1)
	return w.add(ctx, w.lap, doc)
}

// bulkMessage copies a document that came with its attachments.
func (w *reader) bulkMessage(ctx context.Context, g message, open *openWants) error {
	v := open.waiting(&g.meta)
	if v == nil {
		return nil
	}
	c := &copier{w: w, lap: w.lap, v: want{id: v.id, revs: []string{g.meta.rev}, ancestors: v.ancestors}}
	if err := c.message(ctx, g); err != nil {
		return err
	}
	open.met(&g.meta)
	w.r.count.bulkDocs.Add(1)
	return nil
}

// openWants are the wants of a _bulk_get that no answer has met yet. Servers
// may answer in their order, one result for each revision or for each
// document.
type openWants struct {
	order []want
	byID  map[string]*openWant
	left  int // revisions
}

type openWant struct {
	want
	open []string // of its revs
}

func newOpenWants(wants []want) *openWants {
	o := &openWants{order: merge(slices.Clone(wants)), byID: make(map[string]*openWant, len(wants))}
	for _, v := range o.order {
		o.byID[text(v.id)] = &openWant{want: v, open: append([]string(nil), v.revs...)}
		o.left += len(v.revs)
	}
	return o
}

// waiting is the want that a document meets: its own revision is open, or
// with latest=true one that it came from. nil is none.
func (o *openWants) waiting(m *meta) *want {
	v := o.byID[text(m.id)]
	if v == nil {
		return nil
	}
	for _, rev := range v.open {
		if v.meets(m, rev) {
			return &v.want
		}
	}
	return nil
}

// met strikes what a document meets.
func (o *openWants) met(m *meta) {
	v := o.byID[text(m.id)]
	kept := v.open[:0]
	for _, rev := range v.open {
		if !v.meets(m, rev) {
			kept = append(kept, rev)
		}
	}
	o.left -= len(v.open) - len(kept)
	v.open = kept
}

// meets tells whether a document is what was asked for by rev. One that was
// asked for itself is looked at no further.
func (v *openWant) meets(m *meta, rev string) bool {
	return rev == m.rev || !slices.Contains(v.revs, m.rev) && m.descends(rev)
}

// body asks for all that is open: {"docs":[{"id":…,"rev":…,"atts_since":[…]},…]}.
// CouchDB takes atts_since as a wish for attachments, so it is only sent with
// one.
func (o *openWants) body(attachments bool) []byte {
	b := []byte(`{"docs":[`)
	first := true
	for _, v := range o.order {
		for _, rev := range o.byID[text(v.id)].open {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(append(b, `{"id":`...), v.id...)
			b = append(append(append(b, `,"rev":"`...), rev...), '"')
			if attachments && len(v.ancestors) > 0 {
				b = append(append(b, `,"atts_since":`...), revList(v.ancestors)...)
			}
			b = append(b, '}')
		}
	}
	return append(b, `]}`...)
}

// remaining is what no answer met.
func (o *openWants) remaining() []want {
	if o.left == 0 {
		return nil
	}
	var rest []want
	for _, v := range o.order {
		if open := o.byID[text(v.id)].open; len(open) > 0 {
			v.revs, v.attBytes = open, -1
			rest = append(rest, v)
		}
	}
	return rest
}
