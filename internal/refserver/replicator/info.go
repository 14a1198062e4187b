package replicator

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// orNull is nil, JSON's null, for "".
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// pid looks like an Erlang process and tells one run from another.
func (r *run) pid() string { return fmt.Sprintf("<0.%d.0>", r.number) }

// JobInfo is an entry of _scheduler/jobs.
type JobInfo struct {
	Database  *string     `json:"database"`
	ID        string      `json:"id"`
	PID       *string     `json:"pid"` // null while the job does not run
	Source    string      `json:"source"`
	Target    string      `json:"target"`
	User      *string     `json:"user"`
	DocID     *string     `json:"doc_id"`
	Info      *Stats      `json:"info"` // null before anything was read
	History   []EventInfo `json:"history"`
	Node      string      `json:"node"`
	StartTime string      `json:"start_time"`
}

// EventInfo is an event of a job's history.
type EventInfo struct {
	Timestamp string `json:"timestamp"`
	Type      string `json:"type"` // added, started, stopped, crashed
	Reason    string `json:"reason,omitempty"`
}

// Jobs are all jobs in the table, in order of their IDs.
func (s *Scheduler) Jobs() []JobInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]JobInfo, 0, len(s.jobs))
	for _, e := range s.jobs {
		out = append(out, s.info(e))
	}
	slices.SortFunc(out, func(a, b JobInfo) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Job is one of them.
func (s *Scheduler) Job(id string) (JobInfo, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.jobs[id]
	if e == nil {
		return JobInfo{}, false
	}
	return s.info(e), true
}

func (s *Scheduler) info(e *entry) JobInfo {
	j := &e.job
	info := JobInfo{
		Database: orNull(j.Database), ID: j.ID, Source: j.Source.String(), Target: j.Target.String(),
		User: orNull(j.User), DocID: orNull(j.DocID), Info: e.now(), Node: s.node, StartTime: timestamp(j.Asked),
	}
	if e.run != nil {
		info.PID = orNull(e.run.pid())
	}
	for _, h := range e.history {
		info.History = append(info.History, EventInfo{timestamp(h.at), string(h.kind), h.reason})
	}
	return info
}

// Task is an entry of _active_tasks, its members in CouchDB's order.
type Task struct {
	Node            string  `json:"node"`
	PID             string  `json:"pid"`
	ProcessStatus   string  `json:"process_status"`
	BulkGetAttempts int64   `json:"bulk_get_attempts"`
	BulkGetDocs     int64   `json:"bulk_get_docs"`
	Pending         *int64  `json:"changes_pending"`
	Interval        int64   `json:"checkpoint_interval"` // ms
	CheckpointedSeq any     `json:"checkpointed_source_seq"`
	Continuous      bool    `json:"continuous"`
	Database        *string `json:"database"`
	DocID           *string `json:"doc_id"`
	Failures        int64   `json:"doc_write_failures"`
	Read            int64   `json:"docs_read"`
	Written         int64   `json:"docs_written"`
	Found           int64   `json:"missing_revisions_found"`
	ID              string  `json:"replication_id"`
	Checked         int64   `json:"revisions_checked"`
	Source          string  `json:"source"`
	SourceSeq       any     `json:"source_seq"`
	StartedOn       int64   `json:"started_on"` // Unix seconds
	Target          string  `json:"target"`
	ThroughSeq      any     `json:"through_seq"`
	Type            string  `json:"type"`
	UpdatedOn       int64   `json:"updated_on"`
	User            *string `json:"user"`
}

// Tasks are the jobs that are copying now.
func (s *Scheduler) Tasks() []Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Task{}
	for _, e := range s.sorted(func(e *entry) bool { return e.run != nil && e.run.copying != nil }) {
		j, n := &e.job, statsOf(e.run.copying.Progress(), e.stats)
		out = append(out, Task{
			Node: s.node, PID: e.run.pid(), ProcessStatus: "waiting",
			BulkGetAttempts: n.BulkGetAttempts, BulkGetDocs: n.BulkGetDocs, Pending: n.Pending,
			Interval: j.Options.CheckpointInterval.Milliseconds(), CheckpointedSeq: n.CheckpointedSeq,
			Continuous: j.Options.Continuous, Database: orNull(j.Database), DocID: orNull(j.DocID),
			Failures: n.Failures, Read: n.Read, Written: n.Written, Found: n.Found, ID: j.ID, Checked: n.Checked,
			Source: j.Source.String(), SourceSeq: n.SourceSeq, StartedOn: e.run.begun.Unix(),
			Target: j.Target.String(), ThroughSeq: n.ThroughSeq, Type: "replication",
			UpdatedOn: s.clock.now().Unix(), User: orNull(j.User),
		})
	}
	return out
}
