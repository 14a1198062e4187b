package engine

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// reader is a worker of the read stage.
type reader struct {
	r   *Replication
	lap *lap

	mu  sync.Mutex // the outbox is shared by documents read at once
	box outbox
}

const (
	// inlineBytes is the length of a document's attachments up to which they
	// travel as base64 in _bulk_docs, many documents to a request: that costs
	// a CouchDB less than a multipart request for each. Above, they are
	// streamed.
	inlineBytes = 1 << 20
	// inlinePacked is that of attachments stored compressed: CouchDB takes
	// base64 only of their content, and has to compress it again.
	inlinePacked = 32 << 10
	// inlineBatch is the length of attachments asked for in one _bulk_get.
	inlineBatch = 8 << 20
)

// read fetches what the batches want.
func (r *Replication) read(ctx context.Context, in <-chan *job) error {
	w := &reader{r: r, lap: r.stages.read.lap(r.clock.now)}
	for {
		j, ok := take(ctx, w.lap, in)
		if !ok {
			return context.Cause(ctx)
		}
		w.box = outbox{r: r, b: j.b}
		if err := w.job(ctx, j); err != nil {
			return err
		}
		j.b.done()
	}
}

// job reads documents by the cheapest way that each allows: together without
// attachments, together with small ones, one by one.
func (w *reader) job(ctx context.Context, j *job) error {
	var bulk, inline, single []want
	for _, v := range j.wants {
		switch {
		case w.r.noBulkGet.Load():
			single = append(single, v)
		case v.attBytes < 0:
			bulk = append(bulk, v)
		case v.attBytes <= inlineBytes:
			inline = append(inline, v)
		default:
			single = append(single, v)
		}
	}
	for _, part := range w.r.portions(bulk) {
		rest, err := w.bulk(ctx, part, false)
		if err != nil {
			return err
		}
		for _, v := range rest {
			if v.attBytes >= 0 && v.attBytes <= inlineBytes {
				inline = append(inline, v)
			} else {
				single = append(single, v)
			}
		}
	}
	for _, part := range inlinePortions(inline) {
		rest, err := w.bulk(ctx, part, true)
		if err != nil {
			return err
		}
		single = append(single, rest...)
	}
	if err := w.singles(ctx, single); err != nil {
		return err
	}
	return w.box.flush(ctx, w.lap)
}

// bulkBytes is the length of documents asked for in one _bulk_get: CouchDB
// sends nothing before it has them all.
const bulkBytes = 512 << 10

// portions cuts wants so that an answer of average documents has about
// bulkBytes.
func (r *Replication) portions(wants []want) [][]want {
	n := len(wants)
	if size := r.averageDoc; size > 0 {
		n = max(1, int(bulkBytes/size))
	}
	var parts [][]want
	for len(wants) > 0 {
		k := min(n, len(wants))
		parts = append(parts, wants[:k])
		wants = wants[k:]
	}
	return parts
}

// inlinePortions cuts wants so that a portion's attachments fit inlineBatch.
func inlinePortions(wants []want) [][]want {
	var parts [][]want
	start, sum := 0, int64(0)
	for i, v := range wants {
		size := v.attBytes * int64(len(v.revs))
		if i > start && sum+size > inlineBatch {
			parts = append(parts, wants[start:i])
			start, sum = i, 0
		}
		sum += size
	}
	if start < len(wants) {
		parts = append(parts, wants[start:])
	}
	return parts
}

// singles reads documents one by one, several at a time.
func (w *reader) singles(ctx context.Context, wants []want) error {
	if len(wants) == 0 {
		return nil
	}
	w.lap.mark(&w.lap.busy)
	defer w.lap.skip()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, w.r.opt.HTTPConnections/w.r.opt.WorkerProcesses))
	for _, v := range wants {
		g.Go(func() error { return w.single(ctx, v) })
	}
	return g.Wait()
}

// add gives a document to the write stage.
func (w *reader) add(ctx context.Context, l *lap, doc []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.box.add(ctx, l, doc)
}
