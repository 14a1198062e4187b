package refserver

import (
	"net/http/httptest"
	"testing"
)

// newServer starts a reference server for one test.
func newServer(t testing.TB, opts Options) (*Server, string) {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	opts.NoFsync = true
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, web.URL
}
