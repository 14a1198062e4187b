package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// write sends parcels to the target.
func (r *Replication) write(ctx context.Context, in <-chan *parcel) error {
	l := r.stages.write.lap(r.clock.now)
	for {
		p, ok := take(ctx, l, in)
		if !ok {
			return context.Cause(ctx)
		}
		if err := r.deliver(ctx, p); err != nil {
			return fmt.Errorf("write %d documents to %s: %w", len(p.ends), r.target.base, err)
		}
		b := p.b
		r.parcels.back(p)
		b.done()
	}
}

// deliver sends a parcel. One that is refused as a whole, for its size or for
// a document that the target cannot read, is sent in halves, until the
// documents that are the cause are alone.
func (r *Replication) deliver(ctx context.Context, p *parcel) error {
	errs, err := r.bulkDocs(ctx, p)
	if err == nil {
		return r.settle(ctx, p, errs)
	}
	if f, ok := refusal(err); ok && len(p.ends) == 1 {
		if f.Error == missingStub {
			return r.whole(ctx, p.doc(0))
		}
		f.ID, f.Rev = named(p.doc(0))
		r.fail(f)
		return nil
	}
	switch status(err) {
	case http.StatusBadRequest, http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		half := len(p.ends) / 2
		if err := r.deliver(ctx, p.part(0, half)); err != nil {
			return err
		}
		return r.deliver(ctx, p.part(half, len(p.ends)))
	}
	return err
}

// missingStub is what a document is refused for when the target lacks an
// attachment that came as a stub.
const missingStub = "missing_stub"

// bulkDocs sends a parcel and returns what single documents are refused for.
// 417 is the status of servers that refuse all.
func (r *Replication) bulkDocs(ctx context.Context, p *parcel) (errs []Failure, err error) {
	body := append(p.body, parcelEnd...)
	m := request{method: http.MethodPost, path: "_bulk_docs", body: body, edits: true}
	err = r.target.call(ctx, m, func(res *http.Response) error {
		errs = errs[:0]
		b, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		var all []Failure
		if err := json.Unmarshal(b, &all); err != nil {
			return fmt.Errorf("read the answer to _bulk_docs: %w", err)
		}
		for _, f := range all {
			if f.Error != "" {
				errs = append(errs, f)
			}
		}
		return nil
	})
	return errs, err
}

// settle counts what a parcel brought.
func (r *Replication) settle(ctx context.Context, p *parcel, errs []Failure) error {
	written := len(p.ends)
	for _, f := range errs {
		written--
		if f.Error == missingStub {
			doc, ok := p.find(f)
			if ok {
				if err := r.whole(ctx, doc); err != nil {
					return err
				}
				continue
			}
		}
		r.fail(f)
	}
	r.count.docsWritten.Add(int64(written))
	return nil
}

// find is the document that a failure is about.
func (p *parcel) find(f Failure) ([]byte, bool) {
	for i := range p.ends {
		if id, rev := named(p.doc(i)); id == f.ID && (rev == f.Rev || f.Rev == "") {
			return p.doc(i), true
		}
	}
	return nil, false
}

// whole copies a document again, with all its attachments: the target does
// not have what it was thought to have. It was counted as read before.
func (r *Replication) whole(ctx context.Context, doc []byte) error {
	m, err := readMeta(doc)
	if err != nil {
		return fmt.Errorf("read a document that the target refused: %w", err)
	}
	w := &reader{r: r}
	c := &copier{
		w: w, lap: r.stages.write.lap(r.clock.now), alone: true,
		v: want{id: m.id, revs: []string{m.rev}},
	}
	r.count.docsRead.Add(-1)
	err = r.source.again(ctx, func() (bool, error) { return false, c.try(ctx) })
	if err != nil {
		return fmt.Errorf("copy document %q again: %w", text(m.id), err)
	}
	return nil
}

// Failure is a document that the target did not take, or the source did not
// give.
type Failure struct {
	ID     string `json:"id"`
	Rev    string `json:"rev"`
	Error  string `json:"error"`
	Reason string `json:"reason"`
}
