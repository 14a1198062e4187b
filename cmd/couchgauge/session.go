package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"couchgauge/internal/couch"
	"couchgauge/results"
)

// cleanupPatience bounds what is done after a run was interrupted.
const cleanupPatience = 10 * time.Second

// newRunID names a run, as its databases will be named.
func newRunID() string {
	return couch.NewRunID(time.Now(), rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
}

// newRun begins the header of a run: who measures, when and with which command.
func newRun(ctx context.Context, id, command string) *results.Run {
	return &results.Run{
		Format: results.FormatVersion, ID: id, Command: command, CommandLine: commandLine(os.Args[1:]),
		Version: versionString(), Started: time.Now(), Client: describeClient(ctx),
	}
}

// session carries one run from its header to its exit code: every record goes
// to the recording and to the rows, and what was measured is printed however
// the run ends.
type session struct {
	recording *results.Recording
	path      string // its file
	temporary bool   // nobody asked to keep it
	collector *results.Collector
	lost      error // first failure of the recording; the run goes on without it
	stderr    io.Writer
}

// begin starts the recording at path. Without a path it is kept in the state
// folder only until the table is printed, so that a run that is killed can
// still be reported.
func begin(run *results.Run, path string, stderr io.Writer) (*session, error) {
	s := &session{collector: results.NewCollector(), stderr: stderr}
	var err error
	if s.path = path; path == "" {
		s.temporary = true
		if s.path, err = temporaryRecording(run.ID); err != nil {
			return nil, err
		}
	}
	if s.recording, err = results.Create(s.path, run); err != nil {
		return nil, usagef("-o: %w", err)
	}
	return s, s.collector.Write(run)
}

// checkRecording refuses a path at which a recording must not be created.
func checkRecording(path string) error {
	if path == "" {
		return nil
	}
	if path == "-" {
		return usagef("-o -: a recording is a compressed file: name one (tables go to stdout)")
	}
	if _, err := os.Stat(path); err == nil {
		return usagef("-o: %s exists: name another file, or remove it", path)
	}
	return nil
}

// recordingSuffix ends the names of recordings in the state folder.
const recordingSuffix = ".jsonl.zst"

// temporaryRecording is where a run is recorded that nobody asked to keep.
func temporaryRecording(runID string) (string, error) {
	dir, err := couch.StateDir(os.Getenv)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("folder for recordings: %w", err)
	}
	return filepath.Join(dir, runID+recordingSuffix), nil
}

// Write records one record. A recording that cannot be written, as on a full
// disk, costs the recording and not the run.
func (s *session) Write(rec results.Record) error {
	if s.lost == nil {
		if s.lost = s.recording.Write(rec); s.lost != nil {
			warn(s.stderr, "%v: the run goes on, its recording ends here", s.lost)
		}
	}
	return s.collector.Write(rec)
}

// end closes the run after runErr, prints it, and returns the command's error.
func (s *session) end(ctx context.Context, runErr error, stdout io.Writer, format string) error {
	end := &results.End{At: time.Now(), Reason: "complete"}
	switch {
	case ctx.Err() != nil:
		end.Reason = "interrupted"
	case runErr != nil:
		end.Reason = "stopped"
		end.Error = couch.Redact(runErr.Error())
	}
	errs := []error{s.Write(end)}
	if err := s.recording.Close(); s.lost == nil {
		s.lost = err
	}
	summary := s.collector.Summary()
	if err := results.Print(stdout, format, summary, results.Options{}); err != nil {
		errs = append(errs, s.keep(err))
	} else if s.temporary {
		os.Remove(s.path)
	}
	switch err := errors.Join(errs...); {
	case err != nil:
		return err
	case end.Reason == "interrupted":
		return &exitError{exitInterrupted, fmt.Errorf("interrupted: the table holds what was measured until then")}
	case runErr != nil:
		return &exitError{exitFailed, runErr}
	case s.lost != nil && !s.temporary:
		return &exitError{exitFailed, fmt.Errorf("the recording is incomplete: %w", s.lost)}
	}
	for _, row := range summary.Rows {
		if row.Failed > 0 {
			return &exitError{code: exitFailed}
		}
	}
	return nil
}

// keep adds to the error of a table that could not be printed where the samples
// are.
func (s *session) keep(err error) error {
	return fmt.Errorf("%w; nothing is lost: couchgauge report %s", err, s.path)
}

// commandLine is what was typed, without credentials, quoted for a shell.
func commandLine(args []string) string {
	words := []string{"couchgauge"}
	for _, a := range args {
		a = couch.Redact(a)
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$&|;<>()*?[]{}~#`!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}
