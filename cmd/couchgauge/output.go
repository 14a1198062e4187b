package main

import (
	"fmt"
	"io"
	"strings"

	"couchgauge/internal/couch"
	"couchgauge/results"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// addFormat adds --format to a command that prints tables.
func addFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "format", "text", strings.Join(results.Formats(), ", "))
	complete(cmd, "format", results.Formats()...)
}

// checkFormat says before a run whether its table can be printed.
func checkFormat(format string, cells []results.Cell) error {
	if err := results.CheckFormat(format, cells); err != nil {
		return usagef("--format: %w", err)
	}
	return nil
}

// complete offers words to the shell for the flag, also after a comma.
func complete(cmd *cobra.Command, flag string, words ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag,
		func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			before := typed[:strings.LastIndex(typed, ",")+1]
			var offers []string
			for _, w := range words {
				offers = append(offers, before+w)
			}
			return offers, cobra.ShellCompDirectiveNoFileComp
		})
	if err != nil {
		panic(err) // only for a flag that does not exist
	}
}

// count says how many there are: "1 cell", "2 cells".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// terminal says whether w is one, for progress bars.
func terminal(w io.Writer) bool {
	file, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// warn prints one warning, without credentials.
func warn(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, couch.Redact("warning: "+fmt.Sprintf(format, args...)))
}
