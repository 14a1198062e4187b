package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"couchgauge/internal/servertest"
	"couchgauge/replicate/engine"
)

// inChild is set in a process that shall replicate from its first argument to
// its second instead of running tests.
const inChild = "COUCHGAUGE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(inChild) == "" {
		os.Exit(m.Run())
	}
	r := engine.New(engine.Peer{URL: os.Args[1]}, engine.Peer{URL: os.Args[2]}, engine.Options{
		WorkerProcesses: 1, WorkerBatchSize: childBatch, HTTPConnections: childConnections, CheckpointInterval: 200 * time.Millisecond,
	})
	if _, err := r.Run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The child reads childBatches batches one after the other. The gate lets it
// write all but batch batchHeld, so that its checkpoint must lie before that,
// and stops it at batch batchAtKill. Then seven or more are at the target: one
// may wait for the write stage, and each of that stage's workers, one to a
// connection, may have another.
const (
	childBatch       = 25
	childBatches     = 20
	childConnections = 3 // to the source: the feed, a batch, a checkpoint
	batchHeld        = 3
	batchAtKill      = 12
)

// gate leads a child to the point where it is to be killed: its first
// checkpoint is stored on both sides and no other, a batch behind that
// checkpoint is on its way, and later ones have arrived.
type gate struct {
	open     atomic.Bool            // lets everything pass
	reads    atomic.Int64           // batches asked for
	held     atomic.Pointer[string] // a document of batch batchHeld
	sides    atomic.Int64           // that stored the checkpoint
	recorded chan struct{}          // closed when both did
	due      chan struct{}          // closed when the child is to be killed
}

// before puts the gate before s, for the source or for the target.
func (g *gate) before(s *server) *spy {
	var stored atomic.Bool
	return s.watch(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		switch {
		case g.open.Load():
			return false
		case r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/_local/"):
			if stored.Swap(true) {
				return hold(w, r)
			}
			code, answer := s.try(r.Method, strings.TrimPrefix(r.URL.Path, "/"), body)
			w.WriteHeader(code)
			w.Write(answer)
			if g.sides.Add(1) == 2 {
				close(g.recorded)
			}
			return true
		case strings.HasSuffix(r.URL.Path, "/_bulk_get") && r.URL.Query().Get("attachments") == "false":
			switch g.reads.Add(1) {
			case batchHeld:
				id := firstID(s.t, body)
				g.held.Store(&id)
			case batchAtKill:
				select {
				case <-g.recorded:
					close(g.due)
				case <-r.Context().Done():
				}
				return hold(w, r)
			}
		case strings.HasSuffix(r.URL.Path, "/_bulk_docs"):
			if id := g.held.Load(); id != nil && bytes.Contains(body, []byte(`"_id":"`+*id+`"`)) {
				return hold(w, r)
			}
		}
		return false
	})
}

// firstID is the first document that a _bulk_get asks for.
func firstID(t testing.TB, body []byte) string {
	var m struct{ Docs []struct{ ID string } }
	if err := json.Unmarshal(body, &m); err != nil || len(m.Docs) == 0 {
		t.Errorf("_bulk_get %.100s: %v", body, err)
		return ""
	}
	return m.Docs[0].ID
}

// hold leaves a request without an answer until its sender is gone.
func hold(w http.ResponseWriter, r *http.Request) bool {
	<-r.Context().Done()
	return hangUp(w)
}

// killed replicates in a process of its own and kills that when g says so.
func killed(t *testing.T, source, target engine.Peer, g *gate) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), binary, source.URL, target.URL)
	child.Env = append(os.Environ(), inChild+"=1")
	var said bytes.Buffer
	child.Stdout, child.Stderr = &said, &said
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	select {
	case <-g.due:
	case err := <-ended:
		t.Fatalf("the child ended before it was killed: %v: %s", err, said.String())
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; child.ProcessState.Exited() {
		t.Fatalf("the child was not killed, it ended: %v: %s", err, said.String())
	}
}

func TestKilledProcessIsGoneOnWith(t *testing.T) {
	servertest.Each(t, func(t *testing.T, kind servertest.Server) {
		s := on(t, kind)
		a, b := s.create(), s.create()
		for i := range childBatches {
			s.bulk(a, someOfEach(i*childBatch, childBatch)...)
		}
		total := int64(len(s.leaves(a)))
		g := &gate{recorded: make(chan struct{}), due: make(chan struct{})}
		source, target := g.before(s), g.before(s)

		killed(t, source.peer(a), target.peer(b), g)
		arrived := int64(len(s.leaves(b)))
		if arrived == 0 || arrived >= total {
			t.Fatalf("%d of %d leaves were at the target at the kill", arrived, total)
		}
		asked := len(source.all())
		g.open.Store(true)

		second := run(t, source.peer(a), target.peer(b), engine.Options{})
		t.Logf("at the kill %d of %d leaves had arrived; the second run starts at %.40s, checks %d, finds %d missing, reads %d, writes %d",
			arrived, total, second.StartSeq, second.MissingChecked, second.MissingFound, second.DocsRead, second.DocsWritten)
		checkpoint := firstCheckpoint(t, source, second.ReplicationID)
		for _, r := range source.all()[asked:] {
			if since := r.Query.Get("since"); r.Path == "_changes" && since != plain(checkpoint.Seq) {
				t.Errorf("the second run reads the changes since %q, the checkpoint says %s", since, checkpoint.Seq)
			}
		}
		if string(second.StartSeq) != string(checkpoint.Seq) {
			t.Errorf("the second run starts at %s, the checkpoint says %s", second.StartSeq, checkpoint.Seq)
		}
		if len(second.History) != 2 || second.History[1].SessionID != checkpoint.Session {
			t.Errorf("history %+v", second.History)
		}
		// It looks at what arrived behind the checkpoint and does not read it.
		if second.MissingChecked >= total || second.MissingChecked <= second.MissingFound {
			t.Errorf("the second run checks %d of %d leaves and finds %d missing", second.MissingChecked, total, second.MissingFound)
		}
		if n := second.DocsRead; n == 0 || n > total-arrived || second.DocsWritten != n || second.DocWriteFailures != 0 {
			t.Errorf("the second run reads %d leaves, writes %d, fails at %d; %d of %d were missing",
				n, second.DocsWritten, second.DocWriteFailures, total-arrived, total)
		}
		same(t, s, a, s, b)

		third := run(t, source.peer(a), target.peer(b), engine.Options{})
		if !third.NoChanges || third.MissingChecked != 0 || third.DocsRead != 0 || third.DocsWritten != 0 {
			t.Errorf("the third run finds something to do: %+v", third.Progress)
		}
		if s.Couch {
			own := s.own1(a, s, b)
			t.Logf("the server's own replicator afterwards checks %d, finds %d missing, reads %d, writes %d",
				own.MissingChecked, own.MissingFound, own.DocsRead, own.DocsWritten)
			if own.MissingChecked != total || own.MissingFound != 0 || own.DocsRead != 0 || own.DocsWritten != 0 || own.DocWriteFailures != 0 {
				t.Errorf("the server's own replicator does not find %d leaves complete: %+v", total, own)
			}
		}
	})
}

// someOfEach is n documents, some of them with a conflict or an attachment.
// None is of the first generation, so that each batch is one _bulk_get.
func someOfEach(from, n int) (docs []string) {
	for i := from; i < from+n; i++ {
		id := fmt.Sprintf("d%04d", i)
		switch i % 10 {
		case 3:
			docs = append(docs, doc(id, 2, 1, ""), doc(id, 3, 2, ""))
		case 7:
			docs = append(docs, doc(id, 2, 0, attached(2, map[string][]byte{"a.bin": noise(5000)}, "application/octet-stream")))
		default:
			docs = append(docs, doc(id, 2, 0, fmt.Sprintf(`,"n":%d`, i)))
		}
	}
	return docs
}

// stored is what a checkpoint says of its session.
type stored struct {
	Session string          `json:"session_id"`
	Seq     json.RawMessage `json:"source_last_seq"`
}

// firstCheckpoint is the first that p received.
func firstCheckpoint(t *testing.T, p *spy, id string) (c stored) {
	t.Helper()
	puts := p.to(http.MethodPut, "_local/"+id)
	if len(puts) == 0 {
		t.Fatal("the killed run and the second have no checkpoint in common")
	}
	if err := json.Unmarshal(puts[0].Body, &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Seq) == 0 {
		t.Fatalf("the checkpoint has no sequence: %s", puts[0].Body)
	}
	return c
}

// plain is a sequence as it stands in a query.
func plain(seq json.RawMessage) string { return strings.Trim(string(seq), `"`) }
