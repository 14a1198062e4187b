package main

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"time"

	"couchgauge/internal/couch"
	"couchgauge/internal/refserver"
	"couchgauge/results"
)

// openServer makes the server at a URL, with the environment's credentials
// where the URL has none. idle is the longest time without a byte; 0 = any.
func openServer(url string, idle time.Duration) (*couch.Server, error) {
	s, err := couch.Open(url, couch.Options{
		User:        os.Getenv("COUCHGAUGE_USER"),
		Password:    os.Getenv("COUCHGAUGE_PASSWORD"),
		UserAgent:   "couchgauge/" + versionString(),
		IdleTimeout: idle,
	})
	if err != nil {
		return nil, usagef("%w", err)
	}
	return s, nil
}

// hello asks a server for its welcome. Where something else answers, and the
// URL without its last segment is a server's, the user has named a database.
func hello(ctx context.Context, s *couch.Server) (*couch.Welcome, error) {
	w, err := s.Hello(ctx)
	var unreachable *couch.UnreachableError
	var network net.Error
	if !errors.As(err, &unreachable) || errors.As(err, &network) {
		return w, err
	}
	u, perr := url.Parse(s.URL())
	if perr != nil || u.Path == "" {
		return w, err
	}
	user, password := s.Credentials()
	above, perr := couch.Open(u.JoinPath("..").String(), couch.Options{
		User: user, Password: password, UserAgent: "couchgauge/" + versionString(),
	})
	if perr != nil {
		return w, err
	}
	if _, perr := above.Hello(ctx); perr != nil {
		return w, err
	}
	return nil, usagef("%s is not a server's URL, but %s is: give that one, without a database",
		s.URL(), above.URL())
}

// target is the server of args, or the reference server started for it. The
// caller calls stop at the end.
func target(args []string, idle time.Duration) (s *couch.Server, stop func() error, err error) {
	if len(args) > 0 {
		s, err = openServer(args[0], idle)
		return s, func() error { return nil }, err
	}
	r, err := startReference("127.0.0.1:0", refserver.Options{})
	if err != nil {
		return nil, nil, err
	}
	s, err = couch.Open(r.URL, couch.Options{UserAgent: "couchgauge/" + versionString(), IdleTimeout: idle})
	return s, r.Close, err
}

// describe is what a run's header says of a server. db is one of the run's.
func describe(ctx context.Context, s *couch.Server, role, db string) (results.Server, error) {
	i, err := s.Describe(ctx, db)
	if err != nil {
		return results.Server{}, err
	}
	return results.Server{
		Role: role, URL: i.URL, Welcome: i.Welcome, Header: i.Header, Proxy: i.Proxy, Reference: i.Reference,
		Erlang: i.Erlang, JSEngine: i.JSEngine, OS: i.OS, Q: i.Q, N: i.N,
		Limits: i.Limits, Replicator: i.Replicator,
		Connect: results.Seconds(i.Connect), RoundTrip: results.Seconds(i.RoundTrip), EmptyDocPut: results.Seconds(i.EmptyDocPut),
	}, nil
}
