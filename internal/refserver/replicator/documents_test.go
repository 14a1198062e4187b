package replicator

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// fakeStore keeps what is written into documents, for the test to receive.
type fakeStore chan string

func (f fakeStore) SetMembers(database, id string, change []Member) error {
	var words []string
	for _, m := range change {
		if m.Value != nil && m.Name != memberTime {
			words = append(words, fmt.Sprint(strings.TrimPrefix(m.Name, "_replication_"), "=", m.Value))
		}
	}
	f <- database + "/" + id + ": " + strings.Join(words, " ")
	return nil
}

func newDocuments(t *testing.T) (*Documents, *bench, fakeStore) {
	b, store := newBench(t), make(fakeStore, 10)
	return NewDocuments(b.Scheduler, store), b, store
}

func (d *Documents) must(t *testing.T, id string, body json.RawMessage) {
	t.Helper()
	if err := d.Changed("db/_replicator", id, body); err != nil {
		t.Fatal(err)
	}
}

// shown is what _scheduler/docs tells of a document, as far as it is known.
func shown(t *testing.T, d *Documents, id string, body json.RawMessage) map[string]any {
	t.Helper()
	info, _ := d.Info("db/_replicator", id, body)
	text, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDocumentsBecomeJobs(t *testing.T) {
	d, b, _ := newDocuments(t)
	d.must(t, "a", between(1))
	<-b.naps // the job sleeps through its jitter: it was started
	if got := shown(t, d, "a", between(1)); got["state"] != "running" || got["source"] != "http://h/a1/" || got["error_count"] != 0.0 || got["info"] != nil {
		t.Errorf("%v", got)
	}
	first, _ := b.Job(shown(t, d, "a", between(1))["id"].(string))

	d.must(t, "a", between(1)) // written again, asking for the same
	if again, _ := b.Job(first.ID); *again.PID != *first.PID {
		t.Error("the job was started anew although nothing changed")
	}
	d.must(t, "a", between(2))
	<-b.naps
	if jobs := b.Jobs(); len(jobs) != 1 || jobs[0].Source != "http://h/a2/" {
		t.Errorf("after a change: %v", jobs)
	}
	d.must(t, "a", nil)
	if jobs := b.Jobs(); len(jobs) != 0 {
		t.Errorf("after its deletion: %v", jobs)
	}
	if _, known := d.Info("db/_replicator", "a", between(2)); known {
		t.Error("a deleted document is known")
	}
}

func TestDeletedDatabaseEndsItsJobs(t *testing.T) {
	d, b, _ := newDocuments(t)
	d.must(t, "a", between(1))
	<-b.naps
	b.submit("a", between(2)) // of another database
	d.DatabaseGone("db/_replicator")
	if jobs := b.Jobs(); len(jobs) != 1 || *jobs[0].Database != "_replicator" {
		t.Errorf("%v", jobs)
	}
}

func TestDocumentThatIsWrongFails(t *testing.T) {
	d, _, store := newDocuments(t)
	d.must(t, "a", json.RawMessage(`{"source":"x"}`))
	if got := <-store; got != "db/_replicator/a: state=failed state_reason=local_endpoints_not_supported" {
		t.Error(got)
	}
}

func TestDocumentsAtTheirEnd(t *testing.T) {
	d, b, _ := newDocuments(t)
	completed := json.RawMessage(`{"source":"http://u:p@h/a","target":"t","_replication_state":"completed","_replication_state_time":"T2",
		"_replication_stats":{"revisions_checked":3,"changes_pending":null,"start_time":"T1"}}`)
	failed := json.RawMessage(`{"source":"http://u:p@h/a","target":7,"_replication_state":"failed","_replication_state_time":"T2","_replication_state_reason":"why"}`)
	for id, body := range map[string]json.RawMessage{"a": completed, "b": failed} {
		d.must(t, id, body)
	}
	if jobs := b.Jobs(); len(jobs) != 0 {
		t.Errorf("jobs of documents at their end: %v", jobs)
	}
	got := shown(t, d, "a", completed)
	info := got["info"].(map[string]any)
	if got["state"] != "completed" || got["start_time"] != "T1" || got["last_updated"] != "T2" || got["source"] != "http://h/a/" || got["target"] != "t" ||
		info["revisions_checked"] != 3.0 || info["changes_pending"] != nil || info["start_time"] != nil {
		t.Errorf("completed: %v", got)
	}
	got = shown(t, d, "b", failed)
	if !reflect.DeepEqual(got["info"], map[string]any{"error": "why"}) || got["error_count"] != 1.0 || got["target"] != nil || got["id"] != nil {
		t.Errorf("failed: %v", got)
	}
}

func TestTwoDocumentsForOneJob(t *testing.T) {
	d, b, store := newDocuments(t)
	d.must(t, "a", between(1))
	<-b.naps
	d.must(t, "b", between(1))
	if got, want := <-store, "already started, triggered by document `a` from db `db/_replicator`"; !strings.HasPrefix(got, "db/_replicator/b: state=failed") || !strings.HasSuffix(got, want) {
		t.Error(got)
	}
}

func TestDocumentWaitsForTransientJob(t *testing.T) {
	d, b, _ := newDocuments(t)
	r, _ := Parse(between(1), b.Scheduler.set)
	id, _, err := b.Replicate(t.Context(), r.Job)
	if err != nil {
		t.Fatal(err)
	}
	<-b.naps
	d.must(t, "a", between(1))
	pause := <-b.naps
	if pause.length != 2*errorBackoff*time.Second {
		t.Errorf("tries again within %v, want %v", pause.length, 2*errorBackoff*time.Second)
	}
	got := shown(t, d, "a", between(1))
	if why := fmt.Sprint(got["info"]); got["state"] != "error" || got["error_count"] != 1.0 || !strings.Contains(why, "already running as a transient replication") {
		t.Errorf("%v", got)
	}
	b.remove(id)
	close(pause.wake)
	<-b.naps
	if got := shown(t, d, "a", between(1)); got["state"] != "running" || got["error_count"] != 0.0 {
		t.Errorf("after the other has ended: %v", got)
	}
}

func TestFilterThatIsNotThere(t *testing.T) {
	d, b, _ := newDocuments(t)
	source, target := answering(t, 404)
	body := json.RawMessage(`{"source":"` + source + `","target":"` + target + `","filter":"d/f"}`)
	d.must(t, "a", body)
	<-b.naps // until it is tried again
	if got := shown(t, d, "a", body); got["state"] != "error" || !strings.Contains(fmt.Sprint(got["info"]), "Could not open source database `"+source+"/`: {db_not_found") {
		t.Errorf("%v", got)
	}
	if len(b.Jobs()) != 0 {
		t.Error("a job without its filter is in the scheduler")
	}
}
