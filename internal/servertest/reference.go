package servertest

import (
	"net/http/httptest"
	"testing"

	"couchgauge/internal/refserver"
)

// Reference starts a reference server of the test's own, in this process, with
// its data in a temporary folder. It lives as long as the test. It does not
// wait for the disk: tests don't pull plugs.
func Reference(t testing.TB) Server {
	t.Helper()
	return ReferenceWith(t, refserver.Options{NoFsync: true})
}

// ReferenceWith starts a reference server with options. Options.Dir may be
// empty: it is then a temporary folder.
func ReferenceWith(t testing.TB, o refserver.Options) Server {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	server, err := refserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(server)
	t.Cleanup(func() {
		listening.CloseClientConnections()
		if err := server.Close(); err != nil {
			t.Errorf("close the reference server: %v", err)
		}
		listening.Close() // waits for requests that the server's end has ended
	})
	return Server{Name: "reference", URL: listening.URL + "/", Reference: true}
}
