package replicate

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"couchgauge/internal/couch"

	"golang.org/x/sync/errgroup"
)

// stubs are the attachments of a leaf, by name.
type stubs map[string]struct {
	Length int64  `json:"length"` // as given, not as stored
	Digest string `json:"digest"` // of what is stored, which may be compressed (fact 9)
}

// leafBatch is how many documents' stubs are fetched at a time.
const leafBatch = 100

// attachmentCheck compares the attachments of all leaves of a source with the
// target's.
type attachmentCheck struct {
	source, target *couch.Client
	from, to       string // databases
	bytes          bool   // compare the bytes even where digests are equal
}

// attachmentDiff is what it finds.
type attachmentDiff struct {
	Compared int64    `json:"compared"`
	Differ   leafList `json:"differ"` // with the attachment's name in place of the revision
}

// run goes through the leaves of feed. Those that the target lacks are left
// out: they have been named already.
func (a attachmentCheck) run(ctx context.Context, leaves leafFeed) (attachmentDiff, error) {
	var diff attachmentDiff
	var batch []docLeaves
	flush := func() error {
		defer func() { batch = batch[:0] }()
		return a.batch(ctx, batch, &diff)
	}
	err := leaves.each(ctx, func(d docLeaves) error {
		batch = append(batch, d)
		if len(batch) < leafBatch {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return diff, fmt.Errorf("compare attachments of %s and %s: %w", a.from, a.to, err)
	}
	return diff, nil
}

func (a attachmentCheck) batch(ctx context.Context, docs []docLeaves, diff *attachmentDiff) error {
	if len(docs) == 0 {
		return nil
	}
	var want, got map[[2]string]stubs
	g, both := errgroup.WithContext(ctx)
	g.Go(func() (err error) { want, err = leafStubs(both, a.source, a.from, docs); return err })
	g.Go(func() (err error) { got, err = leafStubs(both, a.target, a.to, docs); return err })
	if err := g.Wait(); err != nil {
		return err
	}
	for leaf, wanted := range want {
		found, ok := got[leaf]
		if !ok {
			continue
		}
		for name, w := range wanted {
			diff.Compared++
			f, ok := found[name]
			same := ok && w.Length == f.Length
			if same && (a.bytes || w.Digest != f.Digest || w.Digest == "") {
				var err error
				if same, err = a.sameBytes(ctx, leaf[0], leaf[1], name); err != nil {
					return err
				}
			}
			if !same {
				diff.Differ.add(leaf[0], leaf[1]+" "+name)
			}
		}
		for name := range found {
			if _, ok := wanted[name]; !ok {
				diff.Differ.add(leaf[0], leaf[1]+" "+name)
			}
		}
	}
	return nil
}

// sameBytes compares an attachment as both servers give it out. Digests of
// compressed attachments differ between servers that compress differently;
// their bytes must not (case R11).
func (a attachmentCheck) sameBytes(ctx context.Context, id, rev, name string) (bool, error) {
	var sums [2][md5.Size]byte
	g, ctx := errgroup.WithContext(ctx)
	for i, side := range []struct {
		client *couch.Client
		db     string
	}{{a.source, a.from}, {a.target, a.to}} {
		g.Go(func() (err error) {
			sums[i], err = attachmentMD5(ctx, side.client, side.db, id, rev, name)
			return err
		})
	}
	return sums[0] == sums[1], g.Wait()
}

func attachmentMD5(ctx context.Context, c *couch.Client, db, id, rev, name string) (sum [md5.Size]byte, err error) {
	resp, err := c.Do(ctx, couch.Request{
		Method: http.MethodGet,
		Path:   couch.AttachmentPath(db, id, name),
		Query:  url.Values{"rev": {rev}},
		Header: http.Header{"Accept": {"*/*"}},
	})
	if err == nil {
		err = couch.Check(resp, "read attachment", db+"/"+id+"/"+name)
	}
	if err != nil {
		return sum, err
	}
	defer resp.Body.Close()
	h := md5.New()
	if _, err := io.Copy(h, resp.Body); err != nil {
		return sum, fmt.Errorf("read attachment %s/%s/%s: %w", db, id, name, err)
	}
	h.Sum(sum[:0])
	return sum, nil
}

// leafStubs fetches the stubs of the attachments of documents' leaves, by id
// and revision (CouchDB docs, "/{db}/_bulk_get"; a server that has none is
// asked document by document). Leaves that it does not have are absent.
func leafStubs(ctx context.Context, c *couch.Client, db string, docs []docLeaves) (map[[2]string]stubs, error) {
	type want struct {
		ID  string `json:"id"`
		Rev string `json:"rev"`
	}
	var ask struct {
		Docs []want `json:"docs"`
	}
	for _, d := range docs {
		for _, rev := range d.revs {
			ask.Docs = append(ask.Docs, want{d.id, rev})
		}
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(ctx, couch.Request{
		Method:        http.MethodPost,
		Path:          couch.EscapeSegment(db) + "/_bulk_get",
		ContentLength: int64(len(body)),
		GetBody:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	})
	if err == nil {
		err = couch.Check(resp, "read documents of", db)
	}
	var refused *couch.Error
	if errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusUnauthorized {
		return openRevs(ctx, c, db, docs)
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	found := map[[2]string]stubs{}
	in := json.NewDecoder(resp.Body)
	if err := enterArray(in, "results"); err != nil {
		return nil, err
	}
	for in.More() {
		var result struct {
			Docs []struct {
				OK *leafDoc `json:"ok"`
			} `json:"docs"`
		}
		if err := in.Decode(&result); err != nil {
			return nil, fmt.Errorf("read documents of %s: %w", db, err)
		}
		for _, d := range result.Docs {
			d.OK.into(found)
		}
	}
	return found, nil
}

// leafDoc is what is needed of a document.
type leafDoc struct {
	ID          string `json:"_id"`
	Rev         string `json:"_rev"`
	Attachments stubs  `json:"_attachments"`
}

func (d *leafDoc) into(found map[[2]string]stubs) {
	if d != nil {
		found[[2]string{d.ID, d.Rev}] = d.Attachments
	}
}

// openRevs is leafStubs document by document (CouchDB docs, "GET /{db}/{docid}",
// open_revs).
func openRevs(ctx context.Context, c *couch.Client, db string, docs []docLeaves) (map[[2]string]stubs, error) {
	found := map[[2]string]stubs{}
	for _, d := range docs {
		revs, err := json.Marshal(d.revs)
		if err != nil {
			return nil, err
		}
		var answer []struct {
			OK *leafDoc `json:"ok"`
		}
		path := couch.DocPath(db, d.id) + "?open_revs=" + url.QueryEscape(string(revs))
		if err := c.JSON(ctx, http.MethodGet, path, nil, &answer); err != nil {
			var refused *couch.Error
			if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
				continue
			}
			return nil, err
		}
		for _, a := range answer {
			a.OK.into(found)
		}
	}
	return found, nil
}
