package replicator

import (
	"bytes"
	"encoding/json"
)

// DocInfo is an entry of _scheduler/docs.
type DocInfo struct {
	State State // "" is null
	json  any
}

// MarshalJSON writes the members that CouchDB has for a document in that state.
func (i DocInfo) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // whoever encodes the whole decides
	err := e.Encode(i.json)
	return b.Bytes(), err
}

// waiting is a document that is not in the scheduler yet.
type waiting struct {
	Database    string     `json:"database"`
	DocID       string     `json:"doc_id"`
	ID          *string    `json:"id"`
	State       State      `json:"state"`
	Info        *errorInfo `json:"info"`
	ErrorCount  int        `json:"error_count"`
	Node        string     `json:"node"`
	LastUpdated string     `json:"last_updated"`
	StartTime   string     `json:"start_time"`
}

type errorInfo struct {
	Error string `json:"error"`
}

// scheduled is one whose job is in the scheduler.
type scheduled struct {
	Database    string  `json:"database"`
	DocID       string  `json:"doc_id"`
	ID          string  `json:"id"`
	Node        string  `json:"node"`
	Source      string  `json:"source"`
	Target      string  `json:"target"`
	State       State   `json:"state"`
	Info        any     `json:"info"`
	ErrorCount  int     `json:"error_count"`
	LastUpdated string  `json:"last_updated"`
	StartTime   string  `json:"start_time"`
	SourceProxy *string `json:"source_proxy"`
	TargetProxy *string `json:"target_proxy"`
}

// written is one that says its state itself, or that nothing is known of.
type written struct {
	Database    string  `json:"database"`
	DocID       string  `json:"doc_id"`
	ID          *string `json:"id"`
	Source      *string `json:"source"`
	Target      *string `json:"target"`
	State       *State  `json:"state"`
	ErrorCount  int     `json:"error_count"`
	Info        any     `json:"info"`
	StartTime   *string `json:"start_time"`
	LastUpdated *string `json:"last_updated"`
}

// Info tells of one document, whose body is given. known is false of a document
// that neither says its state nor is being worked at.
func (d *Documents) Info(database, id string, body json.RawMessage) (info DocInfo, known bool) {
	var at docState
	var ends struct{ Source, Target json.RawMessage }
	_ = json.Unmarshal(body, &at) // of another shape nothing can be told
	_ = json.Unmarshal(body, &ends)
	w := written{Database: database, DocID: id, Source: printed(ends.Source), Target: printed(ends.Target), LastUpdated: at.Time}
	switch at.State {
	case Completed:
		var stats map[string]json.RawMessage
		_ = json.Unmarshal(at.Stats, &stats)
		if start, ok := text(stats["start_time"]); ok {
			w.StartTime = &start
		}
		w.State, w.Info = &at.State, withoutStart(at.Stats)
		return DocInfo{at.State, w}, true
	case Failed:
		w.State, w.ErrorCount, w.StartTime = &at.State, 1, at.Time
		if reason, ok := text(at.Reason); ok {
			w.Info = errorInfo{reason}
		}
		return DocInfo{at.State, w}, true
	}
	if info, ok := d.active(docKey{database, id}); ok {
		return info, true
	}
	return DocInfo{json: w}, false
}

// withoutStart is the object of a completed document's counters, without the
// member start_time, which has a place of its own.
func withoutStart(stats json.RawMessage) any {
	var s Stats
	if json.Unmarshal(stats, &s) != nil {
		return struct{}{}
	}
	s.StartTime = ""
	return s
}

// printed is an endpoint without credentials, nil when it cannot be read.
func printed(raw json.RawMessage) *string {
	e, err := parseEndpoint(raw)
	if err != nil {
		if s, ok := text(raw); ok && err.(*Invalid).reason == "local_endpoints_not_supported" {
			return &s
		}
		return nil
	}
	s := e.String()
	return &s
}

// active tells of a document that is being worked at.
func (d *Documents) active(key docKey) (DocInfo, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.rows[key]
	if r == nil {
		return DocInfo{}, false
	}
	if r.state == Running {
		info, ok := d.s.summary(r.jobID)
		info.Database, info.DocID = key.database, key.id
		return DocInfo{info.State, info}, ok
	}
	w := waiting{
		Database: key.database, DocID: key.id, ID: orNull(r.jobID), State: r.state, ErrorCount: r.errors,
		Node: d.s.node, LastUpdated: timestamp(r.updated), StartTime: timestamp(r.job.Asked),
	}
	if r.info != "" {
		w.Info = &errorInfo{r.info}
	}
	return DocInfo{r.state, w}, true
}

// summary tells of a job what _scheduler/docs does.
func (s *Scheduler) summary(id string) (scheduled, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.jobs[id]
	if e == nil {
		return scheduled{}, false // it has just ended
	}
	j := &e.job
	i := scheduled{
		ID: j.ID, Node: s.node, Source: j.Source.String(), Target: j.Target.String(),
		State: Running, ErrorCount: e.history.crashes(s.set.healthThreshold()),
		LastUpdated: timestamp(e.history[0].at), StartTime: timestamp(j.Asked),
		SourceProxy: j.Source.proxy(), TargetProxy: j.Target.proxy(),
	}
	switch stats := e.now(); {
	case e.run == nil && e.history[0].kind == crashed:
		i.State, i.Info = Crashing, errorInfo{e.history[0].reason}
		return i, true
	case e.run == nil:
		i.State = Pending
		fallthrough
	default:
		if stats != nil {
			i.Info = stats
		}
	}
	return i, true
}
