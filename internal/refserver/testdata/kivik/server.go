// Package kiviktest is, here, one file laid over kivik's package of that name
// while TestKivik compiles it. It stands for two of its files: the one that
// starts a CouchDB in a container, for the server is already there, and the one
// behind kivik's command line, which Go 1.26 no longer compiles.
package kiviktest

import (
	"os"
	"strings"
	"testing"
)

// startCouchDB names the server of TestKivik, and tells the suite where that
// server finds its own databases when it replicates. Nothing else that the suite
// expects is touched.
func startCouchDB(t *testing.T, _ string) string {
	dsn := os.Getenv("COUCHGAUGE_KIVIK_SERVER")
	if dsn == "" {
		t.Fatal("COUCHGAUGE_KIVIK_SERVER names no server: run TestKivik of couchgauge")
	}
	login, host, _ := strings.Cut(dsn, "@")
	scheme, _, _ := strings.Cut(login, "://")
	anonymous := scheme + "://" + host
	for _, conf := range suites {
		conf["Replicate.prefix"] = anonymous
		conf["Replicate/RW/Admin.prefix"] = dsn
		conf["Replicate.NotFoundDB"] = anonymous + "foo"
	}
	return dsn
}

func mainStart([]testing.InternalTest) {
	panic("kivik's command line is not part of this build")
}
