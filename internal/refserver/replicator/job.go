package replicator

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"couchgauge/replicate/engine"
)

// Job is a replication as it was asked for.
type Job struct {
	ID             string // of what it copies: a hash, then "+continuous", "+create_target"
	Source, Target Endpoint
	Options        engine.Options

	Database, DocID string // of the document that asked for it; "" for _replicate
	User            string // who asked for it; "" when nobody is known
	Asked           time.Time

	userFilter bool // Options.Filter is a function in a design document
}

// transient says whether a job was asked for by _replicate: it is tried once.
func (j *Job) transient() bool { return j.DocID == "" }

// same says whether two jobs do the same for the same document.
func (j *Job) same(other *Job) bool {
	a, b := *j, *other
	a.ID, b.ID, a.Asked, b.Asked, a.User, b.User = "", "", time.Time{}, time.Time{}, "", ""
	return reflect.DeepEqual(a, b)
}

// Request is what a body of _replicate asks for: a job to be run, or one to be
// cancelled.
type Request struct {
	Job
	Cancel   bool
	CancelID string // "" where the job to cancel is the one described
}

// Parse reads a body of _replicate or a replication document. The job has no
// ID yet.
func Parse(raw json.RawMessage, set Settings) (*Request, *Invalid) {
	r, err := parse(raw, set)
	var invalid *Invalid
	if err != nil && !errors.As(err, &invalid) {
		invalid = &Invalid{crash, "badarg"}
	}
	return r, invalid
}

func parse(raw json.RawMessage, set Settings) (*Request, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, &Invalid{crash, "function_clause"}
	}
	sourceProxy, targetProxy, err := parseProxies(fields)
	if err != nil {
		return nil, err
	}
	o, err := parseOptions(raw, set)
	if err != nil {
		return nil, err
	}
	r := &Request{Job: Job{Options: o.Options, userFilter: o.userFilter()}, Cancel: o.cancel, CancelID: o.id}
	if r.Cancel && r.CancelID != "" {
		return r, nil
	}
	if r.Source, err = parseEndpoint(fields["source"]); err != nil {
		return nil, err
	}
	if r.Target, err = parseEndpoint(fields["target"]); err != nil {
		return nil, err
	}
	r.Source.Proxy, r.Target.Proxy = sourceProxy, targetProxy
	return r, o.checkFunction()
}

// identify gives a job its ID, which is the same for everything that decides
// what is copied. server tells reference servers apart, filter is the text of
// the filter function.
func (j *Job) identify(server, filter string) error {
	var selector any // decoded and encoded again, so that the order of its members does not count
	if j.Options.Selector != nil {
		if err := json.Unmarshal(j.Options.Selector, &selector); err != nil {
			return fmt.Errorf("identify a replication: read its selector: %w", err)
		}
	}
	headers := func(e Endpoint) any {
		h := e.Header.Clone()
		h.Del("Authorization")
		return h
	}
	b, err := json.Marshal([]any{
		server,
		j.Source.URL, j.Source.user(), headers(j.Source),
		j.Target.URL, j.Target.user(), headers(j.Target),
		j.Options.Filter, filter, j.Options.QueryParams, j.Options.DocIDs, selector, j.Options.WinningRevsOnly,
	})
	if err != nil {
		return fmt.Errorf("identify a replication: %w", err)
	}
	sum := md5.Sum(b)
	j.ID = hex.EncodeToString(sum[:])
	if j.Options.Continuous {
		j.ID += "+continuous"
	}
	if j.Options.CreateTarget {
		j.ID += "+create_target"
	}
	return nil
}
