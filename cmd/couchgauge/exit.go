package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"couchgauge/internal/couch"
)

// The exit codes of design.md.
const (
	exitOK          = 0
	exitFailed      = 1   // measured, but samples failed, stored bytes differ or documents are missing
	exitUsage       = 2   // wrong usage
	exitRefused     = 3   // the server cannot be reached or refuses us; nothing measured
	exitInterrupted = 130 // interrupted; the partial result was kept
)

// exitError carries the exit code that an error stands for. With a nil err
// everything worth saying was already printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usagef is an error in what the user typed.
func usagef(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// report prints err once, without credentials, and returns its exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	code := exitFailed
	var exit *exitError
	var unreachable *couch.UnreachableError
	var refused *couch.RefusedError
	switch {
	case errors.As(err, &exit):
		code = exit.code
		if exit.err == nil {
			return code
		}
	case errors.Is(err, context.Canceled):
		code = exitInterrupted
	case errors.As(err, &unreachable), errors.As(err, &refused):
		code = exitRefused
	case unknownCommand(err):
		code = exitUsage
	}
	for line := range strings.Lines(couch.Redact(err.Error())) { // of joined errors
		fmt.Fprintf(stderr, "couchgauge: %s\n", strings.TrimSuffix(line, "\n"))
	}
	return code
}
