package replicate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"couchgauge/internal/couch"
)

// heartbeat is how often a server shows that an idle feed lives.
const heartbeat = 5 * time.Second

// feedOptions say what a feed has.
type feedOptions struct {
	since string
	docs  bool // rows have documents
}

// feed is a continuous _changes feed (CouchDB docs, "Changes Feeds").
type feed struct {
	client *couch.Client
	resp   *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
}

// changeRow is one row of a _changes answer.
type changeRow struct {
	ID      string          `json:"id"`
	Deleted bool            `json:"deleted"`
	Doc     json.RawMessage `json:"doc"`
	Changes []struct {
		Rev string `json:"rev"`
	} `json:"changes"`
}

// openFeed opens a feed of a database. It ends with ctx.
func openFeed(ctx context.Context, s *couch.Server, db string, o feedOptions) (*feed, error) {
	query := url.Values{
		"feed":      {"continuous"},
		"since":     {o.since},
		"heartbeat": {fmt.Sprint(heartbeat.Milliseconds())},
	}
	if o.docs {
		query.Set("include_docs", "true")
	}
	f := &feed{client: s.Client(couch.TransportOptions{KeepAlive: true, IdleTimeout: 12 * heartbeat})}
	ctx, f.cancel = context.WithCancel(ctx)
	path := couch.EscapeSegment(db) + "/_changes"
	resp, err := f.client.Do(ctx, couch.Request{Method: http.MethodGet, Path: path, Query: query})
	if err == nil {
		err = couch.Check(resp, "read changes of", db)
	}
	if err != nil {
		f.cancel()
		f.client.Close()
		return nil, err
	}
	f.resp = resp
	f.lines = bufio.NewReaderSize(resp.Body, 256<<10)
	return f, nil
}

// next waits for the next row.
func (f *feed) next(ctx context.Context) (changeRow, error) {
	for {
		line, err := f.lines.ReadBytes('\n')
		line = bytes.TrimSpace(line)
		if len(line) == 0 { // a heartbeat
			if err != nil {
				if ctx.Err() != nil {
					err = context.Cause(ctx)
				}
				return changeRow{}, err
			}
			continue
		}
		var row changeRow
		if err := json.Unmarshal(line, &row); err != nil {
			return changeRow{}, fmt.Errorf("read a row of changes: %w", err)
		}
		if row.ID == "" { // {"last_seq": …}: the server ends the feed
			return changeRow{}, fmt.Errorf("the server ended the feed of changes")
		}
		return row, nil
	}
}

// close ends the feed.
func (f *feed) close() {
	f.cancel()
	f.resp.Body.Close()
	f.client.Close()
}
