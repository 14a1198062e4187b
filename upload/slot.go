package upload

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"couchgauge/internal/couch"
)

const (
	// continueTimeout is how long a request with Expect waits for 100 Continue:
	// as long as curl does (fact 2).
	continueTimeout = time.Second

	// staleAfter is when a kept connection is tried before it is used again:
	// servers close idle ones, Node's after 5 s.
	staleAfter = time.Second

	maxRetries   = 8 // of one request answered 429
	longestPause = 5 * time.Minute
)

// slot sends the uploads of one place among the concurrent ones, over
// connections that nobody else uses.
type slot struct {
	server  *couch.Server
	timeout time.Duration
	clock   clock
	digests *digests
	sent    *atomic.Int64

	kept, single *couch.Client // connections kept alive, and not
	used         time.Time     // when kept was used last
	spare        *watch        // of a request that is over
	work         chan func()   // for the slot's goroutine; nil: it has none yet
}

// outcome is one upload: all its requests.
type outcome struct {
	phases
	wire     int64
	status   int // of the last answer
	accepted int // answers 202: the write quorum was not met (fact 12)
	retries  int // answers 429
	paused   time.Duration
	revs     []string // of the documents, as far as they were told
	err      error
}

// do has the slot's own goroutine do f. It is kept from sample to sample: the
// stack of a new one would have to grow again in each small upload.
func (s *slot) do(f func()) {
	if s.work == nil {
		s.work = make(chan func())
		go func() {
			for f := range s.work {
				f()
			}
		}()
	}
	s.work <- f
}

// client returns the client with the cell's kind of connections.
func (s *slot) client(c Cell) *couch.Client {
	p := &s.single
	if c.KeepAlive {
		p = &s.kept
	}
	if *p == nil {
		*p = s.server.Client(couch.TransportOptions{
			KeepAlive:             c.KeepAlive,
			ExpectContinueTimeout: continueTimeout,
			IdleTimeout:           s.timeout,
		})
	}
	return *p
}

// warm sees to it that a cell with kept connections finds one that is open and
// has logged in (fact 13). What goes wrong here the upload will meet again.
func (s *slot) warm(ctx context.Context, c Cell) {
	if !c.KeepAlive || (s.kept != nil && s.clock.Now().Sub(s.used) < staleAfter) {
		return
	}
	s.client(c).JSON(ctx, http.MethodGet, "", nil, nil)
}

// drop gives up the slot's connections: after a failure nobody knows what is
// still on its way in them.
func (s *slot) drop() {
	for _, c := range []*couch.Client{s.kept, s.single} {
		if c != nil {
			c.Close()
		}
	}
	s.kept, s.single = nil, nil
}

// job is one upload of a cell.
type job struct {
	Upload
	cell   Cell
	method Method
}

// ready makes the job's first request ready, and the connection for it.
func (s *slot) ready(ctx context.Context, j job) (armed, error) {
	s.warm(ctx, j.cell)
	o, err := s.first(ctx, j)
	if err != nil {
		return armed{}, err
	}
	return s.arm(o), nil
}

// first prepares the job's first request.
func (s *slot) first(ctx context.Context, j job) (outgoing, error) {
	u := j.Upload
	if j.method.Carries() == OneAttachment {
		u = u.only(0)
	}
	return s.prepare(ctx, j, u)
}

func (s *slot) prepare(ctx context.Context, j job, u Upload) (outgoing, error) {
	o, err := s.digests.prepare(ctx, j.method.Build(u), j.cell)
	o.upload = u
	return o, err
}

// arm makes a request ready for the clock.
func (s *slot) arm(o outgoing) armed {
	w := s.spare
	s.spare = nil
	if w == nil {
		w = newWatch()
	}
	return o.arm(w, s.sent)
}

// keep takes the watch of a request back. One that was answered before it was
// written may still be at work.
func (s *slot) keep(w *watch) {
	if w.bodyWritten.get() > 0 {
		w.reset()
		s.spare = w
	}
}

// only is u with one of its document's attachments.
func (u Upload) only(i int) Upload {
	doc := u.Docs[0]
	doc.Attachments = doc.Attachments[i : i+1]
	u.Docs = []Document{doc}
	return u
}

// describe says what u does: `put attachment "a.bin" to`.
func (u Upload) describe() string {
	if len(u.Docs) > 1 {
		return fmt.Sprintf("post %d documents with an attachment each to", len(u.Docs))
	}
	if a := u.Docs[0].Attachments; len(a) > 1 {
		return fmt.Sprintf("put %d attachments to", len(a))
	}
	return fmt.Sprintf("put attachment %q to", u.Docs[0].Attachments[0].Name)
}

// upload does the job. Its first request is ready; the clock of that one runs
// from start. Requests that follow have clocks of their own, so that what we
// do between them is in no time.
func (s *slot) upload(ctx context.Context, j job, first armed, start time.Time) outcome {
	defer func() { s.used = s.clock.Now() }()
	out := s.request(ctx, j, first, start)
	if j.method.Carries() != OneAttachment {
		return out
	}
	u := j.Upload
	for i := 1; i < len(j.Docs[0].Attachments) && out.err == nil; i++ {
		if len(out.revs) == 0 {
			out.err = fmt.Errorf("%s %s: the server told no revision to add the next one to", u.describe(), u.DB)
			break
		}
		u.Docs = []Document{j.Docs[0]}
		u.Docs[0].Rev = out.revs[0]
		o, err := s.prepare(ctx, j, u.only(i))
		if err != nil {
			out.err = err
			break
		}
		next := s.request(ctx, j, s.arm(o), time.Now())
		out = out.then(next)
	}
	return out
}

// then adds the next request of the same upload.
func (out outcome) then(next outcome) outcome {
	next.phases = out.phases.plus(next.phases)
	next.wire += out.wire
	next.accepted += out.accepted
	next.retries += out.retries
	next.paused += out.paused
	return next
}

// request sends one request until it is answered with anything but 429, and
// reads the answer. Attempts that were answered 429 are counted, their time is
// in no phase (U18).
func (s *slot) request(ctx context.Context, j job, o armed, start time.Time) outcome {
	var out outcome
	for {
		x := o.send(ctx, s.client(j.cell), start)
		out.phases, out.wire, out.status, out.err = x.phases, x.wire, x.status, x.err
		var refusal *couch.Error
		switch {
		case x.err == nil:
			s.keep(o.watch)
			out.read(j.method, &o.outgoing, x)
			return out
		case errors.As(x.err, &refusal) && refusal.Status == http.StatusTooManyRequests:
			pause := refusal.RetryAfter
			if pause == 0 {
				pause = time.Second << out.retries // it does not say: 1, 2, 4 s …
			}
			if out.retries == maxRetries || pause > longestPause {
				out.err = fmt.Errorf("%w; gave up after %d times, %v waited", x.err, out.retries+1, out.paused)
				return out
			}
			out.retries++
			out.paused += pause
			if err := s.clock.Sleep(ctx, pause); err != nil {
				return out
			}
			s.warm(ctx, j.cell)
			o, start = s.arm(o.outgoing), time.Now()
		default:
			return out
		}
	}
}

// read takes a good answer apart.
func (out *outcome) read(m Method, o *outgoing, x exchange) {
	switch x.status {
	case http.StatusCreated:
	case http.StatusAccepted:
		out.accepted++
	default:
		out.err = o.errorf("status %d, 201 was expected", x.status)
		return
	}
	revs, err := m.Answer(x.answer)
	if err != nil {
		out.err = o.errorf("%w", err)
		return
	}
	out.revs = revs
}
