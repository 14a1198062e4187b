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

	// A parcel is sent when it has parcelBytes and parcelDocs, or
	// fullParcel. Measured on CouchDB 3.5 with documents of 10 kB and with
	// attachments of 100 kB: twenty such requests at once cost it two thirds
	// of the processor time of four with 2 MiB each, because it writes what
	// arrives together in one go.
	parcelBytes = 256 << 10
	parcelDocs  = 10
	fullParcel  = 1 << 20
)

// doc is document i, as it was added.
func (p *parcel) doc(i int) []byte {
	start := len(parcelStart)
	if i > 0 {
		start = p.ends[i-1] + 1
	}
	return p.body[start:p.ends[i]]
}

// full tells whether the parcel is to be sent before it takes size more bytes.
func (p *parcel) full(size int) bool {
	n := len(p.body) + size
	return len(p.ends) > 0 && (n > fullParcel || n > parcelBytes && len(p.ends) >= parcelDocs)
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
	return &parcel{b: b, body: append(make([]byte, 0, parcelBytes), parcelStart...)}
}

// back takes a parcel whose request is over.
func (p *parcels) back(q *parcel) {
	if cap(q.body) > 2*fullParcel {
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
	if o.p != nil && o.p.full(len(doc)) {
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
