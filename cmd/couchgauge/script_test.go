package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"couchgauge/internal/refserver"
	"couchgauge/results"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"couchgauge": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_STATE_HOME", env.WorkDir+"/state")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server":   startServer,
			"sink":     startSink,
			"upload":   awaitUpload,
			"requests": checkRequests,
			"dbs":      checkDatabases,
			"records":  countRecords,
			"flushed":  awaitSample,
			"running":  awaitJob,
			"setting":  checkJitter,
			"status":   checkStatus,
			"signal":   signalBackground,
			"exited":   checkExited,
		},
	})
}

// testServer is a reference server that a script started, and what reached it.
type testServer struct {
	handler   http.Handler
	requests  atomic.Int64
	uploading chan struct{} // closed when the first large body arrives
	once      sync.Once
	hold      chan struct{} // nil, or large bodies are read no further until it is closed
}

// held is the size from which a body is large.
const held = 8 << 20

func (s *testServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if r.ContentLength < held || s.hold == nil {
		s.handler.ServeHTTP(w, r)
		return
	}
	io.CopyN(io.Discard, r.Body, 1<<20)
	s.once.Do(func() { close(s.uploading) })
	select {
	case <-s.hold:
	case <-r.Context().Done():
	}
}

// startServer starts a reference server for the script and sets $SERVER, $LOGIN
// with the credentials in it, and $ALIAS, the same by another name. "server
// hold" never finishes reading large uploads.
func startServer(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.MkAbs("data")
	ref, err := refserver.New(refserver.Options{Dir: dir, NoFsync: true, Admin: "admin", Password: "s3cret!word"})
	ts.Check(err)
	s := &testServer{handler: ref, uploading: make(chan struct{})}
	if len(args) == 1 && args[0] == "hold" {
		s.hold = make(chan struct{})
	}
	h := httptest.NewServer(s)
	ts.Defer(func() {
		if s.hold != nil {
			close(s.hold)
		}
		h.CloseClientConnections()
		h.Close()
		ref.Close()
	})
	host := strings.TrimPrefix(h.URL, "http://")
	ts.Setenv("SERVER", "http://"+host)
	ts.Setenv("LOGIN", "http://admin:s3cret%21word@"+host)
	ts.Setenv("ALIAS", "http://admin:s3cret%21word@"+strings.Replace(host, "127.0.0.1", "localhost", 1))
	servers.Store(ts.Getenv("WORK"), s)
}

// startSink starts a reference server that stores nothing and sets $SINK.
func startSink(ts *testscript.TestScript, neg bool, args []string) {
	sink, err := refserver.New(refserver.Options{Dir: ts.MkAbs("sink"), NoFsync: true, Discard: true})
	ts.Check(err)
	h := httptest.NewServer(sink)
	ts.Defer(func() {
		h.CloseClientConnections()
		h.Close()
		sink.Close()
	})
	ts.Setenv("SINK", h.URL)
}

// servers are the scripts' servers by their work folder.
var servers sync.Map

func serverOf(ts *testscript.TestScript) *testServer {
	s, ok := servers.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("no server was started")
	}
	return s.(*testServer)
}

// awaitUpload waits until a large upload has begun.
func awaitUpload(ts *testscript.TestScript, neg bool, args []string) {
	select {
	case <-serverOf(ts).uploading:
	case <-time.After(time.Minute):
		ts.Fatalf("no upload began within a minute")
	}
}

// checkRequests asserts how many requests have reached the server.
func checkRequests(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	if got := serverOf(ts).requests.Load(); got != want {
		ts.Fatalf("%d requests reached the server, not %d", got, want)
	}
}

// ask gets JSON from the script's server as admin, and returns the status.
func ask(ts *testscript.TestScript, path string, out any) int {
	r, err := http.NewRequest(http.MethodGet, ts.Getenv("SERVER")+path, nil)
	ts.Check(err)
	r.SetBasicAuth("admin", "s3cret!word")
	resp, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		ts.Check(json.NewDecoder(resp.Body).Decode(out))
	}
	return resp.StatusCode
}

// awaitJob waits until a run has written a document of the script's server's
// replicator database.
func awaitJob(ts *testscript.TestScript, neg bool, args []string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var said struct {
			Rows []struct{ ID string }
		}
		ask(ts, "/_replicator/_all_docs?startkey=%22couchgauge-%22&endkey=%22couchgauge.%22", &said)
		if len(said.Rows) > 0 {
			return
		}
	}
	ts.Fatalf("no replication began within a minute")
}

// checkJitter asserts the value of replicator/startup_jitter: "setting 1",
// "setting unset".
func checkJitter(ts *testscript.TestScript, neg bool, args []string) {
	got := "unset"
	ask(ts, "/_node/_local/_config/replicator/startup_jitter", &got)
	if got != args[0] {
		ts.Fatalf("startup_jitter is %s, not %s", got, args[0])
	}
}

// checkDatabases asserts how many databases of couchgauge the server holds.
func checkDatabases(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var names []string
	if status := ask(ts, "/_all_dbs", &names); status != http.StatusOK {
		ts.Fatalf("list databases: status %d", status)
	}
	got := 0
	for _, n := range names {
		if strings.HasPrefix(n, "couchgauge-") {
			got++
		}
	}
	if got != want {
		ts.Fatalf("%d databases are there, not %d: %v", got, want, names)
	}
}

// countRecords asserts how many records of a kind a recording holds: "records
// FILE sample 12", "records FILE sample >0".
func countRecords(ts *testscript.TestScript, neg bool, args []string) {
	file, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer file.Close()
	got := 0
	err = results.Read(file, func(r results.Record) error {
		if r.Kind() == args[1] {
			got++
		}
		return nil
	})
	if err != nil && !errors.Is(err, results.ErrPartial) {
		ts.Fatalf("%v", err)
	}
	if args[2] == ">0" && got > 0 {
		return
	}
	if strconv.Itoa(got) != args[2] {
		ts.Fatalf("%s holds %d %s records, not %s", args[0], got, args[1], args[2])
	}
}

// awaitSample waits until a recording that is being written shows a sample.
func awaitSample(ts *testscript.TestScript, neg bool, args []string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		paths, _ := filepath.Glob(ts.MkAbs(args[0]))
		if len(paths) == 0 {
			continue
		}
		file, err := os.Open(paths[0])
		ts.Check(err)
		found := false
		results.Read(file, func(r results.Record) error {
			found = found || r.Kind() == "sample"
			return nil
		})
		file.Close()
		if found {
			return
		}
	}
	ts.Fatalf("no sample in %s within a minute", args[0])
}

// checkStatus runs a command and asserts its exit code: "status 2 couchgauge
// upload --bogus".
func checkStatus(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, not %s", code, args[0])
	}
}

// signalBackground sends a signal to the command in the background; the script
// then waits for it: "signal INT".
func signalBackground(ts *testscript.TestScript, neg bool, args []string) {
	cmd := ts.BackgroundCmds()[0]
	signalled.Store(ts.Getenv("WORK"), cmd)
	signals := map[string]os.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}
	ts.Check(cmd.Process.Signal(signals[args[0]]))
}

// signalled are the commands that got a signal, by their scripts' work folder.
var signalled sync.Map

// checkExited asserts the exit code of the command that got a signal and was
// waited for: "exited 130"; one that was killed has -1.
func checkExited(ts *testscript.TestScript, neg bool, args []string) {
	cmd, _ := signalled.Load(ts.Getenv("WORK"))
	if got := cmd.(*exec.Cmd).ProcessState.ExitCode(); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, not %s", got, args[0])
	}
}
