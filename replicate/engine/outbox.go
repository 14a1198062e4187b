package engine

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
)

// parcel is the documents of one _bulk_docs request, as its body without the
// end.
type parcel struct {
	b    *batch
	body []byte
	ends []int // where each document ends in body
}

const (
	parcelStart = `{"new_edits":false,"docs":[`
	parcelEnd   = `]}`
	// parcelBytes sends a parcel: large enough that a request costs little,
	// small enough that several are on their way at once.
	parcelBytes = 2 << 20
)

// doc is document i, as it was added.
func (p *parcel) doc(i int) []byte {
	start := len(parcelStart)
	if i > 0 {
		start = p.ends[i-1] + 1
	}
	return p.body[start:p.ends[i]]
}

func (p *parcel) add(doc []byte) {
	if len(p.ends) > 0 {
		p.body = append(p.body, ',')
	}
	p.body = append(p.body, doc...)
	p.ends = append(p.ends, len(p.body))
}

// part is a parcel of documents i to j-1.
func (p *parcel) part(i, j int) *parcel {
	q := &parcel{b: p.b, body: []byte(parcelStart)}
	for ; i < j; i++ {
		q.add(p.doc(i))
	}
	return q
}

// parcels keeps bodies for the next parcel.
type parcels struct{ pool sync.Pool }

func (p *parcels) take(b *batch) *parcel {
	if q, ok := p.pool.Get().(*parcel); ok {
		q.b = b
		return q
	}
	return &parcel{b: b, body: append(make([]byte, 0, parcelBytes+64<<10), parcelStart...)}
}

// back takes a parcel whose request is over.
func (p *parcels) back(q *parcel) {
	if cap(q.body) > 4*parcelBytes {
		return // one large document must not keep its memory
	}
	q.body, q.ends, q.b = q.body[:len(parcelStart)], q.ends[:0], nil
	p.pool.Put(q)
}

// outbox packs documents of one batch into parcels and gives them to the
// write stage.
type outbox struct {
	r *Replication
	b *batch
	p *parcel
}

// add copies a document into the current parcel. Design documents travel
// alone: what one is refused for, such as missing rights, would be the
// parcel's fate.
func (o *outbox) add(ctx context.Context, l *lap, doc []byte) error {
	o.r.count.docsRead.Add(1)
	if isDesign(doc) {
		p := &parcel{b: o.b, body: []byte(parcelStart)}
		p.add(doc)
		return o.send(ctx, l, p)
	}
	if o.p != nil && len(o.p.body)+len(doc) > parcelBytes {
		if err := o.flush(ctx, l); err != nil {
			return err
		}
	}
	if o.p == nil {
		o.p = o.r.parcels.take(o.b)
	}
	o.p.add(doc)
	return nil
}

// flush gives the current parcel to the write stage.
func (o *outbox) flush(ctx context.Context, l *lap) error {
	if o.p == nil {
		return nil
	}
	p := o.p
	o.p = nil
	return o.send(ctx, l, p)
}

func (o *outbox) send(ctx context.Context, l *lap, p *parcel) error {
	p.b.add()
	return give(ctx, l, o.r.toWrite, p)
}

func isDesign(doc []byte) bool {
	if !bytes.Contains(doc, []byte("_design")) {
		return false
	}
	m, err := readMeta(doc)
	return err == nil && strings.HasPrefix(text(m.id), "_design/")
}

// named is a document's id and revision for a report.
func named(doc []byte) (id, rev string) {
	m, err := readMeta(doc)
	if err != nil {
		return fmt.Sprintf("a document of %d bytes", len(doc)), ""
	}
	return text(m.id), m.rev
}
