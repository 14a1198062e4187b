package servertest

import (
	"os"
	"strings"
	"testing"
)

// Server is one server under test.
type Server struct {
	Name      string // of its subtest
	URL       string // base URL with its last slash; credentials, if it wants any, in the userinfo
	Reference bool   // couchgauge's own
	Couch     bool   // a real CouchDB
	Pouch     bool   // PouchDB Server: facts 31, keep attachments to 10 MB
}

// Each runs test as a subtest against each kind of server. Those that are not
// there are skipped, with the reason.
func Each(t *testing.T, test func(*testing.T, Server)) {
	for _, kind := range []struct {
		name string
		get  func(testing.TB) Server
	}{
		{"reference", Reference},
		{"pouchdb", Pouch},
		{"couchdb", Couch},
		{"couchdb2", Couch2},
	} {
		t.Run(kind.name, func(t *testing.T) { test(t, kind.get(t)) })
	}
}

// Couch returns the CouchDB that COUCHGAUGE_TEST_URL names, credentials in its
// userinfo, or skips the test.
func Couch(t testing.TB) Server {
	t.Helper()
	return fromEnvironment(t, "couchdb", "COUCHGAUGE_TEST_URL")
}

// Couch2 returns a second CouchDB, best of another version, from
// COUCHGAUGE_TEST_URL2, or skips the test.
func Couch2(t testing.TB) Server {
	t.Helper()
	return fromEnvironment(t, "couchdb2", "COUCHGAUGE_TEST_URL2")
}

func fromEnvironment(t testing.TB, name, variable string) Server {
	t.Helper()
	url := os.Getenv(variable)
	if url == "" {
		t.Skipf("no CouchDB: %s is not set (http://admin:password@127.0.0.1:5984/)", variable)
	}
	return Server{Name: name, URL: strings.TrimSuffix(url, "/") + "/", Couch: true}
}
