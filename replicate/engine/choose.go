package engine

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// The two ways to read documents differ by server: on CouchDB 3.5 _bulk_get
// takes 0.5 to 1.4 times as long for a document as the feed with documents
// does, and costs it less when several are asked for at once; on 3.2, which
// opens them one by one, 1.6 to 3.9 times. So it is tried.
const (
	tryFrom   = 2000 // documents in a source that is worth the trial
	tryDocs   = 50   // read each way
	tryFactor = 1.5  // how much slower _bulk_get may be and still be used
)

// docsInFeed tells whether the documents shall come with the feed: when the
// target lacks everything, unless a trial on the first documents of a large
// source finds _bulk_get to be as good.
func (r *Replication) docsInFeed(ctx context.Context, docs int64) bool {
	if !r.lacksAll.Load() || !*r.opt.UseBulkGet {
		return false
	}
	o := r.opt
	if docs < tryFrom || o.Filter != "" || o.DocIDs != nil || len(o.Selector) > 0 {
		return true // a filter may let little through: no trial
	}
	f := &feed{r: r, since: bytes.Clone(r.log.start), docs: true}
	with, err := r.tryFeed(ctx, f)
	if err != nil || len(with.rows) == 0 || 2*with.attached > len(with.rows) {
		return true // lengths of attachments are worth knowing; errors come again
	}
	r.averageDoc = with.bytes / int64(len(with.rows))
	f.docs = false
	without, err := r.tryFeed(ctx, f)
	if err != nil || len(without.rows) == 0 {
		return true
	}
	took, err := r.tryBulk(ctx, without.rows)
	return err != nil || float64(took)/float64(len(without.rows)) > tryFactor*float64(with.took)/float64(len(with.rows))
}

// trial is what a few rows of the feed showed.
type trial struct {
	rows     []want
	attached int   // of their documents, those with attachments
	bytes    int64 // of their documents
	took     time.Duration
}

// tryFeed reads the next tryDocs rows of f.
func (r *Replication) tryFeed(ctx context.Context, f *feed) (t trial, err error) {
	q := f.request()
	q.query.Set("limit", strconv.Itoa(tryDocs))
	start := r.clock.now()
	err = r.source.once(ctx, q, func(res *http.Response) error {
		rs := newResults(res.Body)
		for {
			raw, err := rs.next()
			if err == io.EOF {
				f.since = append(f.since[:0], rs.tail["last_seq"]...)
				return nil
			}
			if err != nil {
				return err
			}
			w, err := parseRow(raw)
			if err != nil {
				return err
			}
			t.rows = append(t.rows, want{id: bytes.Clone(w.id), revs: w.revs})
			t.bytes += int64(len(w.doc))
			if w.doc != nil {
				if m, err := readMeta(w.doc); err == nil && m.attachments != nil {
					t.attached++
				}
			}
		}
	})
	t.took = r.clock.now().Sub(start)
	return t, err
}

// tryBulk times a _bulk_get.
func (r *Replication) tryBulk(ctx context.Context, rows []want) (time.Duration, error) {
	q := request{
		method: http.MethodPost, path: "_bulk_get", body: newOpenWants(rows).body(false),
		query: url.Values{"revs": {"true"}, "latest": {"true"}, "attachments": {"false"}},
	}
	start := r.clock.now()
	err := r.source.once(ctx, q, func(res *http.Response) error {
		rs := newResults(res.Body)
		for {
			if _, err := rs.next(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
	return r.clock.now().Sub(start), err
}
