package replicate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"couchgauge/results"
)

// sample is one sample of a cell, or of a group of cells, on databases of its
// own.
type sample struct {
	*Session
	cell
	databases []endpoint // by their place in the layout
	fresh     []endpoint // those of them that are this sample's own
	live      int64      // documents that were written while continuous jobs ran
	counted   counters   // what the job of the update before said, if its server goes on counting
}

// jobResult is what a sample's detail says about one job.
type jobResult struct {
	Source   string          `json:"source"`
	Target   string          `json:"target"`
	At       string          `json:"at"`
	Startup  results.Seconds `json:"startup_s,omitempty"` // from its submit to the target's first change
	Duration results.Seconds `json:"duration_s"`          // from its submit until it was done
	outcome

	submitted, ended time.Time
}

// detail is a sample's Detail.
type detail struct {
	Jobs     []jobResult `json:"jobs"`
	Verdicts []verdict   `json:"verified,omitempty"`
}

// open makes the databases.
func (x *sample) open(ctx context.Context) error {
	renewed := x.plan.renewed(x.cell)
	number := 0
	for i, d := range x.layout.databases {
		if d.filled && !renewed {
			x.databases = append(x.databases, x.sources[x.shape][number])
			number++
			continue
		}
		kind := "t"
		if d.filled {
			kind = "s"
		}
		e, err := x.create(ctx, x.peerOf(d), kind)
		if err != nil {
			return err
		}
		x.databases = append(x.databases, e)
		x.fresh = append(x.fresh, e)
		if d.filled {
			if err := x.fillSource(ctx, e, x.shape, x.sourceNumber(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// close deletes what open made.
func (x *sample) close(ctx context.Context) error {
	var errs []error
	for _, e := range x.fresh {
		errs = append(errs, x.drop(ctx, e))
	}
	return errors.Join(errs...)
}

// sourceNumber is the number of the source that a filled database is.
func (x *sample) sourceNumber(database int) int {
	n := 0
	for _, d := range x.layout.databases[:database] {
		if d.filled {
			n++
		}
	}
	return n
}

// targets are the databases that jobs write to.
func (x *sample) targets() []endpoint {
	var list []endpoint
	for _, i := range x.layout.targets() {
		list = append(list, x.databases[i])
	}
	return list
}

// jobs prepares the jobs. They are to be stopped, also with an error.
func (x *sample) jobs(ctx context.Context) ([]job, []running, error) {
	d, err := driverOf(x.driver)
	if err != nil {
		return nil, nil, err
	}
	var jobs []job
	var prepared []running
	for i, e := range x.layout.edges {
		host := x.hostOf(x.layout, e)
		j := job{
			id:         jobPrefix + x.env.RunID + "-" + x.newName("job"),
			at:         host.Server,
			source:     x.databases[e.from],
			target:     x.databases[e.to],
			fields:     x.fields(i),
			continuous: x.plan.continuous(),
			database:   x.plan.ReplicatorDB,
			look:       lookEvery * time.Duration(len(x.layout.edges)),
		}
		if !x.here() {
			j.login = x.host(host).login
		}
		if x.driver == "replicator" && x.plan.JobDatabases {
			name, err := x.databasesOf(host.Server).Create(ctx, x.newName("j")+"/_replicator", x.plan.Q, x.plan.Replicas)
			if err != nil {
				return jobs, prepared, err
			}
			j.database = name
			x.fresh = append(x.fresh, endpoint{host, name})
		}
		r, err := d.prepare(ctx, j)
		if err != nil {
			return jobs, prepared, err
		}
		jobs, prepared = append(jobs, j), append(prepared, r)
	}
	return jobs, prepared, nil
}

// fields are the options and the filter of job i.
func (x *sample) fields(i int) map[string]any {
	fields := map[string]any{}
	maps.Copy(fields, x.filter.filtering(x.sourceNumber(x.layout.edges[i].from), x.shape.docs).job)
	for _, option := range x.set {
		fields[option.name] = option.Value
	}
	return fields
}

// stopTime bounds the end of a sample: jobs are stopped and databases deleted
// also when the run was interrupted.
const stopTime = 30 * time.Second

// take takes a one-shot sample.
func (x *sample) take(ctx context.Context) results.Sample {
	s := results.Sample{Cell: x.ID, At: time.Now()}
	if x.plan.continuous() {
		x.takeContinuous(ctx, &s)
	} else {
		x.takeOneShot(ctx, &s)
	}
	return s
}

func (x *sample) takeOneShot(ctx context.Context, s *results.Sample) {
	jobs, prepared, err := x.jobs(ctx)
	defer x.stop(ctx, prepared, s)
	if err != nil {
		s.Error = err.Error()
		return
	}
	before, err := x.look(ctx)
	if err != nil {
		s.Error = err.Error()
		return
	}
	seen := watchArrivals(ctx, x.targets(), before.seqs())
	list, err := x.run(ctx, jobs, prepared)
	firsts := seen.stop(grace)
	if err != nil {
		s.Error = err.Error()
	}
	x.discount(list)
	x.times(s, list, firsts)
	after, err := x.look(ctx)
	if err != nil {
		fail(s, err.Error())
		return
	}
	x.measure(s, list, before, after)
	x.judge(ctx, s, list)
}

// grace is how long the news of a target's first change may take, once its
// jobs are done.
const grace = 2 * time.Second

// run submits the jobs and waits until all are done, or one ended otherwise.
func (x *sample) run(ctx context.Context, jobs []job, prepared []running) ([]jobResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer x.watchHeadway(ctx, cancel, prepared)()
	list := make([]jobResult, len(jobs))
	one := func(i int) {
		j := jobs[i]
		r := jobResult{Source: j.source.db, Target: j.target.db, At: j.at.URL(), submitted: time.Now()}
		if x.here() {
			r.At = "couchgauge"
		}
		if err := prepared[i].submit(ctx); err != nil {
			r.outcome = outcome{State: stateUnknown, err: err}
		} else {
			r.outcome = prepared[i].wait(ctx)
		}
		r.ended = time.Now()
		r.Duration = results.Seconds(r.ended.Sub(r.submitted))
		if err := r.fault(j); err != nil {
			cancel(err) // the sample has failed: waiting for the others is vain
		}
		list[i] = r
	}
	if x.layout.chained {
		for i := range jobs {
			if ctx.Err() == nil {
				one(i)
			}
		}
	} else {
		var wg sync.WaitGroup
		for i := range jobs {
			wg.Go(func() { one(i) })
		}
		wg.Wait()
	}
	return list, context.Cause(ctx)
}

// fault says in one line why a job did not end well.
func (r jobResult) fault(j job) error {
	switch {
	case r.err != nil:
		return r.err
	case r.State != stateCompleted:
		return fmt.Errorf("%s: %s: %s", j, r.State, r.Reason)
	}
	return nil
}

// stop stops the jobs, whatever became of ctx.
func (x *sample) stop(ctx context.Context, prepared []running, s *results.Sample) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	for _, r := range prepared {
		if err := r.stop(ctx); err != nil {
			fail(s, err.Error())
		}
	}
}

// fail gives a sample its error, unless it has one.
func fail(s *results.Sample, why string) {
	if s.Error == "" {
		s.Error = why
	}
	s.Verified = false
}

// discount leaves out of the counters what earlier jobs between the same
// databases did.
func (x *sample) discount(list []jobResult) {
	if x.here() || !x.host(x.hostOf(x.layout, x.layout.edges[0])).cumulative {
		return
	}
	for i := range list { // updates have one job
		now := list[i].Counters
		list[i].Counters = now.since(x.counted)
		x.counted = now
	}
}

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
		for name, value := range r.Stages {
			s.Measures[name] += value
		}
		if r.Restarts > 0 {
			s.Measures["restarts"] += float64(r.Restarts)
		}
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

// bytesPerDocument is the payload that moves for a document, all its leaves.
func (x *sample) bytesPerDocument() float64 {
	if x.update > 0 {
		return float64(x.shape.size())
	}
	return float64(x.shape.payload()) / float64(x.shape.docs)
}

// judge verifies the sample and says what is wrong with it.
func (x *sample) judge(ctx context.Context, s *results.Sample, list []jobResult) {
	d := detail{Jobs: list}
	defer func() {
		raw, err := json.Marshal(d)
		if err != nil {
			fail(s, err.Error())
		}
		s.Detail = raw
	}()
	if s.Error != "" && ctx.Err() != nil {
		return
	}
	var refused []string
	for _, r := range list {
		refused = append(refused, r.Refused...)
	}
	var faults []string
	if n := s.Measures["doc_write_failures"]; n > 0 {
		faults = append(faults, fmt.Sprintf("%.0f documents could not be written", n))
	}
	if x.plan.Verify != VerifyOff && s.Error == "" {
		var err error
		if d.Verdicts, err = x.verify(ctx); err != nil {
			fail(s, "verify: "+err.Error())
			return
		}
		for _, v := range d.Verdicts {
			if f := v.fault(); f != "" {
				faults = append(faults, f)
			}
		}
		if f := x.miscounted(d.Verdicts); f != "" {
			faults = append(faults, f)
		}
		s.Verified = len(faults) == 0
	}
	if len(refused) > 0 {
		faults = append(faults, "refused: "+strings.Join(refused[:min(len(refused), namedLeaves)], ", "))
	}
	if len(faults) > 0 {
		fail(s, strings.Join(faults, "; "))
	}
}

// miscounted checks the source's own view of a built-in filter against the
// number of documents that were made to pass it.
func (x *sample) miscounted(list []verdict) string {
	docs, known := x.filter.passes(x.shape.docs)
	plain := x.shape.deleted == 0 && x.shape.conflicts == 1 && x.topology == "1-1" && x.live == 0
	if !known || x.filter.all() || !plain || len(list) != 1 || list[0].Leaves == docs {
		return ""
	}
	return fmt.Sprintf("the source lets %d documents through the filter %s, which was made for %d", list[0].Leaves, x.filter.Text, docs)
}

// watchHeadway ends a sample in which nothing has moved for the plan's
// timeout: neither a target nor what the job says of itself. It also tells the
// progress. The function it returns ends the watch.
func (x *sample) watchHeadway(ctx context.Context, end context.CancelCauseFunc, jobs []running) (stop func()) {
	p := x.env.Progress
	if x.plan.Timeout == 0 && !p.watched.Load() {
		return func() {}
	}
	docs, known := x.filter.passes(x.shape.docs)
	p.docs.Store(0)
	p.ofIt.Store(0)
	if known {
		p.ofIt.Store(docs * int64(x.layout.moves()))
	}
	every := lookEvery
	if x.plan.Timeout > 0 {
		every *= time.Duration(len(jobs)) // of each job the state is asked
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		last, since := "", time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(every):
			}
			now, state := x.headway(ctx, jobs)
			if now != last {
				last, since = now, time.Now()
			}
			if x.plan.Timeout > 0 && time.Since(since) >= x.plan.Timeout {
				end(fmt.Errorf("nothing has moved for %v: the job's state is %s", x.plan.Timeout, state))
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// headway is a text that changes when anything moves, and the jobs' state.
func (x *sample) headway(ctx context.Context, jobs []running) (now, state string) {
	var all []string
	var docs int64
	for _, t := range x.targets() {
		info, err := databaseInfo(ctx, t.peer.Server.Control(), t.db)
		if err != nil {
			continue
		}
		docs += info.Docs + max(info.Deleted, 0)
		all = append(all, info.Seq)
	}
	x.env.Progress.docs.Store(docs)
	state = "not told"
	if x.plan.Timeout > 0 {
		for _, r := range jobs {
			w := r.watch(ctx)
			all = append(all, w.state, w.at)
			if w.state != "" {
				state = w.state
			}
			if w.reason != "" {
				state += ": " + w.reason
			}
		}
	}
	return strings.Join(all, "\n"), state
}

// fillSource fills a database and records how fast that was.
func (s *Session) fillSource(ctx context.Context, e endpoint, data shape, number int) error {
	c := s.fillCell(data)
	label := "filling a source"
	s.env.Progress.doing.Store(&label)
	r := results.Sample{Cell: c.ID, Round: c.fills, At: time.Now()}
	c.fills++
	took, err := fill(ctx, e.peer.Server, e.db, data, number)
	if err != nil {
		r.Error = err.Error()
	} else {
		r.Duration, r.Verified = results.Seconds(took), true
		r.Measures = map[string]float64{
			"docs_per_s":  float64(data.docs) / took.Seconds(),
			"bytes_per_s": float64(data.payload()) / took.Seconds(),
		}
	}
	if werr := s.env.Sink.Write(&r); werr != nil {
		return werr
	}
	return err
}
