package replicate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"couchgauge/internal/couch"
)

// update writes the k-th round of updates of a source's documents, which keep
// their attachments.
func update(ctx context.Context, s *couch.Server, db string, data shape, source, k int) error {
	f := filler{
		client: s.Client(couch.TransportOptions{KeepAlive: true, MaxConns: fillConnections}),
		db:     db, shape: data, source: source,
	}
	defer f.client.Close()
	send := func(ctx context.Context, body []byte, from, to int64) ([]byte, error) {
		return f.update(ctx, body, from, to, k)
	}
	if err := f.spread(ctx, f.batch(), send); err != nil {
		return fmt.Errorf("update the documents of database %s: %w", db, err)
	}
	return nil
}

// update is a sender of updates. Fabricated revisions would not do: servers
// differ in whether new_edits=false takes stubs.
func (f filler) update(ctx context.Context, body []byte, from, to int64, k int) ([]byte, error) {
	docs, err := f.current(ctx, from, to)
	if err != nil {
		return body, err
	}
	body = append(body, `{"docs":[`...)
	for i := from; i < to; i++ {
		if i > from {
			body = append(body, ',')
		}
		l := f.leafOf(i)
		l.update = k
		body = f.shape.appendUpdate(body, l, docs[i-from])
	}
	return f.post(ctx, append(body, `]}`...))
}

// stored is what an update keeps of a document.
type stored struct {
	Rev         string          `json:"_rev"`
	Attachments json.RawMessage `json:"_attachments"` // stubs
}

// current asks for documents [from, to) (CouchDB docs, "/{db}/_all_docs", keys).
func (f filler) current(ctx context.Context, from, to int64) ([]stored, error) {
	var ask struct {
		Keys []string `json:"keys"`
	}
	for i := from; i < to; i++ {
		l := f.leafOf(i)
		ask.Keys = append(ask.Keys, docID(l.source, l.n))
	}
	var said struct {
		Rows []struct{ Doc stored }
	}
	if err := f.client.JSON(ctx, http.MethodPost, couch.EscapeSegment(f.db)+"/_all_docs?include_docs=true", ask, &said); err != nil {
		return nil, fmt.Errorf("read the documents: %w", err)
	}
	if len(said.Rows) != len(ask.Keys) {
		return nil, fmt.Errorf("read the documents: %d of %d", len(said.Rows), len(ask.Keys))
	}
	var docs []stored
	for _, row := range said.Rows {
		docs = append(docs, row.Doc)
	}
	return docs, nil
}
