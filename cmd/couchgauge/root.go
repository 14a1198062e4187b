package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "couchgauge",
		Short: "Measure attachment uploads and replication of CouchDB-compatible servers",
		Long: `couchgauge measures how fast a CouchDB-compatible server takes attachments by
each of its upload APIs, verifies every byte that was stored, and prints a
table that can be pasted into a bug report and reproduced.

Without a URL it measures the reference server inside this binary, which shows
what the API costs when nothing is wrong. Credentials come from the URL
(http://user:password@host:5984) or from COUCHGAUGE_USER and
COUCHGAUGE_PASSWORD, and are never printed.

Exit codes: 0 measured and verified; 1 measured, but something failed;
2 wrong usage; 3 the server cannot be reached or refuses us; 130 interrupted,
partial result kept.`,
		Version:       versionString(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newUpload(), newReplicate(), newGen(), newReport(), newClean(), newServe(), newVersion())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w (see %s --help)", err, cmd.CommandPath())
	})
	markUsage(root)
	return root
}

// markUsage makes wrong arguments of every command usage errors.
func markUsage(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usagef("%w (see %s --help)", err, cmd.CommandPath())
			}
			return nil
		}
	}
	for _, c := range cmd.Commands() {
		markUsage(c)
	}
}

// needs says in words what a command without arguments lacks.
func needs(what string, args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if len(given) == 0 {
			return fmt.Errorf("%s needs %s", cmd.Name(), what)
		}
		return args(cmd, given)
	}
}

// unknownCommand says whether err is cobra's for a word that is no command.
func unknownCommand(err error) bool {
	var exit *exitError
	return !errors.As(err, &exit) && strings.HasPrefix(err.Error(), "unknown command")
}
