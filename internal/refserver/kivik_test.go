package refserver_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"couchgauge/internal/refserver"
)

// kivikList is what kivik's suite is known to find, and why.
const kivikList = "../../docs/kivik-suite.md"

// kivikNeeded are the groups of the suite about what couchgauge measures. They
// must pass whatever the list says.
var kivikNeeded = []string{
	"PutAttachment", "GetAttachment", "GetAttachmentMeta", "DeleteAttachment",
	"CreateDoc", "Put", "Get", "GetRev", "Delete", "AllDocs", "BulkDocs",
	"Changes", "Replicate", "GetReplications",
	"CreateDB", "DestroyDB", "DBExists", "Stats", "Flush",
}

// TestKivik runs the integration suite of kivik, a CouchDB client that knows
// nothing of couchgauge, with what it expects of CouchDB 3.3, the newest it
// knows. The tests that fail are those of docs/kivik-suite.md, no more and no
// fewer.
func TestKivik(t *testing.T) {
	suite := buildKivikSuite(t)
	results := runKivikSuite(t, suite, kivikServer(t))
	// kivik writes two revisions without a pause and wants both in a continuous
	// feed, which CouchDB does not promise: a busy machine has time for one.
	for range 2 {
		if !slices.ContainsFunc(leafFailures(results), func(name string) bool { return strings.HasPrefix(name, "Changes/Continuous/") }) {
			break
		}
		t.Log("the continuous feed passed over a revision: the suite runs again")
		results = runKivikSuite(t, suite, kivikServer(t))
	}

	for _, group := range kivikNeeded {
		if r := results[group]; r.verdict != "PASS" {
			t.Errorf("%s: %q, must pass: attachments, bulk, changes and replication need it", group, r.verdict)
		}
	}
	listed := readKivikList(t)
	failed := leafFailures(results)
	for _, name := range failed {
		if !slices.Contains(listed, name) {
			t.Errorf("%s fails and is not in %s:\n%s", name, kivikList, strings.Join(results[name].said, "\n"))
		}
	}
	for _, name := range listed {
		if !slices.Contains(failed, name) {
			t.Errorf("%s is in %s and does not fail: %q", name, kivikList, results[name].verdict)
		}
	}
}

// kivikServer starts a reference server as the suite wants a CouchDB: an admin,
// and the three system databases. Jobs start at once (fact 21). It returns the
// base URL with the admin's credentials.
func kivikServer(t *testing.T) string {
	t.Helper()
	s, err := refserver.New(refserver.Options{Dir: t.TempDir(), NoFsync: true, Admin: "admin", Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.CloseClientConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	dsn := strings.Replace(web.URL, "http://", "http://admin:secret@", 1) + "/"
	put := func(path, body string, want ...int) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, dsn+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if !slices.Contains(want, resp.StatusCode) {
			t.Fatalf("PUT %s: status %d, want one of %v", path, resp.StatusCode, want)
		}
	}
	for _, db := range []string{"_users", "_replicator", "_global_changes"} {
		put(db, "", http.StatusCreated, http.StatusPreconditionFailed) // 412: it was made at the start
	}
	put("_node/_local/_config/replicator/startup_jitter", `"1"`, http.StatusOK)
	return dsn
}

// readKivikList returns the tests of the list: the first column of its table,
// in backticks.
func readKivikList(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(kivikList)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, "| `")
		if !ok {
			continue
		}
		name, rest, _ := strings.Cut(rest, "` |")
		if why := strings.Trim(rest, "| \n"); why == "" || slices.Contains(names, name) {
			t.Errorf("%s: %s is listed without a reason, or twice", kivikList, name)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		t.Fatalf("%s has no table of tests", kivikList)
	}
	return names
}

// leafFailures are the failed tests that have no failed test under them.
func leafFailures(results map[string]kivikResult) []string {
	var failed []string
	for _, name := range slices.Sorted(maps.Keys(results)) {
		if results[name].verdict != "FAIL" {
			continue
		}
		inner := false
		for other, r := range results {
			inner = inner || r.verdict == "FAIL" && strings.HasPrefix(other, name+"/")
		}
		if !inner {
			failed = append(failed, name)
		}
	}
	return failed
}
