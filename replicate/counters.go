package replicate

import (
	"encoding/json"
)

// counters are what a server says a job did. A counter is nil where the server
// says null or nothing (fact 27).
type counters struct {
	DocsRead         *float64 `json:"docs_read"`
	DocsWritten      *float64 `json:"docs_written"`
	DocWriteFailures *float64 `json:"doc_write_failures"`
	MissingChecked   *float64 `json:"revisions_checked"`
	MissingFound     *float64 `json:"missing_revisions_found"`
	BulkGetAttempts  *float64 `json:"bulk_get_attempts"`
	BulkGetDocs      *float64 `json:"bulk_get_docs"`
	ChangesPending   *float64 `json:"changes_pending"`
}

// history is an answer of _replicate: the counters are those of the newest
// session, and stand beside it where there is no history (PouchDB). A
// scheduler's info and a document's _replication_stats have the same counters
// under partly other names.
type history struct {
	counters
	Checked   *float64 `json:"missing_checked"`
	Found     *float64 `json:"missing_found"`
	NoChanges bool     `json:"no_changes"`
	Sessions  []struct {
		counters
		Checked *float64 `json:"missing_checked"`
		Found   *float64 `json:"missing_found"`
	} `json:"history"`
}

// parseCounters reads the counters of any of the forms; what is no JSON object
// has none.
func parseCounters(raw json.RawMessage) counters {
	var h history
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &h) != nil {
		return counters{}
	}
	c, checked, found := h.counters, h.Checked, h.Found
	if len(h.Sessions) > 0 {
		s := h.Sessions[0]
		c, checked, found = s.counters, s.Checked, s.Found
	}
	if c.MissingChecked == nil {
		c.MissingChecked = checked
	}
	if c.MissingFound == nil {
		c.MissingFound = found
	}
	return c
}

// columns are the counters that a row shows.
func (c counters) columns() map[string]*float64 {
	return map[string]*float64{
		"docs_read":          c.DocsRead,
		"docs_written":       c.DocsWritten,
		"doc_write_failures": c.DocWriteFailures,
		"revisions_checked":  c.MissingChecked,
		"missing_found":      c.MissingFound,
		"bulk_get_attempts":  c.BulkGetAttempts,
		"bulk_get_docs":      c.BulkGetDocs,
	}
}

// since is what was counted after an earlier reading.
func (c counters) since(earlier counters) counters {
	less := func(now, then *float64) *float64 {
		if now == nil || then == nil {
			return now
		}
		d := *now - *then
		return &d
	}
	c.DocsRead = less(c.DocsRead, earlier.DocsRead)
	c.DocsWritten = less(c.DocsWritten, earlier.DocsWritten)
	c.DocWriteFailures = less(c.DocWriteFailures, earlier.DocWriteFailures)
	c.MissingChecked = less(c.MissingChecked, earlier.MissingChecked)
	c.MissingFound = less(c.MissingFound, earlier.MissingFound)
	c.BulkGetAttempts = less(c.BulkGetAttempts, earlier.BulkGetAttempts)
	c.BulkGetDocs = less(c.BulkGetDocs, earlier.BulkGetDocs)
	return c
}

// addCounters adds up the jobs' counters. One that a job did not tell is not
// known for the whole.
func addCounters(jobs []outcome) map[string]float64 {
	sums := map[string]float64{}
	unknown := map[string]bool{}
	for _, j := range jobs {
		for name, value := range j.Counters.columns() {
			if value == nil {
				unknown[name] = true
				continue
			}
			sums[name] += *value
		}
	}
	for name := range unknown {
		delete(sums, name)
	}
	return sums
}
