package couch

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

const runID = "261130t215501k3f9qz"

func TestNewRunID(t *testing.T) {
	now := time.Date(2026, 11, 30, 22, 55, 1, 0, time.FixedZone("", 3600))
	a := NewRunID(now, rand.New(rand.NewPCG(1, 2)))
	b := NewRunID(now, rand.New(rand.NewPCG(3, 4)))
	if !strings.HasPrefix(a, "261130t215501") || a == b || !ours.MatchString("couchgauge-"+a+"-x") {
		t.Errorf("got %s and %s", a, b)
	}
	if got := RunOf("couchgauge-" + a + "-x-y"); got != a {
		t.Errorf("RunOf: got %q, want %q", got, a)
	}
}

func TestDatabasesLiveAndDie(t *testing.T) {
	f, s := newFake(t, "orders", "couchgauge-results")
	d := s.NewDatabases(runID)
	name, err := d.Create(t.Context(), "a", 2, 1)
	if err != nil || name != "couchgauge-"+runID+"-a" {
		t.Fatalf("got %q, %v", name, err)
	}
	odd, err := d.Create(t.Context(), "b/c+d", 0, 0) // case U17
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"PUT /" + name + "?n=1&q=2", "PUT /couchgauge-" + runID + "-b%2Fc%2Bd"}; !slices.Equal(f.requests, want) {
		t.Errorf("sent %q, want %q", f.requests, want)
	}
	if err := d.Delete(t.Context(), name); err != nil {
		t.Error(err)
	}
	if err := d.Delete(t.Context(), name); err == nil {
		t.Error("a database was deleted twice")
	}
	delete(f.dbs, odd) // somebody else was faster
	if err := errors.Join(d.DeleteAll(t.Context()), d.DeleteAll(t.Context())); err != nil {
		t.Error(err)
	}
	if got := f.left(); !slices.Equal(got, []string{"couchgauge-results", "orders"}) {
		t.Errorf("left are %q", got)
	}
}

func TestDatabasesOfOthersAreNotTouched(t *testing.T) {
	mine := "couchgauge-" + runID + "-a"
	f, s := newFake(t, "orders", mine)
	d := s.NewDatabases(runID)
	if _, err := d.Create(t.Context(), "a", 0, 0); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("created what was there: %v", err)
	}
	for _, name := range []string{"orders", mine} {
		if err := d.Delete(t.Context(), name); err == nil {
			t.Errorf("deleted %s, which it did not create", name)
		}
	}
	if err := d.DeleteAll(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.DeleteLeftover(t.Context(), "orders"); err == nil {
		t.Error("deleted orders as a leftover")
	}
	if got := f.left(); !slices.Equal(got, []string{mine, "orders"}) {
		t.Errorf("left are %q", got)
	}
}

func TestIllegalNamesAreNotSent(t *testing.T) {
	f, s := newFake(t)
	for _, test := range []struct{ run, suffix string }{
		{runID, ""}, {runID, "A"}, {runID, "a b"}, {runID, "ä"}, {"x", "a"}, {"", "a"}, {runID + "/..", "a"},
	} {
		if _, err := s.NewDatabases(test.run).Create(t.Context(), test.suffix, 0, 0); err == nil {
			t.Errorf("run %q, suffix %q: no error", test.run, test.suffix)
		}
	}
	if len(f.requests) != 0 {
		t.Errorf("sent %q", f.requests)
	}
}

func TestCreateThatFails(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		f, s := newFake(t)
		f.refuse["PUT /couchgauge"] = 401
		_, err := s.NewDatabases(runID).Create(t.Context(), "a", 0, 0)
		var e *RefusedError
		if !errors.As(err, &e) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v, want a RefusedError", err)
		}
	})
	t.Run("in its own words, once", func(t *testing.T) {
		f, s := newFake(t)
		f.refuse["PUT /couchgauge"] = 400
		_, err := s.NewDatabases(runID).Create(t.Context(), "a", 0, 0)
		want := "create database couchgauge-" + runID + "-a: 400 refused (by the test)"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("answer lost", func(t *testing.T) {
		f, s := newFake(t)
		f.refuse["PUT /couchgauge"] = 500
		d := s.NewDatabases(runID)
		if _, err := d.Create(t.Context(), "a", 0, 0); err == nil {
			t.Fatal("no error")
		}
		f.dbs["couchgauge-"+runID+"-a"] = true // it was created all the same
		if err := d.DeleteAll(t.Context()); err != nil || len(f.left()) != 0 {
			t.Errorf("left are %q, %v", f.left(), err)
		}
	})
}

func TestDeleteAllGoesOn(t *testing.T) {
	f, s := newFake(t)
	d := s.NewDatabases(runID)
	for _, suffix := range []string{"a", "b", "c"} {
		if _, err := d.Create(t.Context(), suffix, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	b := "couchgauge-" + runID + "-b"
	f.refuse["DELETE /"+b] = 500
	want := "delete database " + b + ": 500 refused (by the test)"
	if err := d.DeleteAll(t.Context()); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := f.left(); !slices.Equal(got, []string{b}) {
		t.Errorf("left are %q", got)
	}
	delete(f.refuse, "DELETE /"+b)
	if err := d.DeleteAll(t.Context()); err != nil || len(f.left()) != 0 {
		t.Errorf("left are %q, %v", f.left(), err)
	}
}

func TestLeftovers(t *testing.T) {
	ours := []string{"couchgauge-" + runID + "-a", "couchgauge-" + runID + "-b/c+d"}
	_, s := newFake(t, append([]string{
		"_users", "orders", "couchgauge", "couchgauge-", "couchgauge-results", "couchgauge-2026-11-30",
		"couchgauge-" + runID, "couchgauge-" + runID + "-", "xcouchgauge-" + runID + "-a", "couchgauge-" + runID + "-a b",
	}, ours...)...)
	got, err := s.Leftovers(t.Context())
	if err != nil || !slices.Equal(got, ours) {
		t.Errorf("got %q, %v; want %q", got, err, ours)
	}
}
