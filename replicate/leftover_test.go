package replicate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"couchgauge/internal/couch"
	"couchgauge/internal/servertest"
	"couchgauge/replicate"
)

// What a run that was killed left running is found and ended; others' jobs are
// not touched.
func TestLeftoverJobs(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s servertest.Server) {
		if s.Pouch {
			t.Skip("PouchDB Server has no replicator database and no scheduler")
		}
		run := couch.NewRunID(time.Now(), rand.New(rand.NewPCG(rand.Uint64(), 0)))
		server := peer(t, s).Server
		do := func(method, path string, in any) {
			t.Helper()
			if err := server.Control().JSON(t.Context(), method, path, in, nil); err != nil {
				t.Fatal(err)
			}
		}
		databases := server.NewDatabases(run)
		t.Cleanup(func() {
			if err := databases.DeleteAll(context.Background()); err != nil {
				t.Error(err)
			}
		})
		var names []string
		for _, suffix := range []string{"s1", "t2"} {
			name, err := databases.Create(t.Context(), suffix, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, s.URL+name)
		}
		job := map[string]any{"source": names[0], "target": names[1], "continuous": true}
		mine, others := "_replicator/couchgauge-"+run+"-job3", "_replicator/couchgauge-mine"
		do(http.MethodPut, mine, job)
		do(http.MethodPut, others, job)
		defer func() {
			var doc struct {
				Rev string `json:"_rev"`
			}
			if err := server.Control().JSON(t.Context(), http.MethodGet, others, nil, &doc); err != nil {
				t.Errorf("another's job is gone: %v", err)
				return
			}
			do(http.MethodDelete, others+"?rev="+doc.Rev, nil)
		}()
		do(http.MethodPost, "_replicate", map[string]any{"source": names[0], "target": names[1], "continuous": true, "create_target": true})

		found, err := replicate.LeftoverJobs(t.Context(), server, "_replicator")
		if err != nil {
			t.Fatal(err)
		}
		count := func(jobs []replicate.LeftoverJob) (n int) {
			for _, j := range jobs {
				if j.Run == run {
					n++
				}
			}
			return n
		}
		if count(found) != 2 {
			t.Errorf("found %v, want the document and the job of _replicate", found)
		}
		for _, j := range found {
			if j.Run != run {
				continue
			}
			if err := j.Stop(t.Context(), server); err != nil {
				t.Error(err)
			}
		}
		if found, err := replicate.LeftoverJobs(t.Context(), server, "_replicator"); err != nil || count(found) != 0 {
			t.Errorf("after all were stopped: %v, %v", found, err)
		}
	})
}

// The jobs may run on a server of their own.
func TestThirdServerReplicates(t *testing.T) {
	source, target := peer(t, servertest.Reference(t)), peer(t, servertest.Reference(t))
	third := peer(t, servertest.Reference(t))
	third.Index = 2
	sink := &kept{}
	session, err := replicate.Prepare(t.Context(), replicate.Env{
		Source: source, Target: target, Replicator: &third,
		RunID: "261130t215501k3f9qz", StateDir: t.TempDir(), Sink: sink,
	}, replicate.Plan{Docs: []int64{20}, Samples: 1, Drivers: []string{"replicate", "replicator"}, At: replicate.AtReplicator, Timeout: time.Minute})
	t.Cleanup(func() {
		if err := session.Close(context.Background()); err != nil {
			t.Errorf("close the session: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := session.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	allGood(t, out, sink)
	for _, s := range sink.samples(replications) {
		var detail struct{ Jobs []struct{ At string } }
		if err := json.Unmarshal(s.Detail, &detail); err != nil {
			t.Fatal(err)
		}
		if want := third.Server.URL(); len(detail.Jobs) != 1 || detail.Jobs[0].At != want {
			t.Errorf("jobs %+v, want one at %s", detail.Jobs, want)
		}
	}
	for _, c := range session.Cells() {
		if want := map[bool]int{true: 2, false: 0}[replications(c)]; c.Server != want {
			t.Errorf("cell %v is of server %d, want %d", fmt.Sprint(c.Levels), c.Server, want)
		}
	}
}
