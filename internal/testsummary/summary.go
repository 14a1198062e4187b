package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// event is a line of go test -json: see go doc cmd/test2json.
type event struct {
	Action  string
	Package string
	Test    string // empty for what concerns the whole package
	Output  string
}

// summary counts tests, subtests among them.
type summary struct {
	passed, failed int
	skipped        map[string]int // by reason
}

// summarise reads the output of go test -json to its end. It writes what
// concerns packages, and what failing tests said, as it comes.
func summarise(w io.Writer, r io.Reader) (summary, error) {
	s := summary{skipped: map[string]int{}}
	said := map[event]*strings.Builder{} // by package and test, of those that still run
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if bad := json.Unmarshal(line, &e); bad != nil {
				e = event{Action: "build-output", Output: string(line)} // go itself complains
			}
			if err := s.add(w, said, e); err != nil {
				return s, err
			}
		}
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return s, fmt.Errorf("read the output of go test: %w", err)
		}
	}
}

func (s *summary) add(w io.Writer, said map[event]*strings.Builder, e event) error {
	test := event{Package: e.Package, Test: e.Test}
	switch {
	case e.Action == "build-output", e.Action == "output" && e.Test == "":
		if e.Output == "PASS\n" || e.Output == "FAIL\n" || strings.HasPrefix(e.Output, "coverage:") {
			return nil // the line with the package's name says it again
		}
		return write(w, e.Output)
	case e.Action == "output":
		if said[test] == nil {
			said[test] = new(strings.Builder)
		}
		said[test].WriteString(e.Output)
		return nil
	case e.Test == "":
		if e.Action != "fail" {
			return nil
		}
		// The package ended while these ran: a crash or the time limit.
		var left bytes.Buffer
		for running, text := range said {
			if running.Package == e.Package {
				left.WriteString(text.String())
				delete(said, running)
			}
		}
		return write(w, left.String())
	}
	text := ""
	if said[test] != nil {
		text = said[test].String()
	}
	switch e.Action {
	case "pass":
		s.passed++
	case "skip":
		s.skipped[reason(text)]++
	case "fail":
		s.failed++
		if err := write(w, text); err != nil {
			return err
		}
	default:
		return nil
	}
	delete(said, test)
	return nil
}

// print writes the reasons for which tests were skipped, and the counts.
func (s *summary) print(w io.Writer) error {
	skipped := 0
	for _, reason := range slices.Sorted(maps.Keys(s.skipped)) {
		n := s.skipped[reason]
		if skipped == 0 {
			if err := write(w, "\nSkipped:\n"); err != nil {
				return err
			}
		}
		skipped += n
		if _, err := fmt.Fprintf(w, "%5d  %s\n", n, reason); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", s.passed, s.failed, skipped)
	return err
}

var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reason is what a skipped test said last, without the place in its source.
func reason(text string) string {
	reason := "no reason given"
	for line := range strings.Lines(text) {
		if found := place.FindString(line); found != "" {
			reason = strings.TrimSpace(line[len(found):])
		}
	}
	return reason
}

func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}
