// Testsummary runs go test with the arguments that it is given and prints what
// a reader wants to know: a line per package, all that failing tests said, and
// at the end how many tests were skipped and why. Plain go test hides the
// skipped ones, go test -v hides everything in what the others say.
//
//	go run ./internal/testsummary -race ./...
//
// It exits as go test does.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
		code = 1
	}
	os.Exit(code)
}

func run(arguments []string) (exitCode int, err error) {
	command := exec.Command("go", append([]string{"test", "-json"}, arguments...)...)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := command.Start(); err != nil {
		return 0, fmt.Errorf("run go test: %w", err)
	}
	summary, err := summarise(os.Stdout, output)
	if err := errors.Join(err, summary.print(os.Stdout)); err != nil {
		return 0, errors.Join(err, command.Process.Kill(), command.Wait())
	}
	var exit *exec.ExitError
	if err := command.Wait(); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	} else if err != nil {
		return 0, fmt.Errorf("run go test: %w", err)
	}
	return 0, nil
}
