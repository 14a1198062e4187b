package replicate_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"couchgauge/internal/couch"
	"couchgauge/internal/servertest"
	"couchgauge/replicate"
)

// hanging is a server whose jobs between a run's sources and targets never end;
// it tells when one has come.
func hanging(t *testing.T) (s servertest.Server, began chan struct{}) {
	t.Helper()
	began = make(chan struct{}, 10)
	real := servertest.Reference(t)
	return front(t, real, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path == "/_replicate" {
			var long bool
			rewriteRequest(t, r, func(job map[string]any) {
				source, _ := job["source"].(string)
				long = strings.Contains(source, "-s") && job["cancel"] == nil
			})
			if long {
				began <- struct{}{}
				<-r.Context().Done()
				return
			}
		}
		next.ServeHTTP(w, r)
	}), began
}

// A job in which nothing moves is given up after the timeout, with its state.
func TestTimeout(t *testing.T) {
	s, _ := hanging(t)
	p := peer(t, s)
	out, sink := measured(t, p, p, replicate.Plan{Docs: []int64{5}, Timeout: time.Millisecond})
	failed := sink.samples(replications)
	if out.Failed != 1 || len(failed) != 1 || !strings.Contains(failed[0].Error, "nothing has moved for 1ms") {
		t.Errorf("outcome %+v, samples %v: want one that was given up", out, failed)
	}
}

// A run that is interrupted leaves nothing on the server, and no half sample.
func TestInterrupt(t *testing.T) {
	s, began := hanging(t)
	p := peer(t, s)
	sink := &kept{}
	run := couch.NewRunID(time.Now(), rand.New(rand.NewPCG(rand.Uint64(), 0)))
	session, err := replicate.Prepare(t.Context(), replicate.Env{
		Source: p, Target: p, RunID: run, StateDir: t.TempDir(), Sink: sink,
	}, replicate.Plan{Docs: []int64{5}, Samples: 3, Topologies: []string{"n-n"}})
	if err != nil {
		t.Fatal(errors.Join(err, session.Close(t.Context())))
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	if _, err := session.Measure(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was interrupted", err)
	}
	if samples := sink.samples(replications); len(samples) != 0 {
		t.Errorf("%d samples of replication were written", len(samples))
	}
	if err := session.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := p.Server.Leftovers(t.Context())
	if err != nil || len(left) != 0 {
		t.Errorf("databases %v are left, %v", left, err)
	}
}
