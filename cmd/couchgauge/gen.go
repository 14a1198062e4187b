package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"couchgauge/gen"

	"github.com/spf13/cobra"
)

func newGen() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gen",
		Short: "Write the data of a run to a file or to stdout",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("gen what? attachment or docs (see %s --help)", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newGenAttachment(), newGenDocs())
	return cmd
}

func newGenAttachment() *cobra.Command {
	var size, content, output string
	var seed uint64
	var number int
	cmd := &cobra.Command{
		Use:   "attachment",
		Short: "Write exactly the bytes that a run uploads",
		Example: `  couchgauge gen attachment --size 1MB --seed 42 -o a.bin
  couchgauge gen attachment --size 1GiB | curl -T - http://127.0.0.1:5984/db/doc/a.bin`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := gen.ParseSize(size)
			if err != nil {
				return usagef("--size: %w", err)
			}
			c, err := gen.ParseContent(content)
			if err != nil {
				return usagef("--content: %w", err)
			}
			if number < 0 {
				return usagef("--number %d: attachments count from 0", number)
			}
			a := gen.Attachment{Content: c, Seed: seed, Size: s.Bytes, Number: number}
			return writeOutput(cmd.Context(), output, cmd.OutOrStdout(), func(w io.Writer) error {
				_, err := a.Open().WriteTo(w)
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&size, "size", "1MB", "bytes to write: 10B 1kB 1KiB 1MB 1GiB 10^6")
	f.StringVar(&content, "content", string(gen.Random), strings.Join(contentNames(), ", "))
	f.Uint64Var(&seed, "seed", defaultSeed, "seed of the content")
	f.IntVar(&number, "number", 0, "which attachment of a document, from 0")
	f.StringVarP(&output, "output", "o", "", "write to this file instead of stdout")
	return cmd
}

func newGenDocs() *cobra.Command {
	var size, template, output string
	var seed uint64
	var docs int64
	cmd := &cobra.Command{
		Use:   "docs",
		Short: "Write JSON documents, one a line",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := documentTemplate(template, size)
			if err != nil {
				return err
			}
			d := gen.Documents{Seed: seed, Template: t}
			if docs < 0 {
				return usagef("--docs %d: must not be negative", docs)
			}
			return writeOutput(cmd.Context(), output, cmd.OutOrStdout(), func(w io.Writer) error {
				buf := make([]byte, 0, 64<<10)
				for n := range docs {
					buf = append(d.Append(buf[:0], n), '\n')
					if _, err := w.Write(buf); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.Int64Var(&docs, "docs", 1, "documents to write")
	f.StringVar(&size, "doc-size", "1kB", "bytes of each document's JSON")
	f.StringVar(&template, "template", "", "a built-in template's name, or a file with a JSON document whose leaves are varied")
	f.Uint64Var(&seed, "seed", defaultSeed, "seed of the content")
	f.StringVarP(&output, "output", "o", "", "write to this file instead of stdout")
	return cmd
}

// writeOutput lets write fill the file at path, or stdout when path is empty.
// It ends when ctx does, and a file that could not be completed is removed.
func writeOutput(ctx context.Context, path string, stdout io.Writer, write func(io.Writer) error) error {
	if path == "" {
		return writeBuffered(ctx, stdout, write)
	}
	file, err := os.Create(path)
	if err != nil {
		return usagef("-o: %w", err)
	}
	err = writeBuffered(ctx, file, write)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(path)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeBuffered(ctx context.Context, w io.Writer, write func(io.Writer) error) error {
	buffered := bufio.NewWriterSize(contextWriter{ctx, w}, 256<<10)
	if err := write(buffered); err != nil {
		return err
	}
	return buffered.Flush()
}

// contextWriter stops writing when its context ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// documentTemplate is a built-in template by name, one from a file, or, without
// a name, documents of exactly size bytes.
func documentTemplate(name, size string) (*gen.Template, error) {
	if name == "" {
		bytes, err := gen.ParseSize(size)
		if err != nil {
			return nil, usagef("--doc-size: %w", err)
		}
		t, err := gen.DocTemplate(bytes.Bytes)
		if err != nil {
			return nil, usagef("--doc-size: %w", err)
		}
		return t, nil
	}
	if slices.Contains(gen.BuiltinTemplates(), name) {
		return gen.BuiltinTemplate(name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, usagef("--template: %w (built in are %s)", err, strings.Join(gen.BuiltinTemplates(), ", "))
	}
	t, err := gen.ParseTemplate(text)
	if err != nil {
		return nil, usagef("--template %s: %w", name, err)
	}
	return t, nil
}
