package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"couchgauge/internal/refserver"

	"github.com/spf13/cobra"
)

func newServe() *cobra.Command {
	var addr, dir, user string
	var noFsync, discard bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the reference server on its own",
		Long: `Run the reference server: a small, durable CouchDB-compatible server that shows
what the API costs when nothing is wrong. It prints its URL and runs until it
is interrupted.

With --discard it reads bodies, stores nothing and answers as CouchDB would:
the control that separates client and network from server. Nothing sent to it
can be verified.`,
		Example: `  couchgauge serve --addr 127.0.0.1:5984 --dir ./data
  couchgauge serve --discard &
  COUCHGAUGE_PASSWORD=secret couchgauge serve --user admin`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := refserver.Options{Dir: dir, NoFsync: noFsync, Discard: discard}
			if user != "" {
				o.Admin, o.Password = user, os.Getenv("COUCHGAUGE_PASSWORD")
				if o.Password == "" {
					return usagef("--user %s: set its password in COUCHGAUGE_PASSWORD", user)
				}
			}
			s, err := startReference(addr, o)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "reference server at %s, data in %s\n", s.URL, s.dataFolder())
			if user == "" && !loopback(addr) {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning: everybody who reaches this address is admin; --user sets one")
			}
			select {
			case <-cmd.Context().Done():
				return s.Close()
			case err := <-s.failed:
				return errors.Join(err, s.Close())
			}
		},
	}
	f := cmd.Flags()
	f.StringVar(&addr, "addr", "127.0.0.1:5984", "listen on this HOST:PORT; port 0 takes a free one")
	f.StringVar(&dir, "dir", "", "data folder (default a temporary one, removed at the end)")
	f.StringVar(&user, "user", "", "the only admin's name, its password in COUCHGAUGE_PASSWORD (default everybody is admin)")
	f.BoolVar(&noFsync, "no-fsync", false, "answer before the data is on disk")
	f.BoolVar(&discard, "discard", false, "a sink: read bodies, store nothing")
	return cmd
}

func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// reference is a running reference server.
type reference struct {
	URL    string
	server *refserver.Server
	http   *http.Server
	temp   string // folder to remove at the end; empty if the user chose it
	dir    string
	failed chan error
}

// startReference runs the reference server at addr, in a temporary folder
// where o names none.
func startReference(addr string, o refserver.Options) (_ *reference, err error) {
	r := &reference{failed: make(chan error, 1)}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if o.Dir == "" {
		r.temp, err = os.MkdirTemp("", "couchgauge-")
		if err != nil {
			return nil, fmt.Errorf("data folder of the reference server: %w", err)
		}
		o.Dir = r.temp
	}
	r.dir = o.Dir
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, usagef("reference server: %w", err)
	}
	r.server, err = refserver.New(o)
	if err != nil {
		listener.Close()
		return nil, fmt.Errorf("reference server: %w", err)
	}
	r.URL = "http://" + listener.Addr().String() + "/"
	r.http = &http.Server{Handler: r.server}
	go func() {
		if err := r.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.failed <- fmt.Errorf("reference server: %w", err)
		}
	}()
	return r, nil
}

func (r *reference) dataFolder() string {
	if r.temp != "" {
		return r.temp + " (temporary)"
	}
	return r.dir
}

// Close ends the server and removes its temporary folder.
func (r *reference) Close() error {
	var errs []error
	if r.http != nil {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupPatience)
		defer cancel()
		if r.server != nil {
			// First what would keep requests open: replications, which write a
			// last checkpoint while the server still answers, and feeds.
			errs = append(errs, r.server.Shutdown(ctx))
		}
		if r.http.Shutdown(ctx) != nil {
			errs = append(errs, r.http.Close())
		}
	}
	if r.server != nil {
		errs = append(errs, r.server.Close())
	}
	if r.temp != "" {
		errs = append(errs, os.RemoveAll(r.temp))
	}
	return errors.Join(errs...)
}
