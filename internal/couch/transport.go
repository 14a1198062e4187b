package couch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"time"
)

const (
	connectTimeout = 30 * time.Second // of TCP
	tlsTimeout     = 10 * time.Second // of the handshake after it, as in net/http
)

// TransportOptions are the properties of a client's connections.
type TransportOptions struct {
	KeepAlive             bool          // false: each request on a connection of its own
	ExpectContinueTimeout time.Duration // how long a request with Expect waits; 0 = not at all
	MaxConns              int           // at once; 0 = as many as there are requests
	IdleTimeout           time.Duration // instead of Options.IdleTimeout; 0 = that one
}

// dialer opens TCP connections; tests put a pipe in its place.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// newTransport makes HTTP/1.1 connections that are a [Conn]. Proxies of the
// environment (HTTP_PROXY) are left out: what is measured is the server of the
// URL. roots nil means the certificates the system trusts. Answers are not
// asked for in gzip, so that bytes are what they are.
func newTransport(dial dialer, roots *x509.CertPool, o TransportOptions) *direct {
	d := &direct{options: o}
	if o.MaxConns > 0 {
		d.places = make(chan struct{}, o.MaxConns)
	}
	d.connect = func(ctx context.Context, scheme, address string) (*Conn, error) {
		if scheme == "https" {
			return dialTLS(ctx, dial, roots, "tcp", address)
		}
		c, err := dial(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		w := &wire{Conn: c}
		return newConn(w, w), nil
	}
	return d
}

// dialTLS opens a connection whose Conn counts what is inside TLS, which
// net/http's own TLS would hide. It offers HTTP/1.1 only.
func dialTLS(ctx context.Context, dial dialer, roots *x509.CertPool, network, addr string) (*Conn, error) {
	raw, err := dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	w := &wire{Conn: raw}
	c := tls.Client(w, &tls.Config{ServerName: host, RootCAs: roots, NextProtos: []string{"http/1.1"}})
	ctx, cancel := context.WithTimeoutCause(ctx, tlsTimeout, fmt.Errorf("gave up after %v", tlsTimeout))
	defer cancel()
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.TLSHandshakeStart != nil {
		trace.TLSHandshakeStart()
	}
	err = c.HandshakeContext(ctx)
	if trace != nil && trace.TLSHandshakeDone != nil {
		trace.TLSHandshakeDone(c.ConnectionState(), err)
	}
	if err != nil {
		raw.Close()
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, tlsError(err, w.in.Load())
	}
	return newConn(&wire{Conn: c}, w), nil
}

// tlsError says what a handshake failed for. A server that answers nothing to
// it, or something else, likely speaks plain HTTP.
func tlsError(err error, received int64) error {
	var other tls.RecordHeaderError
	switch {
	case received == 0:
		return fmt.Errorf("TLS handshake: the server said nothing: %w: is it http://?", err)
	case errors.As(err, &other):
		return fmt.Errorf("TLS handshake: %w: is it http://?", err)
	}
	return fmt.Errorf("TLS handshake: %w", err)
}
