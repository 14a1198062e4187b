package replicate

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"couchgauge/internal/couch"
)

// route is a pair of servers that a host replicates between.
type route struct{ from, to *Peer }

// routes lists those that a host's jobs use.
func (s *Session) routes(h *host) []route {
	var list []route
	for _, c := range s.cells {
		if c.driver == fillDriver || c.here() {
			continue
		}
		for _, e := range c.layout.edges {
			r := route{s.peerOf(c.layout.databases[e.from]), s.peerOf(c.layout.databases[e.to])}
			if s.host(s.hostOf(c.layout, e)) == h && !slices.Contains(list, r) {
				list = append(list, r)
			}
		}
	}
	return list
}

// checkTime bounds a tiny job.
const checkTime = time.Minute

// checkHost has a host run a tiny job over each of its routes (case R5).
func (s *Session) checkHost(ctx context.Context, h *host) error {
	for _, r := range s.routes(h) {
		if err := s.checkRoute(ctx, h, r); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) checkRoute(ctx context.Context, h *host, r route) error {
	from, err := s.create(ctx, r.from, "check")
	if err != nil {
		return err
	}
	defer s.drop(context.WithoutCancel(ctx), from)
	if err := fillCheck(ctx, from); err != nil {
		return err
	}
	list := logins
	if h.login != "" {
		list = []login{h.login}
	}
	if r.from.User == "" && r.to.User == "" {
		list = logins[:1]
	}
	var o outcome
	for _, l := range list {
		var to endpoint
		if to, err = s.create(ctx, r.to, "check"); err != nil {
			return err
		}
		defer s.drop(context.WithoutCancel(ctx), to)
		o = tinyJob(ctx, h, l, from, to)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if o.State == stateCompleted {
			h.login = l
			if err := s.learn(ctx, h, to, o); err != nil || s.plan.Updates == 0 {
				return err
			}
			return h.learnCounting(ctx, from, to)
		}
	}
	if o.noReplicate {
		return fmt.Errorf("%s has no _replicate: use --driver couchgauge", h.peer)
	}
	why := o.Reason
	if o.err != nil {
		why = o.err.Error()
	}
	return &AddressError{Host: h.peer.Server.URL(), Source: from.address(), Target: "a database at " + baseOf(r.to), Reason: why}
}

// AddressError says that a server cannot replicate between the addresses that
// it was given.
type AddressError struct {
	Host, Source, Target, Reason string
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("a tiny job failed: the server at %s was to replicate %s to %s: %s: "+
		"give --source-as and --target-as the base URLs as that server sees them, not as this machine does",
		e.Host, e.Source, e.Target, e.Reason)
}

// baseOf is the base URL of a peer for jobs.
func baseOf(p *Peer) string {
	if p.As != "" {
		return p.As
	}
	return p.Server.URL()
}

// fillCheck writes the documents of a tiny job: one, and one with a conflict.
func fillCheck(ctx context.Context, e endpoint) error {
	const documents = `{"new_edits":false,"docs":[` +
		`{"_id":"one","_rev":"1-0123456789abcdef0123456789abcdef"},` +
		`{"_id":"two","_rev":"1-0123456789abcdef0123456789abcdef"},` +
		`{"_id":"two","_rev":"1-fedcba9876543210fedcba9876543210"}]}`
	path := couch.EscapeSegment(e.db) + "/_bulk_docs"
	if err := e.peer.Server.Control().JSON(ctx, http.MethodPost, path, jsonText(documents), nil); err != nil {
		return fmt.Errorf("write the documents of a tiny job: %w", err)
	}
	return nil
}

// tinyJob runs a one-shot job by _replicate, which every server has. It does
// not insist on addresses that do not answer.
func tinyJob(ctx context.Context, h *host, l login, from, to endpoint) outcome {
	ctx, cancel := context.WithTimeoutCause(ctx, checkTime, fmt.Errorf("it was not done in %v", checkTime))
	defer cancel()
	j := job{at: h.peer.Server, login: l, source: from, target: to, look: lookEvery, fields: map[string]any{
		"use_bulk_get":        true,
		"winning_revs_only":   true,
		"retries_per_request": 1,
		"connection_timeout":  10_000, // ms
	}}
	p, err := prepareReplicate(ctx, j)
	if err != nil {
		return outcome{State: stateUnknown, err: err}
	}
	defer p.stop(context.WithoutCancel(ctx))
	if err := p.submit(ctx); err != nil {
		return outcome{State: stateUnknown, err: err}
	}
	return p.wait(ctx)
}

// learnCounting runs the tiny job again for one more document.
func (h *host) learnCounting(ctx context.Context, from, to endpoint) error {
	if err := from.peer.Server.Control().JSON(ctx, http.MethodPut, couch.DocPath(from.db, "three"), struct{}{}, nil); err != nil {
		return fmt.Errorf("write a document of a tiny job: %w", err)
	}
	o := tinyJob(ctx, h, h.login, from, to)
	if o.State != stateCompleted {
		return fmt.Errorf("a tiny job that had worked was %s when run again: %s", o.State, o.Reason)
	}
	h.cumulative = o.Counters.DocsRead != nil && *o.Counters.DocsRead > 1
	return nil
}

// learn notes what a tiny job that was done tells about its server.
func (s *Session) learn(ctx context.Context, h *host, to endpoint, o outcome) error {
	docs := 0
	leaves := 0
	err := leafFeed{client: to.peer.Server.Control(), db: to.db}.each(ctx, func(d docLeaves) error {
		docs++
		leaves += len(d.revs)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read what a tiny job wrote: %w", err)
	}
	if docs != 2 {
		return &AddressError{Host: h.peer.Server.URL(), Source: "2 documents", Target: to.address(),
			Reason: fmt.Sprintf("the job says that it is done, and %s holds %d of them: that address is another server's",
				to.peer.Server.URL(), docs)}
	}
	if o.Counters.BulkGetAttempts == nil { // fact 23: who knows the option counts them
		h.ignored["use_bulk_get"] = true
	}
	if leaves != 2 {
		h.ignored["winning_revs_only"] = true
	}
	return nil
}
