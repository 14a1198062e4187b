package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// single reads the wanted revisions of one document with GET and open_revs,
// and writes what it finds: documents whose attachments are few bytes by way
// of the write stage, others at once, streamed from source to target.
func (w *reader) single(ctx context.Context, v want) error {
	for _, v := range splitRevs(v) {
		c := &copier{w: w, v: v, lap: w.r.stages.read.lap(w.r.clock.now)}
		err := w.r.source.again(ctx, func() (bool, error) {
			before := len(c.v.revs)
			err := c.try(ctx)
			return len(c.v.revs) < before, err
		})
		c.lap.mark(&c.lap.busy)
		if err != nil {
			return fmt.Errorf("copy document %q from %s: %w", text(v.id), w.r.source.base, err)
		}
	}
	return nil
}

// urlRevs keeps open_revs and atts_since well below the 8 KiB that servers
// and proxies allow a URL.
const urlRevs = 50

func splitRevs(v want) []want {
	var parts []want
	for len(v.revs) > urlRevs {
		part := v
		part.revs, v.revs = v.revs[:urlRevs], v.revs[urlRevs:]
		parts = append(parts, part)
	}
	return append(parts, v)
}

// copier copies the revisions of one document.
type copier struct {
	w      *reader
	v      want // what is not copied yet
	lap    *lap
	alone  bool // nothing may go by way of the write stage
	expect bool // ask the target before sending, to see why it hung up
}

func (c *copier) try(ctx context.Context) error {
	q := url.Values{
		"revs":      {"true"},
		"latest":    {"true"},
		"open_revs": {string(revList(c.v.revs))},
	}
	if n := len(c.v.ancestors); n > 0 {
		q.Set("atts_since", string(revList(c.v.ancestors[:min(n, urlRevs)])))
	}
	get := request{
		method: http.MethodGet, path: docPath(text(c.v.id)), query: q,
		accept: "multipart/mixed, application/json;q=0.5",
		// Who works for the write stage must not wait for the read stage,
		// which may be waiting for it.
		urgent: c.alone,
	}
	err := c.w.r.source.once(ctx, get, func(res *http.Response) error { return c.answer(ctx, res) })
	var gone *Error
	if errors.As(err, &gone) && gone.Method == http.MethodGet && gone.Status == http.StatusNotFound && !strings.Contains(gone.Reason, "atabase") {
		for _, rev := range c.v.revs {
			c.w.r.fail(Failure{ID: text(c.v.id), Rev: rev, Error: "not_found", Reason: "the source no longer has this revision"})
		}
		c.v.revs = nil
		return nil
	}
	return err
}

// answer reads what open_revs gives: one part or element for each revision.
func (c *copier) answer(ctx context.Context, res *http.Response) error {
	kind, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "multipart/") {
		if err := c.list(ctx, res.Body); err != nil {
			return err
		}
	} else if err := mixed(res.Body, params["boundary"], func(g message) error { return c.message(ctx, g) }); err != nil {
		return err
	}
	for _, rev := range c.v.revs {
		c.missing(rev)
	}
	c.v.revs = nil
	return nil
}

// list reads [{"ok":DOC}|{"missing":REV},…]: the answer of servers that have
// no multipart. Attachments are stubs there, and read one by one.
func (c *copier) list(ctx context.Context, body io.Reader) error {
	raw, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var docs [][]byte
	if err := items(raw, func(item []byte) bool {
		_ = members(item, func(key, value []byte) bool {
			if string(key) == "ok" && value[0] == '{' {
				docs = append(docs, value)
			}
			return true
		})
		return true
	}); err != nil {
		return fmt.Errorf("read open_revs: %w", err)
	}
	for _, doc := range docs {
		if err := c.stubs(ctx, doc); err != nil {
			return err
		}
	}
	return nil
}

// missing reports a revision that the source listed and does not have.
func (c *copier) missing(rev string) {
	c.w.r.fail(Failure{ID: text(c.v.id), Rev: rev, Error: "not_found", Reason: "the source no longer has this revision"})
}

// met strikes the revisions that a document stands for.
func (c *copier) met(m *meta) {
	var open []string
	for _, rev := range c.v.revs {
		if !m.descends(rev) {
			open = append(open, rev)
		}
	}
	c.v.revs = open
}

// pass gives a document without new attachments to the write stage.
func (c *copier) pass(ctx context.Context, doc []byte, m *meta) error {
	if c.alone {
		return c.put(ctx, doc, m, nil)
	}
	if err := c.w.add(ctx, c.lap, doc); err != nil {
		return err
	}
	c.met(m)
	return nil
}

// put sends a document in a request of its own. What the document is refused
// for is counted.
func (c *copier) put(ctx context.Context, doc []byte, m *meta, atts []part) error {
	r := c.w.r
	slow := &timedParts{now: r.clock.now}
	for i := range atts {
		atts[i].content = slow.time(atts[i].content)
	}
	c.lap.mark(&c.lap.busy)
	start := r.clock.now()
	err := r.target.put(ctx, text(m.id), doc, atts, c.expect)
	total := r.clock.now().Sub(start)
	c.lap.skip()
	// The time that the source took to deliver is the read stage's.
	r.stages.write.busy.Add(int64(total - slow.took))
	r.stages.write.in.Add(int64(slow.took))
	r.stages.read.busy.Add(int64(slow.took))
	r.stages.read.out.Add(int64(total - slow.took))

	if status(err) == http.StatusPreconditionFailed && len(c.v.ancestors) > 0 {
		// The target has less than it said: send all attachments.
		c.v.ancestors = nil
		return &lostError{err}
	}
	c.expect = err != nil && status(err) == 0
	if f, ok := refusal(err); ok {
		f.ID, f.Rev = text(m.id), m.rev
		r.count.docsRead.Add(1)
		r.fail(f)
		c.met(m)
		return nil
	}
	if err != nil {
		return err
	}
	r.count.docsRead.Add(1)
	r.count.docsWritten.Add(1)
	c.met(m)
	return nil
}

// refusal tells whether an error is about the document that was sent, and not
// about the server, the database or the account.
func refusal(err error) (Failure, bool) {
	var e *Error
	if !errors.As(err, &e) {
		return Failure{}, false
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict,
		http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		name := e.Name
		if name == "" {
			name = fmt.Sprintf("status %d", e.Status)
		}
		return Failure{Error: name, Reason: e.Reason}, true
	}
	return Failure{}, false
}

// timedParts sums the time that reads of attachments take.
type timedParts struct {
	now  func() time.Time
	took time.Duration
}

func (t *timedParts) time(r io.Reader) io.Reader { return timedReader{r, t} }

type timedReader struct {
	io.Reader
	t *timedParts
}

func (r timedReader) Read(p []byte) (int, error) {
	start := r.t.now()
	n, err := r.Reader.Read(p)
	r.t.took += r.t.now().Sub(start)
	return n, err
}
