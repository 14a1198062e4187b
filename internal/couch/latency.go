package couch

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// latencySamples is how many times a latency is taken; the median counts.
const latencySamples = 7

// RoundTrip is the time of the smallest request and its answer on a warm
// connection: network and the server's least work.
func (s *Server) RoundTrip(ctx context.Context) (time.Duration, error) {
	c := s.Client(TransportOptions{KeepAlive: true, MaxConns: 1})
	defer c.Close()
	get := func(int) error { return c.JSON(ctx, http.MethodGet, "/", nil, nil) }
	if err := get(0); err != nil { // connects, and pays for the first login (fact 13)
		return 0, fmt.Errorf("measure the round trip: %w", err)
	}
	d, err := medianTime(get)
	if err != nil {
		return 0, fmt.Errorf("measure the round trip: %w", err)
	}
	return d, nil
}

// emptyDocPut is the time to store a document without content in a database of
// the run's own.
func (s *Server) emptyDocPut(ctx context.Context, db string) (time.Duration, error) {
	c := s.Client(TransportOptions{KeepAlive: true, MaxConns: 1})
	defer c.Close()
	begun := time.Now().UnixNano() // new ids each time
	put := func(i int) error {
		return c.JSON(ctx, http.MethodPut, DocPath(db, fmt.Sprintf("couchgauge-empty-%d-%d", begun, i)), struct{}{}, nil)
	}
	if err := put(latencySamples); err != nil {
		return 0, fmt.Errorf("measure an empty document: %w", err)
	}
	d, err := medianTime(put)
	if err != nil {
		return 0, fmt.Errorf("measure an empty document: %w", err)
	}
	return d, nil
}

// connectTime is the time of a TCP connection's set-up, which is one round trip
// of the network without any of the server's work.
func (s *Server) connectTime(ctx context.Context) (time.Duration, error) {
	u, err := url.Parse(s.base.root())
	if err != nil {
		return 0, fmt.Errorf("measure connecting: %w", err)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	addr := net.JoinHostPort(u.Hostname(), port)
	d, err := medianTime(func(int) error {
		c, err := s.dial(ctx, "tcp", addr)
		if err != nil {
			return &UnreachableError{URL: s.URL(), Err: err}
		}
		return c.Close()
	})
	if err != nil {
		return 0, fmt.Errorf("measure connecting: %w", err)
	}
	return d, nil
}

// medianTime runs op latencySamples times.
func medianTime(op func(i int) error) (time.Duration, error) {
	var took []time.Duration
	for i := range latencySamples {
		start := time.Now()
		if err := op(i); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
