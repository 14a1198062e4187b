package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// checkpoint is the document _local/<replication id> as CouchDB writes it
// (CouchDB documentation, "Replication Protocol", "Replication Log").
type checkpoint struct {
	ID        string          `json:"_id,omitempty"`
	Rev       string          `json:"_rev,omitempty"`
	SessionID string          `json:"session_id"`
	SourceSeq json.RawMessage `json:"source_last_seq"`
	Version   int             `json:"replication_id_version"`
	History   []History       `json:"history"`
}

// History is one session in a checkpoint and in a Result.
type History struct {
	SessionID        string          `json:"session_id"`
	StartTime        string          `json:"start_time"` // RFC 1123, GMT
	EndTime          string          `json:"end_time"`
	StartLastSeq     json.RawMessage `json:"start_last_seq"`
	EndLastSeq       json.RawMessage `json:"end_last_seq"`
	RecordedSeq      json.RawMessage `json:"recorded_seq"`
	MissingChecked   int64           `json:"missing_checked"`
	MissingFound     int64           `json:"missing_found"`
	DocsRead         int64           `json:"docs_read"`
	DocsWritten      int64           `json:"docs_written"`
	DocWriteFailures int64           `json:"doc_write_failures"`
	BulkGetDocs      int64           `json:"bulk_get_docs"`
	BulkGetAttempts  int64           `json:"bulk_get_attempts"`
}

const (
	idVersion   = 4  // the version of CouchDB's checkpoints whose rules these follow
	longHistory = 50 // entries kept, as CouchDB keeps them
)

// common finds the sequence up to which both checkpoints agree, and the
// history before it: that of the same last session, else of the newest
// session that both histories have. nil is none: start from the beginning.
func common(source, target checkpoint) (json.RawMessage, []History) {
	if source.SessionID == target.SessionID {
		return source.SourceSeq, source.History
	}
	s, t := source.History, target.History
	for len(s) > 0 && len(t) > 0 {
		if hasSession(t, s[0].SessionID) {
			return s[0].RecordedSeq, s[1:]
		}
		if hasSession(s[1:], t[0].SessionID) {
			return t[0].RecordedSeq, t[1:]
		}
		s, t = s[1:], t[1:]
	}
	return nil, nil
}

func hasSession(h []History, id string) bool {
	for _, e := range h {
		if e.SessionID == id {
			return true
		}
	}
	return false
}

// readCheckpoint fetches a checkpoint; a missing one is empty.
func (e *endpoint) readCheckpoint(ctx context.Context, id string) (checkpoint, error) {
	var c checkpoint
	err := e.json(ctx, request{method: http.MethodGet, path: "_local/" + id}, &c)
	if status(err) == http.StatusNotFound {
		return checkpoint{}, nil
	}
	if err != nil {
		return c, fmt.Errorf("read the checkpoint of %s: %w", e.base, err)
	}
	return c, nil
}

// writeCheckpoint stores c and returns its revision. A conflict may be the
// echo of a try whose answer was lost: then what is stored is of this session
// and the sequence.
func (e *endpoint) writeCheckpoint(ctx context.Context, id string, c checkpoint) (string, error) {
	c.ID = "_local/" + id
	b, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encode the checkpoint: %w", err)
	}
	var put struct {
		Rev string `json:"rev"`
	}
	err = e.json(ctx, request{method: http.MethodPut, path: "_local/" + id, body: b}, &put)
	if status(err) == http.StatusConflict {
		if now, err := e.readCheckpoint(ctx, id); err == nil &&
			now.SessionID == c.SessionID && string(now.SourceSeq) == string(c.SourceSeq) {
			return now.Rev, nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("write the checkpoint of %s: %w: without the right to write there, set use_checkpoints to false", e.base, err)
	}
	return put.Rev, nil
}

// commit asks for everything written so far to be on disk. Servers that do
// not know the request write through. The answer tells whether the database
// is still the one it was at the start.
func (e *endpoint) commit(ctx context.Context) error {
	var r struct {
		InstanceStartTime json.RawMessage `json:"instance_start_time"`
	}
	err := e.json(ctx, request{method: http.MethodPost, path: "_ensure_full_commit"}, &r)
	if s := status(err); s == http.StatusNotFound || s == http.StatusMethodNotAllowed {
		return nil
	}
	if err != nil {
		return fmt.Errorf("commit %s before the checkpoint: %w", e.base, err)
	}
	was, is := text(e.born), text(r.InstanceStartTime)
	if was != is && !unknownBirth[was] && !unknownBirth[is] {
		return fmt.Errorf("commit %s before the checkpoint: the database was deleted and created again meanwhile: start the replication again", e.base)
	}
	return nil
}

// unknownBirth are the start times of servers that do not tell.
var unknownBirth = map[string]bool{"": true, "0": true, "null": true}

// log is a job's checkpoints on both sides.
type log struct {
	id                   string
	sourceRev, targetRev string
	start                json.RawMessage // where this session started; nil is the beginning
	before               []History       // sessions before this one
	recorded             json.RawMessage // the last sequence stored by this session
}

// openLog reads both checkpoints and finds where to start.
func (r *Replication) openLog(ctx context.Context) (*log, error) {
	filter, err := r.source.filterSource(ctx, r.opt.Filter)
	if err != nil {
		return nil, err
	}
	id, err := replicationID(r.sourcePeer, r.targetPeer, r.opt, filter)
	if err != nil {
		return nil, err
	}
	var s, t checkpoint
	if err := both(ctx,
		func(ctx context.Context) (err error) { s, err = r.source.readCheckpoint(ctx, id); return err },
		func(ctx context.Context) (err error) { t, err = r.target.readCheckpoint(ctx, id); return err },
	); err != nil {
		return nil, err
	}
	l := &log{id: id, sourceRev: s.Rev, targetRev: t.Rev}
	if *r.opt.UseCheckpoints {
		l.start, l.before = common(s, t)
	}
	if empty(l.start) {
		l.start = nil
		if r.opt.SinceSeq != "" {
			if l.start, err = json.Marshal(r.opt.SinceSeq); err != nil {
				return nil, fmt.Errorf("encode since_seq: %w", err)
			}
		}
	}
	l.recorded = l.start
	return l, nil
}

func empty(seq json.RawMessage) bool {
	s := string(seq)
	return s == "" || s == "null" || s == "0" || s == `"0"`
}

// record stores the sequence that everything is written up to, on both sides.
// Without checkpoints it only has the target commit.
func (r *Replication) record(ctx context.Context) error {
	seq := r.tracker.through()
	if empty(seq) || string(seq) == string(r.log.recorded) {
		return nil
	}
	if !*r.opt.UseCheckpoints {
		r.log.recorded = seq
		return r.target.commit(ctx)
	}
	// The history is taken after the sequence: it may count more documents
	// than lie before it, as CouchDB's may.
	h := r.history(seq)
	c := checkpoint{SessionID: h.SessionID, SourceSeq: seq, Version: idVersion, History: append([]History{h}, r.log.before...)}
	if len(c.History) > longHistory {
		c.History = c.History[:longHistory]
	}
	if err := both(ctx, r.source.commit, r.target.commit); err != nil {
		return err
	}
	s, t := c, c
	s.Rev, t.Rev = r.log.sourceRev, r.log.targetRev
	if err := both(ctx,
		func(ctx context.Context) (err error) {
			r.log.sourceRev, err = r.source.writeCheckpoint(ctx, r.log.id, s)
			return err
		},
		func(ctx context.Context) (err error) {
			r.log.targetRev, err = r.target.writeCheckpoint(ctx, r.log.id, t)
			return err
		},
	); err != nil {
		return err
	}
	r.log.recorded = seq
	r.setCheckpointed(seq)
	return nil
}

func (r *Replication) history(seq json.RawMessage) History {
	start := r.log.start
	if start == nil {
		start = json.RawMessage("0")
	}
	p := r.Progress()
	return History{
		SessionID:        r.session,
		StartTime:        r.started.UTC().Format(http.TimeFormat),
		EndTime:          r.clock.now().UTC().Format(http.TimeFormat),
		StartLastSeq:     start,
		EndLastSeq:       seq,
		RecordedSeq:      seq,
		MissingChecked:   p.MissingChecked,
		MissingFound:     p.MissingFound,
		DocsRead:         p.DocsRead,
		DocsWritten:      p.DocsWritten,
		DocWriteFailures: p.DocWriteFailures,
		BulkGetDocs:      p.BulkGetDocs,
		BulkGetAttempts:  p.BulkGetAttempts,
	}
}

// recordEvery writes checkpoints until the context ends.
func (r *Replication) recordEvery(ctx context.Context, d time.Duration) error {
	for {
		if err := r.clock.sleep(ctx, d); err != nil {
			return nil
		}
		if err := r.record(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// recordLast writes a checkpoint after Run was stopped, in the time a user
// who stopped it is ready to wait.
func (r *Replication) recordLast(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), lastCheckpoint,
		errors.New("no time left for the last checkpoint"))
	defer cancel()
	return r.record(ctx)
}

const lastCheckpoint = 2 * time.Second

// both runs two functions at once and returns the first error.
func both(ctx context.Context, a, b func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- a(ctx) }()
	err := b(ctx)
	if first := <-done; first != nil {
		return first
	}
	return err
}
