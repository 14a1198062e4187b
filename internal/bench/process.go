package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// process is a command of which we want to know what it took.
type process struct {
	*exec.Cmd
	complaints bytes.Buffer
}

// command prepares a process that is asked to end when ctx does, and keeps its
// temporary files in ours.
func (b *bench) command(ctx context.Context, name string, arguments ...string) *process {
	p := &process{Cmd: exec.CommandContext(ctx, name, arguments...)}
	p.Env = append(os.Environ(), "TMPDIR="+b.temporary)
	p.Stderr = &p.complaints
	p.Cancel = func() error { return p.Process.Signal(os.Interrupt) }
	p.WaitDelay = 20 * time.Second
	return p
}

// usage is what a process took.
type usage struct {
	cpu    time.Duration // user and system
	memory int64         // the most that was resident, bytes; 0 where /proc does not tell
}

// finish runs the process to its end and returns what it printed, also when it
// failed.
func (p *process) finish() (output []byte, u usage, err error) {
	var printed bytes.Buffer
	p.Stdout = &printed
	if err := p.Start(); err != nil {
		return nil, u, err
	}
	ended := make(chan struct{})
	watched := make(chan int64)
	go func() { watched <- watchResident(p.Process.Pid, ended) }()
	err = p.Wait()
	close(ended)
	u = usage{cpu: p.ProcessState.UserTime() + p.ProcessState.SystemTime(), memory: <-watched}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", filepath.Base(p.Path), err, p.complaints.String())
	}
	return printed.Bytes(), u, err
}

// watchResident reads the high-water mark of a process until it has ended. The
// mark only grows, so that nothing but the last moment can be missed.
func watchResident(pid int, ended <-chan struct{}) int64 {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var most int64
	for {
		most = max(most, resident(pid))
		select {
		case <-ended:
			return most
		case <-tick.C:
		}
	}
}

var highWater = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// resident is the most memory that a process has had resident so far, in
// bytes: VmHWM of proc_pid_status(5), in KiB there. The figure of getrusage(2)
// would not do: it starts with the parent's.
func resident(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	found := highWater.FindSubmatch(status)
	if found == nil {
		return 0
	}
	kib, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// server is a running couchgauge serve.
type server struct {
	url     string // with a slash at the end
	process *process
	stopped atomic.Bool
}

var address = regexp.MustCompile(`http://[^\s,]+`)

// serve starts the reference server on a free port.
func (b *bench) serve(ctx context.Context, flags ...string) (*server, error) {
	p := b.command(ctx, b.program, append([]string{"serve", "--addr", "127.0.0.1:0"}, flags...)...)
	output, err := p.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(output)
	line, err := lines.ReadString('\n')
	url := address.FindString(line)
	if err != nil || url == "" {
		p.Process.Kill()
		return nil, fmt.Errorf("start the server: it said %q: %w: %s", line, errors.Join(err, p.Wait()), p.complaints.String())
	}
	go io.Copy(io.Discard, lines)
	return &server{url: url, process: p}, nil
}

// database is what the peers upload to on the sink.
const database = "couchgauge-bench"

// sink starts a server that discards what it reads, with a database.
func (b *bench) sink(ctx context.Context) (*server, error) {
	s, err := b.serve(ctx, "--discard")
	if err != nil {
		return nil, err
	}
	if err := createDatabase(ctx, s.url+database); err != nil {
		_, stopErr := s.stop()
		return nil, errors.Join(err, stopErr)
	}
	return s, nil
}

func createDatabase(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		return fmt.Errorf("create %s: %s", url, response.Status)
	}
	return nil
}

// stop ends the server and returns the most memory that it had resident.
func (s *server) stop() (memory int64, err error) {
	if s.stopped.Swap(true) {
		return 0, nil
	}
	memory = resident(s.process.Process.Pid)
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return memory, err
	}
	if err := s.process.Wait(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) { // its exit code is not what is measured
			return memory, err
		}
	}
	return memory, nil
}
