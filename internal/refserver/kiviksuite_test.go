package refserver_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	// What the suite is made of, named here so that go.mod holds all it needs.
	_ "github.com/go-kivik/kivik/v4/couchdb"
	_ "github.com/go-kivik/kivik/v4/kiviktest/client"
	_ "github.com/go-kivik/kivik/v4/kiviktest/db"
)

// kivik's suite cannot be imported: the package that starts it does not compile
// with Go 1.26, its expectations are private to a test of the CouchDB driver,
// and that test wants Docker. So the test is compiled as it stands, from a copy
// of kivik's module in which testdata/kivik/server.go takes the place of the two
// files concerned, and is run as a program of its own: the tests that fail there
// are a result here.

const (
	kivikModule = "github.com/go-kivik/kivik/v4"
	kivikTest   = "TestCouch33"
	kivikTime   = 50 * time.Second // it takes 1 to 2
)

// buildKivikSuite compiles the suite and returns the program. Nothing is
// downloaded.
func buildKivikSuite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	module := filepath.Join(dir, "kivik")
	if err := os.CopyFS(module, os.DirFS(tool(t, "list", "-m", "-f", "{{.Dir}}", kivikModule))); err != nil {
		t.Fatal(err)
	}
	suite := filepath.Join(module, "kiviktest")
	if err := os.Remove(filepath.Join(suite, "go123testing.go")); err != nil {
		t.Fatal(err)
	}
	copyFile(t, "testdata/kivik/server.go", filepath.Join(suite, "testcontainers_nonjs.go"), "")
	keepLocal(t, filepath.Join(suite, "client", "replicate.go"))

	ours := filepath.Dir(tool(t, "env", "GOMOD"))
	modfile := filepath.Join(dir, "go.mod")
	copyFile(t, filepath.Join(ours, "go.sum"), filepath.Join(dir, "go.sum"), "")
	copyFile(t, filepath.Join(ours, "go.mod"), modfile, "\nreplace "+kivikModule+" => "+strconv.Quote(module)+"\n")

	program := filepath.Join(dir, "kivik.test")
	tool(t, "test", "-c", "-trimpath", "-vet=off", "-modfile", modfile, "-o", program, kivikModule+"/couchdb/test")
	return program
}

// keepLocal has the suite's job from nowhere ask this machine, where nobody
// listens on port 9, and not a host of somebody's network.
func keepLocal(t *testing.T, file string) {
	t.Helper()
	const elsewhere, here = "@192.168.2.254/", "@127.0.0.1:9/"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), elsewhere) {
		t.Fatalf("%s does not name %s any more: see that the suite asks no other host", file, elsewhere)
	}
	local := strings.ReplaceAll(string(b), elsewhere, here)
	if err := os.WriteFile(file, []byte(local), 0o666); err != nil {
		t.Fatal(err)
	}
}

// tool runs the go command and returns what it prints.
func tool(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, problems.String())
	}
	return strings.TrimSpace(string(out))
}

// copyFile copies a file and appends more to the copy.
func copyFile(t *testing.T, from, to, more string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, append(b, more...), 0o666); err != nil {
		t.Fatal(err)
	}
}

// kivikResult is what became of one test.
type kivikResult struct {
	verdict string // PASS, FAIL or SKIP
	said    []string
}

// runKivikSuite runs the suite against a server. Results go by the names that
// kivik's configuration uses: without that of the outermost test.
func runKivikSuite(t *testing.T, program, dsn string) map[string]kivikResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), kivikTime+5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program,
		"-test.run", "^"+kivikTest+"$", "-test.v", "-test.timeout", kivikTime.String())
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "COUCHGAUGE_KIVIK_SERVER="+dsn)
	out, err := cmd.CombinedOutput()
	results := parseVerbose(string(out))
	whole := results[kivikTest]
	if whole.verdict != "FAIL" && whole.verdict != "PASS" || strings.Contains(string(out), "\npanic: ") {
		t.Fatalf("the suite did not run to its end: %v\n%s", err, out)
	}
	byName := map[string]kivikResult{}
	for name, r := range results {
		if name, ok := strings.CutPrefix(name, kivikTest+"/"); ok {
			byName[name] = r
		}
	}
	return byName
}

var (
	verboseTurn    = regexp.MustCompile(`^=== [A-Z]+ +(\S+)$`)
	verboseVerdict = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+) \(`)
)

// parseVerbose reads what "go test -v" prints.
func parseVerbose(out string) map[string]kivikResult {
	results := map[string]kivikResult{}
	turn := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if m := verboseTurn.FindStringSubmatch(line); m != nil {
			turn = m[1]
			continue
		}
		name := turn
		r := results[name]
		if m := verboseVerdict.FindStringSubmatch(line); m != nil {
			name = m[2]
			r = results[name]
			r.verdict = m[1]
		} else {
			r.said = append(r.said, line)
		}
		results[name] = r
	}
	return results
}
