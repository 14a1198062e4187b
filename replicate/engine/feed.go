package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// row is one change. Its slices are valid until the next row is read.
type row struct {
	id      []byte // JSON string
	seq     []byte // JSON; nil when null
	revs    []string
	deleted bool
	doc     []byte // JSON; nil when the feed carries none
}

// parseRow reads {"seq":…,"id":…,"changes":[{"rev":…}…],"deleted":…,"doc":…}.
// A row without changes is the last line of a continuous feed.
func parseRow(raw []byte) (row, error) {
	var w row
	err := members(raw, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			w.id = value
		case "seq", "last_seq":
			if string(value) != "null" {
				w.seq = value
			}
		case "deleted":
			w.deleted = string(value) == "true"
		case "doc":
			if value[0] == '{' {
				w.doc = value
			}
		case "changes":
			_ = items(value, func(change []byte) bool {
				_ = members(change, func(key, value []byte) bool {
					if string(key) == "rev" {
						w.revs = append(w.revs, text(value))
					}
					return true
				})
				return true
			})
		}
		return true
	})
	return w, err
}

// want is what is to be copied of one document.
type want struct {
	id        []byte // JSON string
	revs      []string
	ancestors []string // leaves at the target that may be ancestors
	attBytes  int64    // of the attachments in the document; -1: not known
}

// job is what a batch still wants to be read.
type job struct {
	b     *batch
	wants []want
}

// feed reads the source's changes and cuts them into batches.
type feed struct {
	r          *Replication
	lap        *lap
	out        chan<- *job
	box        *outbox // for documents that come with the feed
	docs       bool    // ask for the documents too
	continuous bool

	since  []byte // sequence of the last row that had one; nil is the beginning
	closed []byte // that of the last batch
	b      *batch
	wants  []want
	rows   int // in the batch
	bytes  int // of those rows, documents too

	tried, useful int // rows with a document; of them those that saved a request
}

// errWithoutDocs ends a feed that is better opened again without documents.
var errWithoutDocs = errors.New("the documents in the feed do not help")

const (
	enoughTried = 100     // documents that tell whether they help
	batchBytes  = 4 << 20 // closes a batch that is large before it is long
)

// catchUp reads the feed to its end. With docs, documents come with it as
// long as that helps.
func (f *feed) catchUp(ctx context.Context, docs bool) error {
	f.docs = docs
	err := f.open(ctx)
	if errors.Is(err, errWithoutDocs) {
		f.docs = false
		err = f.open(ctx)
	}
	if err != nil {
		return err
	}
	return f.close(ctx)
}

// follow reads the continuous feed until the context ends. A server may end
// it at any time, as it does in maintenance; then it is opened again, not at
// once if it brought nothing.
func (f *feed) follow(ctx context.Context) error {
	f.docs, f.continuous = false, true
	for n := 0; ; n++ {
		from := string(f.since)
		if err := f.open(ctx); err != nil {
			return err
		}
		if err := f.close(ctx); err != nil {
			return err
		}
		if from != string(f.since) {
			n = 0
		}
		if err := f.r.clock.sleep(ctx, pause(nil, n)); err != nil {
			return err
		}
	}
}

// open asks for the feed and reads it, again from where it broke off.
func (f *feed) open(ctx context.Context) error {
	e := f.r.source
	err := e.again(ctx, func() (bool, error) {
		from := string(f.since)
		err := e.once(ctx, f.request(), func(res *http.Response) error { return f.read(ctx, res.Body) })
		return from != string(f.since), err
	})
	if err != nil && !errors.Is(err, errWithoutDocs) && ctx.Err() == nil {
		return fmt.Errorf("read the changes of %s: %w", e.base, err)
	}
	return err
}

// request is the feed from f.since on. Empty lines every third of the time
// limit keep a feed alive in which a filter lets little through.
func (f *feed) request() request {
	o := f.r.opt
	beat := strconv.FormatInt(max(1000, o.ConnectionTimeout.Milliseconds()/3), 10)
	q := url.Values{"style": {"all_docs"}, "feed": {"normal"}, "timeout": {beat}}
	if o.WinningRevsOnly {
		q.Set("style", "main_only")
	}
	if f.continuous {
		q.Set("feed", "continuous")
		q.Del("timeout")
		q.Set("heartbeat", beat)
	} else {
		q.Set("seq_interval", strconv.Itoa(min(o.WorkerBatchSize, enoughTried)))
	}
	if f.docs {
		q.Set("include_docs", "true")
	}
	if f.since != nil {
		q.Set("since", text(f.since))
	}
	m := request{method: http.MethodGet, path: "_changes", query: q}
	switch {
	case o.DocIDs != nil:
		q.Set("filter", "_doc_ids")
		m.method = http.MethodPost
		m.body, _ = json.Marshal(map[string]any{"doc_ids": o.DocIDs}) // strings always encode
	case len(o.Selector) > 0:
		q.Set("filter", "_selector")
		m.method = http.MethodPost
		m.body = append(append([]byte(`{"selector":`), o.Selector...), '}')
	case o.Filter != "":
		q.Set("filter", o.Filter)
		for k, v := range o.QueryParams {
			if !q.Has(k) {
				q.Set(k, v)
			}
		}
	}
	return m
}

func (f *feed) read(ctx context.Context, body io.Reader) error {
	if f.continuous {
		return f.readLines(ctx, body)
	}
	rs := newResults(body)
	for {
		raw, err := rs.next()
		if err == io.EOF {
			last := rs.tail["last_seq"]
			if last == nil {
				return fmt.Errorf("the feed ends without last_seq: %w", io.ErrUnexpectedEOF)
			}
			if string(last) != "null" {
				f.since = append(f.since[:0], last...)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := f.row(ctx, raw); err != nil {
			return err
		}
	}
}

// readLines reads a continuous feed. A batch ends when nothing more is
// waiting.
func (f *feed) readLines(ctx context.Context, body io.Reader) error {
	s := newStream(body)
	for {
		waited := !s.whole()
		if waited {
			if err := f.close(ctx); err != nil {
				return err
			}
		}
		raw, err := s.value()
		if waited {
			f.lap.mark(&f.lap.in)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f.row(ctx, raw); err != nil {
			return err
		}
	}
}

// row adds one change to the batch.
func (f *feed) row(ctx context.Context, raw []byte) error {
	w, err := parseRow(raw)
	if err != nil {
		return fmt.Errorf("read a change: %w", err)
	}
	if w.seq != nil {
		f.since = append(f.since[:0], w.seq...)
	}
	if len(w.revs) == 0 {
		return nil
	}
	if f.b == nil {
		f.b = f.r.tracker.start()
		f.box.b = f.b
	}
	f.rows++
	f.bytes += len(raw)
	f.r.count.rows.Add(1)
	wish := want{id: bytes.Clone(w.id), revs: w.revs, attBytes: -1}
	if w.doc == nil {
		f.wants = append(f.wants, wish)
	} else if err := f.withDoc(ctx, w, wish); err != nil {
		return err
	}
	if f.rows >= f.r.opt.WorkerBatchSize || f.bytes >= batchBytes {
		if err := f.close(ctx); err != nil {
			return err
		}
	}
	if f.docs && f.tried >= enoughTried && 2*f.useful < f.tried {
		return errWithoutDocs
	}
	return nil
}

// withDoc passes the row's document on if that is all there is to copy, else
// it keeps what the document tells.
func (f *feed) withDoc(ctx context.Context, w row, wish want) error {
	f.tried++
	m, err := readMeta(w.doc)
	if err != nil {
		return fmt.Errorf("read the document of a change: %w", err)
	}
	if m.attachments != nil {
		f.useful++
		_, wish.attBytes = lacking(m.attachments, 0)
		f.bytes += int(min(wish.attBytes, batchBytes))
	}
	whole := len(w.revs) == 1 && strings.HasPrefix(w.revs[0], "1-") && m.rev == w.revs[0] &&
		bytes.Equal(m.id, w.id) && m.attachments == nil && !w.deleted && !m.deleted
	if !whole {
		f.wants = append(f.wants, wish)
		return nil
	}
	f.useful++
	c := &f.r.count
	c.checked.Add(1)
	c.found.Add(1)
	c.feedDocs.Add(1)
	return f.box.add(ctx, f.lap, w.doc)
}

// close ends the batch and hands on what it wants.
func (f *feed) close(ctx context.Context) error {
	b := f.b
	if b == nil {
		// Changes that a filter held back still moved the sequence.
		if bytes.Equal(f.since, f.closed) {
			return nil
		}
		b = f.r.tracker.start()
	}
	b.seq = bytes.Clone(f.since)
	f.closed = b.seq
	f.r.setSourceSeq(b.seq)
	b.rows = f.rows
	wants := f.wants
	f.b, f.wants, f.rows, f.bytes = nil, nil, 0, 0
	if err := f.box.flush(ctx, f.lap); err != nil {
		return err
	}
	if len(wants) > 0 {
		b.add()
		if err := give(ctx, f.lap, f.out, &job{b: b, wants: wants}); err != nil {
			return err
		}
	}
	b.done()
	return nil
}
