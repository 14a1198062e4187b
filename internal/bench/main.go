// Bench measures couchgauge's own speed beside tools that do nothing but send:
// curl and wrk. It prints what both needed, the ratio, and the ratio that is
// promised. Only loopback is used.
//
//	go run ./internal/bench            everything; some minutes
//	go run ./internal/bench raw memory only what has one of the words in its name
//
// Sides take turns, so that a slow minute of the machine hits both, and
// medians are compared. A tool that is not installed is named, with the way to
// get it, and its lines are left out. Temporary files take up to 2.5 GB and are
// removed, also after Ctrl-C.
//
// It drives the couchgauge command as a user would, and knows nothing of the
// packages behind it but the format of its recordings and tables and the name
// of one benchmark.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Stdout, os.Args[1:])
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is what the measurements share.
type bench struct {
	out       io.Writer
	words     []string // of the names that are wanted; none: all
	program   string   // the couchgauge binary
	temporary string   // folder for all files
}

// rounds is how often each side is measured.
const rounds = 5

// measurements are all that can be measured, in the order in which they are.
var measurements = []struct {
	name string // with the words that choose it
	run  func(context.Context, *bench) error
}{
	{"content random", randomContent},
	{"content base64", base64Stream},
	{"upload raw", func(ctx context.Context, b *bench) error { return compareWithCurl(ctx, b, "raw") }},
	{"upload base64", func(ctx context.Context, b *bench) error { return compareWithCurl(ctx, b, "base64") }},
	{"upload multipart", func(ctx context.Context, b *bench) error { return compareWithCurl(ctx, b, "multipart") }},
	{"upload form", func(ctx context.Context, b *bench) error { return compareWithCurl(ctx, b, "form") }},
	{"small", smallUploads},
	{"memory", memory},
}

func run(ctx context.Context, out io.Writer, words []string) (err error) {
	b := &bench{out: out, words: words}
	b.temporary, err = os.MkdirTemp("", "couchgauge-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.temporary)) }()
	b.program = filepath.Join(b.temporary, "couchgauge")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", b.program, "./cmd/couchgauge")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build couchgauge: %w", err)
	}
	fmt.Fprintf(out, "%d CPUs, %s, medians of %d\n\n%s", runtime.NumCPU(), runtime.Version(), rounds, heading)
	var errs []error
	for _, m := range measurements {
		if !b.wanted(m.name) {
			continue
		}
		if err := m.run(ctx, b); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

func (b *bench) wanted(name string) bool {
	for _, word := range b.words {
		if strings.Contains(name, word) {
			return true
		}
	}
	return len(b.words) == 0
}

// missing says that a peer is not there, and how to get it.
func (b *bench) missing(tool string) bool {
	if _, err := exec.LookPath(tool); err != nil {
		fmt.Fprintf(b.out, "%s is not installed, its lines are left out (Debian: apt-get install %s)\n", tool, tool)
		return true
	}
	return false
}
