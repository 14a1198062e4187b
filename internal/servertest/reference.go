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
	server, err := refserver.New(refserver.Options{Dir: t.TempDir(), NoFsync: true})
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
