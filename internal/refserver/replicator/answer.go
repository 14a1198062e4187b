package replicator

import (
	"encoding/json"

	"couchgauge/replicate/engine"
)

// Answer is what _replicate answers when a job has completed.
type Answer struct {
	OK             bool            `json:"ok"`
	NoChanges      bool            `json:"no_changes,omitempty"`
	UseCheckpoints *bool           `json:"use_checkpoints,omitempty"` // false, and then nothing else
	SessionID      string          `json:"session_id,omitempty"`
	SourceLastSeq  json.RawMessage `json:"source_last_seq,omitempty"`
	Version        int             `json:"replication_id_version,omitempty"`
	*shortAnswer
	History []engine.History `json:"history,omitempty"`
}

// shortAnswer is what a job by doc_ids answered in the versions before 1.1; it
// still does.
type shortAnswer struct {
	StartTime string `json:"start_time"`
	EndTime   string `json:"end_time"`
	Read      int64  `json:"docs_read"`
	Written   int64  `json:"docs_written"`
	Failures  int64  `json:"doc_write_failures"`
}

// idVersion is the version of replication ids that CouchDB tells.
const idVersion = 4

// answer makes the Answer of a job. Where nothing was new it is the history as
// it was, if there was one.
func answer(j *Job, r engine.Result) Answer {
	a := Answer{OK: true, NoChanges: r.NoChanges, History: r.History}
	if on := j.Options.UseCheckpoints; on != nil && !*on && !r.NoChanges {
		return Answer{OK: true, UseCheckpoints: on}
	}
	if r.NoChanges {
		a.History = a.History[min(1, len(a.History)):]
	}
	if len(a.History) == 0 {
		return a
	}
	newest := a.History[0]
	a.SessionID, a.SourceLastSeq, a.Version = newest.SessionID, newest.RecordedSeq, idVersion
	if j.Options.DocIDs != nil {
		a.shortAnswer = &shortAnswer{newest.StartTime, newest.EndTime, newest.DocsRead, newest.DocsWritten, newest.DocWriteFailures}
	}
	return a
}
