package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"couchgauge/gen"
	"couchgauge/internal/couch"
)

// maxAnswer is how much of an answer is read, in bytes: a _bulk_docs answer
// has about 100 for each document.
const maxAnswer = 16 << 20

// exchange is one request and its answer.
type exchange struct {
	phases
	status int // 0 = there was no answer
	answer []byte
	wire   int64 // bytes written, head and body
	err    error // no answer, or one of 300 and more
}

// armed is a request with all made that can be made before the clock runs.
type armed struct {
	outgoing
	watch *watch
}

// arm opens the body. sent counts the bytes of bodies.
func (o outgoing) arm(w *watch, sent *atomic.Int64) armed {
	o.request.Trace = &w.hooks
	w.body.Reader, w.body.total = o.open(), sent
	if o.request.ContentLength != 0 {
		o.request.Body = &w.body
	}
	return armed{o, w}
}

// send sends the request, once. The clock runs from start.
func (o *armed) send(ctx context.Context, client *couch.Client, start time.Time) exchange {
	w, r := o.watch, &o.request
	w.start = start
	resp, err := client.Do(ctx, *r)
	if err != nil {
		return exchange{wire: w.wire(), err: o.errorf("%w", err)}
	}
	w.answered()
	x := exchange{status: resp.StatusCode}
	if resp.StatusCode >= 300 {
		x.wire = w.wire()
		x.err = w.progress(couch.Check(resp, o.upload.describe(), o.upload.DB), r.ContentLength)
		return x
	}
	x.answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	m := w.moments()
	resp.Body.Close()
	x.phases, x.wire = m.phases(), w.wire()
	if err != nil {
		x.err = o.errorf("read the answer: %w", err)
	}
	return x
}

// progress adds to a refusal when it came and how much had been sent by then,
// where that tells something: the server gave up (U3), or did not wait for
// the whole body.
func (w *watch) progress(err error, length int64) error {
	var refusal *couch.Error
	if length == 0 || !errors.As(err, &refusal) {
		return err
	}
	read := w.body.read.Load()
	if refusal.Status < 500 && (length < 0 || read >= length) {
		return err
	}
	sent := gen.FormatBytes(read)
	if length >= 0 {
		sent += " of " + gen.FormatBytes(length)
	}
	after := time.Since(w.start).Round(time.Millisecond)
	return fmt.Errorf("%w; it came after %v, %s sent", err, after, sent)
}
