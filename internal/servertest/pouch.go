package servertest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Pouch returns a PouchDB Server with its databases in memory, or skips the
// test where Node or the npm packages are missing. One process serves all
// tests of a test binary, and ends with it.
func Pouch(t testing.TB) Server {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no PouchDB Server: Node is not installed")
	}
	folder, err := pouchFolder()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Skip("no PouchDB Server: its npm packages are not installed (make test installs them)")
	}
	url, err := pouch.url(node, folder)
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: "pouchdb", URL: url, Pouch: true}
}

// pouch is the process that the tests of this binary share: starting it takes
// longer than most tests.
var pouch pouchProcess

type pouchProcess struct {
	mu      sync.Mutex
	input   io.Closer     // never closed by us: it closes when this process ends, and the server then ends
	ended   chan struct{} // closed when the process has ended; nil before the first start
	address string
}

// url starts the process, again if it has ended, and returns its URL.
func (p *pouchProcess) url(node, folder string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != nil {
		select {
		case <-p.ended:
		default:
			return p.address, nil
		}
	}
	command := exec.Command(node, filepath.Join(folder, "server.js"))
	input, err := command.StdinPipe()
	if err != nil {
		return "", err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return "", err
	}
	var complaints bytes.Buffer
	command.Stderr = &complaints
	if err := command.Start(); err != nil {
		return "", fmt.Errorf("start PouchDB Server: %w", err)
	}
	lines := bufio.NewReader(output)
	line, err := lines.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("start PouchDB Server: %w: %s", errors.Join(err, command.Wait()), complaints.String())
	}
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, lines)
		command.Wait()
		close(ended)
	}()
	p.input, p.ended, p.address = input, ended, strings.TrimSpace(line)
	return p.address, nil
}

// pouchFolder is testdata/pouchdb at the top of the module. Tests run in their
// package's folder, somewhere below.
func pouchFolder() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return filepath.Join(folder, "testdata", "pouchdb"), nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", errors.New("find testdata/pouchdb: no go.mod in any folder above the test")
		}
		folder = above
	}
}
