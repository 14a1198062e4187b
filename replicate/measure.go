package replicate

import (
	"context"
	"maps"
	"time"

	"couchgauge/results"
)

// look reads the targets' sizes and their servers' request counters.
func (x *sample) look(ctx context.Context) (state, error) {
	var st state
	for _, t := range x.targets() {
		info, err := databaseInfo(ctx, t.peer.Server.Control(), t.db)
		if err != nil {
			return st, err
		}
		st.targets = append(st.targets, info)
	}
	st.bulkRequests = bulkRequests(ctx, x.targets())
	return st, nil
}

// state is what the servers of a sample's targets tell at one time.
type state struct {
	targets      []dbInfo
	bulkRequests float64 // _bulk_docs so far, over all servers; -1 = not told
}

func (st state) seqs() []string {
	var list []string
	for _, t := range st.targets {
		list = append(list, t.since())
	}
	return list
}

func (st state) docs() int64 {
	var n int64
	for _, t := range st.targets {
		n += t.Docs + max(t.Deleted, 0)
	}
	return n
}

// file is the targets' bytes on disk; -1 = not told.
func (st state) file() int64 {
	var n int64
	for _, t := range st.targets {
		if t.File < 0 {
			return -1
		}
		n += t.File
	}
	return n
}

// bulkRequests asks the targets' servers how many _bulk_docs they have had
// (CouchDB docs, "/_node/{node-name}/_stats"). Of a cluster only the node that
// answers is heard.
func bulkRequests(ctx context.Context, targets []endpoint) float64 {
	seen := map[string]bool{}
	sum := 0.0
	for _, t := range targets {
		if seen[t.peer.Server.URL()] {
			continue
		}
		seen[t.peer.Server.URL()] = true
		var said struct{ Value *float64 }
		err := t.peer.Server.Control().JSON(ctx, "GET", "_node/_local/_stats/couchdb/httpd/bulk_requests", nil, &said)
		if err != nil || said.Value == nil {
			return -1
		}
		sum += *said.Value
	}
	return sum
}

// times sets the sample's duration and start-up. The time from submit to the
// first change at a target holds whatever the server sleeps and sets up.
func (x *sample) times(s *results.Sample, list []jobResult, firsts []time.Time) {
	began, ended, first := time.Time{}, time.Time{}, time.Time{}
	for i := range list {
		r := &list[i]
		if r.submitted.IsZero() {
			continue // a chain that broke before
		}
		if began.IsZero() || r.submitted.Before(began) {
			began = r.submitted
		}
		if r.ended.After(ended) {
			ended = r.ended
		}
		for k, t := range x.layout.targets() {
			if x.layout.edges[i].to == t && !firsts[k].IsZero() {
				r.Startup = results.Seconds(firsts[k].Sub(r.submitted))
			}
		}
	}
	for _, at := range firsts {
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	s.At = began
	s.Duration = results.Seconds(ended.Sub(began))
	s.Measures = map[string]float64{}
	if !first.IsZero() {
		s.Measures["startup_s"] = first.Sub(began).Seconds()
		s.Measures["transfer_s"] = max(0, ended.Sub(first).Seconds())
	}
}

// measure sets the other figures: of the targets themselves, and what the jobs
// say of themselves (fact 24: never the one for the other).
func (x *sample) measure(s *results.Sample, list []jobResult, before, after state) {
	took := time.Duration(s.Duration).Seconds()
	docs := float64(after.docs() - before.docs())
	if x.update > 0 { // the documents were there before
		docs = float64(x.shape.docs)
	}
	if took > 0 {
		s.Measures["docs_per_s"] = docs / took
		s.Measures["bytes_per_s"] = docs * x.bytesPerDocument() / took
	}
	var ends []outcome
	for _, r := range list {
		ends = append(ends, r.outcome)
		addStages(s.Measures, r.outcome)
	}
	maps.Copy(s.Measures, addCounters(ends))
	if grown := after.file() - before.file(); before.file() >= 0 && after.file() >= 0 {
		s.Measures["target_growth_bytes"] = float64(grown)
	}
	// Documents with attachments may have come one by one.
	if n := after.bulkRequests - before.bulkRequests; before.bulkRequests >= 0 && n > 0 && x.shape.count == 0 {
		s.Measures["docs_per_bulk_docs"] = docs * float64(x.shape.conflicts) / n
	}
}

// addStages adds a job's stage times and restarts to the measures.
func addStages(measures map[string]float64, o outcome) {
	for name, value := range o.Stages {
		measures[name] += value
	}
	if o.Restarts > 0 {
		measures["restarts"] += float64(o.Restarts)
	}
}

// bytesPerDocument is the payload that moves for a document, all its leaves.
func (x *sample) bytesPerDocument() float64 {
	if x.update > 0 {
		return float64(x.shape.size())
	}
	return float64(x.shape.payload()) / float64(x.shape.docs)
}
