package replicate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"couchgauge/internal/couch"
)

// leafFeed reads the leaf revisions of a database, or those that a job is to
// carry, from its _changes (CouchDB docs, "/{db}/_changes", style).
type leafFeed struct {
	client    *couch.Client
	db        string
	filtering filtering
	winners   bool   // winning revisions only
	since     string // "" = from the beginning
	noDesign  bool   // leave design documents out
}

// docLeaves are the leaves of one document that the feed lets through.
type docLeaves struct {
	id   string
	revs []string
}

// each calls do for every document, in the server's order. Nothing is kept.
func (f leafFeed) each(ctx context.Context, do func(docLeaves) error) error {
	resp, err := f.client.Do(ctx, f.request())
	if err == nil {
		err = couch.Check(resp, "read changes of", f.db)
	}
	if err != nil {
		return fmt.Errorf("read the leaves of %s: %w", f.db, err)
	}
	defer resp.Body.Close()
	err = eachChange(resp.Body, func(row changeRow) error {
		if f.noDesign && strings.HasPrefix(row.ID, "_design/") {
			return nil
		}
		d := docLeaves{id: row.ID}
		for _, c := range row.Changes {
			d.revs = append(d.revs, c.Rev)
		}
		return do(d)
	})
	if err != nil {
		return fmt.Errorf("read the leaves of %s: %w", f.db, err)
	}
	return nil
}

func (f leafFeed) request() couch.Request {
	r := couch.Request{
		Method: http.MethodGet,
		Path:   couch.EscapeSegment(f.db) + "/_changes",
		Query:  url.Values{"style": {"all_docs"}},
	}
	if f.winners {
		r.Query.Set("style", "main_only")
	}
	if f.since != "" {
		r.Query.Set("since", f.since)
	}
	for key, value := range f.filtering.query {
		r.Query.Set(key, value)
	}
	if f.filtering.body != nil {
		body, err := json.Marshal(f.filtering.body)
		if err != nil {
			panic("replicate: a filter's body: " + err.Error())
		}
		r.Method = http.MethodPost
		r.ContentLength = int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	return r
}

// eachChange reads a _changes answer (feed=normal) row by row.
func eachChange(answer io.Reader, do func(changeRow) error) error {
	in := json.NewDecoder(answer)
	if err := enterArray(in, "results"); err != nil {
		return err
	}
	for in.More() {
		var row changeRow
		if err := in.Decode(&row); err != nil {
			return fmt.Errorf("read a row of changes: %w", err)
		}
		if err := do(row); err != nil {
			return err
		}
	}
	// An answer that was cut off is no shorter database.
	if _, err := in.Token(); err != nil {
		return fmt.Errorf("read changes to their end: %w", noEOF(err))
	}
	return nil
}

// enterArray goes into the array of an object's member; those before it are
// skipped.
func enterArray(in *json.Decoder, member string) error {
	if token, err := in.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("read %s: the answer is no JSON object: %w", member, noEOF(err))
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return fmt.Errorf("read %s: %w", member, noEOF(err))
		}
		if key == member {
			if token, err := in.Token(); err != nil || token != json.Delim('[') {
				return fmt.Errorf("read %s: it is no array: %w", member, noEOF(err))
			}
			return nil
		}
		var skipped json.RawMessage
		if err := in.Decode(&skipped); err != nil {
			return fmt.Errorf("read %s: %w", member, noEOF(err))
		}
	}
	return fmt.Errorf("read %s: the answer has none", member)
}

// noEOF makes an error of an end that came too early, and of nothing at all.
func noEOF(err error) error {
	if err == nil {
		return fmt.Errorf("unexpected JSON")
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
