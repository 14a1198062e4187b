package upload

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"couchgauge/internal/couch"
	"couchgauge/internal/rounds"
	"couchgauge/results"
)

// sampler takes samples. It holds what they share.
type sampler struct {
	plan     Plan
	server   *couch.Server
	db       string
	boundary string
	clock    clock
	progress *Progress
	digests  *digests
	verifier *verifier
	slots    []*slot // as many as the most concurrent cell needs
}

func newSampler(p Plan, server *couch.Server, db string, progress *Progress) *sampler {
	m := &sampler{
		plan: p, server: server, db: db, progress: progress,
		boundary: p.boundary(),
		clock:    wallClock{},
		digests:  &digests{},
	}
	m.verifier = &verifier{
		client:  server.Client(couch.TransportOptions{KeepAlive: true, IdleTimeout: p.Timeout}),
		digests: m.digests,
		bytes:   p.Verify == VerifyBytes,
	}
	return m
}

// slot returns the slot of the i-th concurrent upload.
func (m *sampler) slot(i int) *slot {
	for len(m.slots) <= i {
		m.slots = append(m.slots, &slot{
			server: m.server, timeout: m.plan.Timeout, clock: m.clock, digests: m.digests, sent: &m.progress.sent,
		})
	}
	return m.slots[i]
}

// close drops all connections and ends all goroutines.
func (m *sampler) close() {
	for _, s := range m.slots {
		s.drop()
		if s.work != nil {
			close(s.work)
		}
	}
	m.verifier.client.Close()
}

// lane is one of a sample's concurrent uploads: the documents that it writes.
type lane struct{ docs []Document }

// add has the lane's documents take the attachments of s. With Append they
// differ from ordinal to ordinal.
func (l lane) add(s *subject) {
	for d, doc := range s.documents("") {
		l.docs[d].Attachments = doc.Attachments
	}
}

// lanes makes fresh documents for a turn; they exist already where the cell
// wants that.
func (m *sampler) lanes(ctx context.Context, s *subject, t rounds.Turn) ([]lane, error) {
	kind := "-s"
	if t.Warmup {
		kind = "-w"
	}
	id := "c" + strconv.Itoa(s.id) + kind + strconv.Itoa(t.Round) + "-"
	lanes := make([]lane, s.Concurrency)
	for i := range lanes {
		lanes[i].docs = s.documents(id + strconv.Itoa(i))
		if s.Docs != Existing {
			continue
		}
		for d := range lanes[i].docs {
			doc := &lanes[i].docs[d]
			var answer struct{ Rev string }
			err := m.verifier.client.JSON(ctx, "PUT", couch.DocPath(m.db, doc.ID), struct{}{}, &answer)
			if err != nil {
				return nil, fmt.Errorf("create the document first: %w", err)
			}
			doc.Rev = answer.Rev
		}
	}
	return lanes, nil
}

// turn takes a sample of each of the chain's cells, until one fails.
func (m *sampler) turn(ctx context.Context, c *chain, t rounds.Turn) ([]results.Sample, error) {
	first := c.subjects[0]
	lanes, err := m.lanes(ctx, first, t)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return []results.Sample{m.failed(first, t, err)}, nil
	}
	var samples []results.Sample
	for i, s := range c.subjects {
		for l := range lanes {
			lanes[l].add(s)
		}
		sample, err := m.take(ctx, s, t, lanes, i < len(c.subjects)-1)
		if err != nil {
			return samples, err
		}
		samples = append(samples, sample)
		if sample.Error != "" {
			break
		}
	}
	return samples, nil
}

// failed is a sample that was not even tried.
func (m *sampler) failed(s *subject, t rounds.Turn, why error) results.Sample {
	return results.Sample{Cell: s.id, Round: t.Round, Warmup: t.Warmup, At: m.clock.Now(), Error: couch.Redact(why.Error())}
}

// alive asks the server for its welcome, three times a second apart.
func (m *sampler) alive(ctx context.Context) error {
	for try := 1; ; try++ {
		_, err := m.server.Hello(ctx)
		var nobody *couch.UnreachableError
		if !errors.As(err, &nobody) {
			return nil // it is slow, or broken in a way that the samples show
		}
		if try == 3 {
			return fmt.Errorf("the server does not answer any more: %w", err)
		}
		if err := m.clock.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// take takes one sample of s. keep: another attachment is to be appended to
// the same documents, so their revisions are brought up to date. The error in
// the sample says why it is no time; take's own is the context's.
func (m *sampler) take(ctx context.Context, s *subject, t rounds.Turn, lanes []lane, keep bool) (results.Sample, error) {
	sample := results.Sample{Cell: s.id, Round: t.Round, Warmup: t.Warmup, At: m.clock.Now()}
	outs, err := m.upload(ctx, s, lanes)
	if err == nil {
		err = measure(&sample, outs)
	}
	if err != nil {
		err = m.explain(ctx, s, lanes[0], err)
		for _, slot := range m.slots {
			slot.drop()
		}
	}
	if err == nil && s.method.Name() == "base64" {
		err = addBase64Cost(&sample, s)
	}
	if err == nil && m.plan.Verify != VerifyOff {
		err = m.verify(ctx, s, lanes)
		sample.Verified = err == nil
	}
	if err == nil && keep {
		err = m.refresh(ctx, lanes)
	}
	if ctx.Err() != nil {
		return sample, context.Cause(ctx)
	}
	if err != nil {
		sample.Error = couch.Redact(err.Error())
	}
	return sample, nil
}

// upload starts the uploads of all lanes together, when the last is ready, and
// waits for the last one.
func (m *sampler) upload(ctx context.Context, s *subject, lanes []lane) ([]outcome, error) {
	outs := make([]outcome, len(lanes))
	if len(lanes) == 1 {
		j := m.job(s, lanes[0].docs)
		ready, err := m.slot(0).ready(ctx, j)
		if err == nil {
			outs[0] = m.slots[0].upload(ctx, j, ready, time.Now())
		}
		return outs, err
	}
	m.slot(len(lanes) - 1)
	errs := make([]error, len(lanes))
	var start time.Time // not set: one of them did not get ready
	var prepared, over sync.WaitGroup
	gate := make(chan struct{})
	prepared.Add(len(lanes))
	over.Add(len(lanes))
	for i, l := range lanes {
		m.slots[i].do(func() {
			defer over.Done()
			j := m.job(s, l.docs)
			ready, err := m.slots[i].ready(ctx, j)
			errs[i] = err
			prepared.Done()
			<-gate
			if !start.IsZero() {
				outs[i] = m.slots[i].upload(ctx, j, ready, start)
			}
		})
	}
	prepared.Wait()
	err := errors.Join(errs...)
	if err == nil {
		start = time.Now()
	}
	close(gate)
	over.Wait()
	return outs, err
}

func (m *sampler) job(s *subject, docs []Document) job {
	return job{
		Upload: Upload{DB: m.db, Docs: docs, NewEdits: s.NewEdits, Boundary: m.boundary, Origin: m.server.URL() + "/"},
		cell:   s.Cell,
		method: s.method,
	}
}

// measure fills the sample in: its time is that of the upload that took
// longest, and so are the phases.
func measure(sample *results.Sample, outs []outcome) error {
	slowest := &outs[0]
	var wire int64
	var accepted, retries int
	var paused time.Duration
	for i := range outs {
		o := &outs[i]
		wire += o.wire
		accepted += o.accepted
		retries += o.retries
		paused = max(paused, o.paused)
		if o.err != nil {
			sample.Status = o.status
			return o.err
		}
		if o.total() > slowest.total() {
			slowest = o
		}
	}
	sample.Duration = results.Seconds(slowest.total())
	sample.Status = slowest.status
	sample.Measures = map[string]float64{
		"connect_s":       slowest.connect.Seconds(),
		"wait_continue_s": slowest.waitContinue.Seconds(),
		"produce_s":       slowest.produce.Seconds(),
		"send_s":          slowest.send.Seconds(),
		"wait_s":          slowest.wait.Seconds(),
		"receive_s":       slowest.receive.Seconds(),
		"wire_bytes":      float64(wire),
		"accepted_202":    float64(accepted),
	}
	if retries > 0 {
		sample.Measures["retries_429"] = float64(retries)
		sample.Measures["waited_429_s"] = paused.Seconds()
	}
	return nil
}

func addBase64Cost(sample *results.Sample, s *subject) error {
	var encode, decode time.Duration
	for _, a := range s.attachments {
		e, d, err := base64Cost(a.Attachment)
		if err != nil {
			return err
		}
		encode, decode = encode+e, decode+d
	}
	sample.Measures["encode_s"] = encode.Seconds()
	sample.Measures["decode_s"] = decode.Seconds()
	return nil
}

// verify compares what all lanes have stored.
func (m *sampler) verify(ctx context.Context, s *subject, lanes []lane) error {
	sentGzip := s.Encoding == Gzip && s.method.Build(m.job(s, lanes[0].docs).Upload).AsSent
	for _, l := range lanes {
		for _, doc := range l.docs {
			if err := m.verifier.check(ctx, m.db, doc, sentGzip); err != nil {
				return err
			}
		}
	}
	return nil
}

// refresh brings the lanes' documents up to date, and takes the attachments
// off that are stored now.
func (m *sampler) refresh(ctx context.Context, lanes []lane) error {
	for _, l := range lanes {
		for d := range l.docs {
			doc := &l.docs[d]
			s, err := m.verifier.open(ctx, m.db, doc.ID)
			if err != nil {
				return fmt.Errorf("read the document before the next attachment: %w", err)
			}
			doc.Rev = s.Rev
			if doc.Stubs, err = s.stubs(); err != nil {
				return err
			}
		}
	}
	return nil
}

// explain finds out why an upload was cut off while it was being sent: the
// status that got lost is asked for once, with Expect, on a fresh document and
// connection (fact 3, U10).
func (m *sampler) explain(ctx context.Context, s *subject, l lane, cut error) error {
	var reset *couch.ResetError
	if !errors.As(cut, &reset) || !reset.Sending {
		return cut
	}
	j := m.job(s, nil)
	for _, doc := range l.docs {
		doc.ID += "-again"
		doc.Rev, doc.Stubs = "", nil
		j.Docs = append(j.Docs, doc)
	}
	j.cell.Expect, j.cell.KeepAlive = true, false
	slot := m.slot(0)
	o, err := slot.first(ctx, j)
	if err != nil {
		return cut
	}
	again := slot.arm(o)
	x := again.send(ctx, slot.client(j.cell), time.Now())
	var refusal *couch.Error
	if errors.As(x.err, &refusal) {
		return fmt.Errorf("%w (asked again with Expect; at first: %w)", x.err, cut)
	}
	return cut
}
