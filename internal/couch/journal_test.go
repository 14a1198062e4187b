package couch

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"couchgauge/internal/servertest"
)

func TestJournalRestores(t *testing.T) {
	f, s := newFake(t)
	f.config["replicator/interval"] = "60000"
	before := maps.Clone(f.config)
	dir := filepath.Join(t.TempDir(), "state")
	j := s.NewJournal(dir, runID)
	f.before = func(r *http.Request) {
		if r.Method != "PUT" {
			return
		}
		b, err := os.ReadFile(j.Path())
		key := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		if err != nil || !strings.Contains(string(b), key) {
			t.Errorf("%s was changed before the journal knew: %q, %v", key, b, err)
		}
		if strings.Contains(string(b), "hunter2") || strings.Contains(string(b), "admin") {
			t.Errorf("credentials in the journal: %s", b)
		}
	}
	for _, set := range [][3]string{
		{"replicator", "startup_jitter", "1"},
		{"replicator", "interval", "1000"},
		{"replicator", "interval", "2000"},
		{"replicator", "interval", "2000"},
	} {
		if err := j.Set(t.Context(), set[0], set[1], set[2]); err != nil {
			t.Fatal(err)
		}
	}
	f.before = nil
	if f.config["replicator/startup_jitter"] != "1" || f.config["replicator/interval"] != "2000" {
		t.Errorf("settings are %v", f.config)
	}
	if err := j.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(f.config, before) {
		t.Errorf("settings are %v, want %v", f.config, before)
	}
	if _, err := os.Stat(j.Path()); !os.IsNotExist(err) {
		t.Errorf("the journal is still there: %v", err)
	}
	if err := j.Restore(t.Context()); err != nil {
		t.Errorf("once more: %v", err)
	}
}

func TestJournalOfNothing(t *testing.T) {
	f, s := newFake(t)
	f.config["a/b"] = "1"
	dir := t.TempDir()
	j := s.NewJournal(dir, runID)
	if err := j.Set(t.Context(), "a", "b", "1"); err != nil {
		t.Fatal(err)
	}
	if err := j.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, r := range f.requests {
		if !strings.HasPrefix(r, "GET ") {
			t.Errorf("sent %s for a setting that was right", r)
		}
	}
}

// kill drops a journal as the end of its process does: the file stays.
func kill(j *Journal) { j.file.Close() }

// Case R12: the run is killed between changing and restoring.
func TestLeftoverJournals(t *testing.T) {
	dir := t.TempDir()
	f, s := newFake(t)
	f.config["replicator/interval"] = "60000"
	before := maps.Clone(f.config)
	j := s.NewJournal(dir, runID)
	for _, key := range []string{"startup_jitter", "interval"} {
		if err := j.Set(t.Context(), "replicator", key, "1"); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := s.LeftoverJournals(dir); err != nil || len(left) != 0 {
		t.Errorf("a living run's journal was taken: %v, %v", left, err)
	}
	kill(j)
	_, other := newFake(t)
	if left, err := other.LeftoverJournals(dir); err != nil || len(left) != 0 {
		t.Errorf("another server's journal was taken: %v, %v", left, err)
	}
	left, err := s.LeftoverJournals(dir)
	if err != nil || len(left) != 1 {
		t.Fatalf("found %v, %v; want one journal", left, err)
	}
	if err := left[0].Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(f.config, before) {
		t.Errorf("settings are %v, want %v", f.config, before)
	}
	if left, err := s.LeftoverJournals(dir); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestLeftoverJournalIsCutOff(t *testing.T) {
	dir := t.TempDir()
	f, s := newFake(t)
	j := s.NewJournal(dir, runID)
	if err := j.Set(t.Context(), "a", "b", "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := j.file.WriteString(`{"server":"ht`); err != nil {
		t.Fatal(err)
	}
	kill(j)
	left, err := s.LeftoverJournals(dir)
	if err != nil || len(left) != 1 {
		t.Fatalf("found %v, %v", left, err)
	}
	if err := left[0].Restore(t.Context()); err != nil || len(f.config) != 0 {
		t.Errorf("settings are %v, %v", f.config, err)
	}
}

// Written down, but killed before the server heard of it.
func TestLeftoverJournalOfAChangeThatNeverCame(t *testing.T) {
	dir := t.TempDir()
	f, s := newFake(t)
	f.config["a/b"] = "0"
	f.refuse["PUT /_node"] = 500
	j := s.NewJournal(dir, runID)
	if err := j.Set(t.Context(), "a", "b", "1"); err == nil {
		t.Fatal("no error")
	}
	delete(f.refuse, "PUT /_node")
	if err := j.Restore(t.Context()); err != nil || f.config["a/b"] != "0" {
		t.Errorf("settings are %v, %v", f.config, err)
	}
}

func TestJournalLeavesOthersChangesAlone(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(map[string]string)
		want   string
	}{
		{"changed", func(c map[string]string) { c["a/b"] = "7" }, "7"},
		{"deleted", func(c map[string]string) { delete(c, "a/b") }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, s := newFake(t)
			f.config["a/b"] = "0"
			j := s.NewJournal(t.TempDir(), runID)
			if err := j.Set(t.Context(), "a", "b", "1"); err != nil {
				t.Fatal(err)
			}
			test.change(f.config)
			if err := j.Restore(t.Context()); err == nil || !strings.Contains(err.Error(), "left alone") {
				t.Errorf("got %v", err)
			}
			if f.config["a/b"] != test.want {
				t.Errorf("the setting is %q, want %q", f.config["a/b"], test.want)
			}
		})
	}
}

func TestRestoreIsTriedAgain(t *testing.T) {
	f, s := newFake(t)
	j := s.NewJournal(t.TempDir(), runID)
	if err := j.Set(t.Context(), "a", "b", "1"); err != nil {
		t.Fatal(err)
	}
	f.refuse["DELETE /_node"] = 503
	if err := j.Restore(t.Context()); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(j.Path()); err != nil {
		t.Errorf("the journal is gone before its settings were restored: %v", err)
	}
	delete(f.refuse, "DELETE /_node")
	if err := j.Restore(t.Context()); err != nil || len(f.config) != 0 {
		t.Errorf("settings are %v, %v", f.config, err)
	}
}

// Without a journal, nothing is changed.
func TestJournalThatCannotBeWritten(t *testing.T) {
	f, s := newFake(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	j := s.NewJournal(filepath.Join(file, "state"), runID)
	if err := j.Set(t.Context(), "a", "b", "1"); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("got %v", err)
	}
	if len(f.config) != 0 {
		t.Errorf("settings are %v", f.config)
	}
}

func TestStateDir(t *testing.T) {
	for _, test := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"XDG", map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/couchgauge"},
		{"home", map[string]string{"HOME": "/h"}, "/h/.local/state/couchgauge"},
		{"XDG not absolute", map[string]string{"XDG_STATE_HOME": "s", "HOME": "/h"}, "/h/.local/state/couchgauge"},
		{"none", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := StateDir(func(k string) string { return test.env[k] })
			if got != filepath.FromSlash(test.want) || (err != nil) != (test.want == "") {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// On real servers, in a section that no server heeds.
func TestJournalOnServers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, ts servertest.Server) {
		if ts.Pouch {
			t.Skip("PouchDB Server has no _node/_local/_config (fact 31)")
		}
		s := open(t, ts.URL, Options{IdleTimeout: time.Minute})
		const section = "couchgauge_test"
		key := NewRunID(time.Now(), rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
		read := func() string {
			set, err := s.settings(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return set.value(section, key)
		}
		j := s.NewJournal(t.TempDir(), key)
		for _, v := range []string{"1", "zwei ü"} {
			if err := j.Set(t.Context(), section, key, v); err != nil {
				t.Fatal(err)
			}
			if got := read(); got != v {
				t.Errorf("the setting is %q, want %q", got, v)
			}
		}
		if err := j.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := read(); got != notSet {
			t.Errorf("the setting is %q after restoring, want none", got)
		}
	})
}
