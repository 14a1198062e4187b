// Command couchgauge measures how fast a CouchDB-compatible server takes
// attachments by each of its upload APIs, and how fast it replicates, and
// prints the result as a table that others can reproduce.
//
// This package holds flags, help, wiring and exit codes. Nothing is measured
// or formatted here.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// gcPercent lets garbage grow to some five times what is in use, which is
// little: collecting it more often costs small uploads a tenth of their time.
// GOMEMLIMIT bounds it all the same.
const gcPercent = 400

func main() {
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// The first signal ends the run and cleans up; a second one kills.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program: it executes the command in args and returns its exit
// code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	return report(stderr, err)
}
