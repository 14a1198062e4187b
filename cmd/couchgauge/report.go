package main

import (
	"fmt"
	"os"

	"couchgauge/results"

	"github.com/spf13/cobra"
)

func newReport() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "report RECORDING...",
		Short: "Print the tables of recordings again, in any format",
		Example: `  couchgauge report run.jsonl.zst
  couchgauge report --format markdown run.jsonl.zst`,
		Args: needs("the file of a recording", cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(format, nil); err != nil {
				return err
			}
			for i, path := range args {
				s, err := summarize(path)
				if err != nil {
					return err
				}
				if s.Partial {
					warn(cmd.ErrOrStderr(), "%s is partial: the run did not come to its end", path)
				}
				if i > 0 && (format == "text" || format == "markdown") {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				if err := results.Print(cmd.OutOrStdout(), format, s, results.Options{}); err != nil {
					return err
				}
			}
			return nil
		},
	}
	addFormat(cmd, &format)
	return cmd
}

func summarize(path string) (*results.Summary, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, usagef("%w", err)
	}
	defer file.Close()
	s, err := results.Summarize(file)
	if err != nil {
		return nil, usagef("%s is no recording of couchgauge, or a broken one: %w", path, err)
	}
	return s, nil
}
