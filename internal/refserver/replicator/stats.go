package replicator

import (
	"encoding/json"

	"couchgauge/replicate/engine"
)

// Stats are a job's counters in the words of _scheduler and _active_tasks.
type Stats struct {
	Checked         int64           `json:"revisions_checked"`
	Found           int64           `json:"missing_revisions_found"`
	Read            int64           `json:"docs_read"`
	Written         int64           `json:"docs_written"`
	Pending         *int64          `json:"changes_pending"` // null where the source does not tell
	Failures        int64           `json:"doc_write_failures"`
	BulkGetDocs     int64           `json:"bulk_get_docs"`
	BulkGetAttempts int64           `json:"bulk_get_attempts"`
	CheckpointedSeq json.RawMessage `json:"checkpointed_source_seq"`
	SourceSeq       json.RawMessage `json:"source_seq,omitempty"`
	ThroughSeq      json.RawMessage `json:"through_seq,omitempty"`
	StartTime       string          `json:"start_time,omitempty"` // in a document's
}

// statsOf are the counters of a run that began with those of the runs before
// it.
func statsOf(p engine.Progress, before *Stats) *Stats {
	s := &Stats{
		Checked: p.MissingChecked, Found: p.MissingFound,
		Read: p.DocsRead, Written: p.DocsWritten, Failures: p.DocWriteFailures,
		BulkGetDocs: p.BulkGetDocs, BulkGetAttempts: p.BulkGetAttempts,
		CheckpointedSeq: seq(p.CheckpointedSeq), SourceSeq: seq(p.SourceSeq), ThroughSeq: seq(p.ThroughSeq),
	}
	if p.Pending >= 0 {
		s.Pending = &p.Pending
	}
	if before != nil {
		s.Checked += before.Checked
		s.Found += before.Found
		s.Read += before.Read
		s.Written += before.Written
		s.Failures += before.Failures
		s.BulkGetDocs += before.BulkGetDocs
		s.BulkGetAttempts += before.BulkGetAttempts
	}
	return s
}

// seq is a sequence as CouchDB prints it here: as text, the beginning too.
func seq(s json.RawMessage) json.RawMessage {
	if len(s) == 0 || string(s) == "0" || string(s) == "null" {
		return json.RawMessage(`"0"`)
	}
	return s
}

// final is what the document of a completed job keeps.
func (s Stats) final(startTime string) Stats {
	s.SourceSeq, s.ThroughSeq, s.StartTime = nil, nil, startTime
	return s
}
