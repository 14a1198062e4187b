package main

import (
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
  couchgauge report --format markdown run.jsonl.zst
  couchgauge report --format csv before.jsonl.zst after.jsonl.zst`,
		Args: needs("the file of a recording", cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(format, nil); err != nil {
				return err
			}
			var list []*results.Summary
			for _, path := range args {
				s, err := summarize(path)
				if err != nil {
					return err
				}
				if s.Partial {
					warn(cmd.ErrOrStderr(), "%s is partial: the run did not come to its end", path)
				}
				list = append(list, s)
			}
			return results.PrintAll(cmd.OutOrStdout(), format, list, results.Options{})
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
