package replicate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"couchgauge/internal/couch"

	"golang.org/x/sync/errgroup"
)

const (
	fillConnections = 4
	// fillBatch caps a _bulk_docs request, in bytes. Servers parse such a body
	// as a whole: larger ones are slower.
	fillBatch = 1 << 20
	// fillMost caps it in documents.
	fillMost = 1000
	// inlineMost is the bytes of one attachment up to which it travels in
	// base64 with others' documents; a larger one is streamed, by
	// multipart/related.
	inlineMost = 16 << 10
)

// filler writes a source's documents.
type filler struct {
	client *couch.Client
	db     string
	shape  shape
	source int // its number
}

// fill fills an empty database and returns how long that took.
func fill(ctx context.Context, s *couch.Server, db string, data shape, source int) (time.Duration, error) {
	f := filler{
		client: s.Client(couch.TransportOptions{KeepAlive: true, MaxConns: fillConnections}),
		db:     db, shape: data, source: source,
	}
	defer f.client.Close()
	began := time.Now()
	if err := f.write(ctx); err != nil {
		return 0, fmt.Errorf("fill database %s: %w", db, err)
	}
	took := time.Since(began)
	if err := f.check(ctx); err != nil {
		return 0, fmt.Errorf("fill database %s: %w", db, err)
	}
	if data.design == "" {
		return took, nil
	}
	err := f.client.JSON(ctx, http.MethodPut, couch.DocPath(db, designID), jsonText(data.design), nil)
	if err != nil {
		return 0, fmt.Errorf("fill database %s: %w", db, err)
	}
	return took, nil
}

// write writes all leaves over several connections.
func (f filler) write(ctx context.Context) error {
	if f.streams() {
		return f.spread(ctx, 1, f.each)
	}
	return f.spread(ctx, f.batch(), f.bulk)
}

// sender sends leaves [from, to) in one request. It may use the buffer, and
// returns it for the next one.
type sender func(ctx context.Context, buffer []byte, from, to int64) ([]byte, error)

// spread sends all leaves, size at a time, over several connections.
func (f filler) spread(ctx context.Context, size int64, send sender) error {
	leaves := f.shape.leaves()
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range fillConnections {
		g.Go(func() error {
			var buffer []byte
			for {
				to := next.Add(size)
				from := to - size
				if from >= leaves {
					return nil
				}
				var err error
				if buffer, err = send(ctx, buffer[:0], from, min(to, leaves)); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// streams says whether leaves go one by one, their attachments streamed.
func (f filler) streams() bool {
	return f.shape.count > 0 && f.shape.attachment.Size > inlineMost
}

// batch is how many leaves go into one request.
func (f filler) batch() int64 {
	each := max(1, f.shape.written()/max(1, f.shape.leaves()))
	return min(max(1, fillBatch/each), fillMost)
}

// leafOf is leaf i of the source, counted over its documents.
func (f filler) leafOf(i int64) leaf {
	branches := int64(f.shape.conflicts)
	return leaf{source: f.source, n: i / branches, branch: int(i % branches)}
}

// bulk is a sender by _bulk_docs (CouchDB docs, "/{db}/_bulk_docs", new_edits).
func (f filler) bulk(ctx context.Context, body []byte, from, to int64) ([]byte, error) {
	body = append(body, `{"new_edits":false,"docs":[`...)
	for i := from; i < to; i++ {
		if i > from {
			body = append(body, ',')
		}
		body = f.shape.appendInline(body, f.leafOf(i))
	}
	return f.post(ctx, append(body, `]}`...))
}

// post sends a _bulk_docs body, which it returns, and wants no document to be
// refused.
func (f filler) post(ctx context.Context, body []byte) ([]byte, error) {
	answer, err := f.send(ctx, couch.Request{
		Method:        http.MethodPost,
		Path:          couch.EscapeSegment(f.db) + "/_bulk_docs",
		ContentLength: int64(len(body)),
		GetBody:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}, "write documents to")
	if err != nil {
		return body, err
	}
	var said []struct{ ID, Error, Reason string }
	if err := json.Unmarshal(answer, &said); err != nil {
		return body, fmt.Errorf("read the answer of _bulk_docs: %w", err)
	}
	for _, d := range said {
		if d.Error != "" {
			return body, fmt.Errorf("document %s was refused: %s: %s", d.ID, d.Error, d.Reason)
		}
	}
	return body, nil
}

// each is a sender of one leaf, its attachments streamed behind it. A deleted
// one has none, and goes as JSON: CouchDB 3.5 waits 300 s for the parts of a
// multipart message that has none.
func (f filler) each(ctx context.Context, head []byte, from, _ int64) ([]byte, error) {
	l := f.leafOf(from)
	if f.shape.isDeleted(l.n) {
		return f.bulk(ctx, head, from, from+1)
	}
	head = f.shape.appendFollows(head, l)
	parts := multipart{document: head}
	for i := range f.shape.count {
		parts.attachments = append(parts.attachments, f.shape.attachmentOf(l, i))
	}
	request := couch.Request{
		Method:        http.MethodPut,
		Path:          couch.DocPath(f.db, docID(l.source, l.n)),
		Query:         url.Values{"new_edits": {"false"}},
		ContentType:   parts.contentType(),
		ContentLength: parts.length(),
		GetBody:       func() (io.ReadCloser, error) { return io.NopCloser(parts.open()), nil },
	}
	_, err := f.send(ctx, request, "write a document to")
	return head, err
}

// send sends a request, again where the server asks to wait, and returns the
// answer's body.
func (f filler) send(ctx context.Context, r couch.Request, op string) ([]byte, error) {
	const tries = 10
	for try := 1; ; try++ {
		resp, err := f.client.Do(ctx, r)
		if err == nil {
			err = couch.Check(resp, op, f.db)
		}
		if err == nil {
			defer resp.Body.Close()
			return io.ReadAll(resp.Body)
		}
		var refused *couch.Error
		if !errors.As(err, &refused) || refused.Status != http.StatusTooManyRequests || try == tries {
			return nil, err
		}
		select {
		case <-time.After(max(refused.RetryAfter, time.Second)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// check compares the number of documents that the server has.
func (f filler) check(ctx context.Context) error {
	info, err := databaseInfo(ctx, f.client, f.db)
	if err != nil {
		return err
	}
	if live := f.shape.live(); info.Docs != live || info.Deleted >= 0 && info.Deleted != f.shape.docs-live {
		return fmt.Errorf("it holds %d documents and %d deleted ones instead of %d and %d",
			info.Docs, info.Deleted, live, f.shape.docs-live)
	}
	return nil
}
