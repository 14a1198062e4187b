package couch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// UnreachableError says that there is no server, or none that speaks as
// CouchDB does, at a URL.
type UnreachableError struct {
	URL string
	Err error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("cannot reach %s: %v", e.URL, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// RefusedError says that the server does not let us do what every run needs.
type RefusedError struct {
	URL  string
	User string // "" = no credentials were sent
	Err  *Error
}

func (e *RefusedError) Error() string {
	who := "user " + e.User
	if e.User == "" {
		who = "requests without credentials"
	}
	return fmt.Sprintf("%s refuses %s: %s; give a server admin's credentials in the URL or in COUCHGAUGE_USER and COUCHGAUGE_PASSWORD",
		e.URL, who, e.Err.summary())
}

func (e *RefusedError) Unwrap() error { return e.Err }

// TimeoutError says that a request was ended by one of our timeouts.
type TimeoutError struct {
	Idle     bool          // no byte moved; false: the overall timeout
	After    time.Duration // the timeout
	Sent     int64         // bytes of HTTP that left this machine for the request
	Of       int64         // bytes of its body; -1 = not known
	Received int64         // bytes of the answer
}

func (e *TimeoutError) Error() string {
	if e.Idle {
		return fmt.Sprintf("idle timeout: no byte moved for %v after %s", e.After, transferred(e.Sent, e.Of, e.Received))
	}
	return fmt.Sprintf("overall timeout: not done in %v after %s", e.After, transferred(e.Sent, e.Of, e.Received))
}

// Timeout makes it a timeout for whoever asks (net.Error).
func (e *TimeoutError) Timeout() bool { return true }

// ResetError says that the server, or something between, cut the connection.
type ResetError struct {
	Sending bool  // before the request was sent whole
	Reused  bool  // the connection had served an earlier request
	Sent    int64 // bytes of HTTP, head and body, written for the request
	Of      int64 // bytes of its body; -1 = not known
	Err     error
}

func (e *ResetError) Error() string {
	switch {
	case e.Sending:
		return fmt.Sprintf("connection reset while sending (often a size limit) after %s: %v", transferred(e.Sent, e.Of, 0), e.Err)
	case e.Reused && e.Sent == 0:
		return fmt.Sprintf("kept connection was closed by the server before the request was sent: %v", e.Err)
	}
	return fmt.Sprintf("connection closed by the server before it answered, after %s: %v", transferred(e.Sent, e.Of, 0), e.Err)
}

func (e *ResetError) Unwrap() error { return e.Err }

func transferred(sent, of, received int64) string {
	switch {
	case received > 0:
		return bytesText(sent) + " sent, " + bytesText(received) + " received"
	case of > 0:
		return bytesText(min(sent, of)) + " of " + bytesText(of)
	}
	return bytesText(sent) + " sent"
}

// bytesText is a number of bytes for people: "12.3 MB".
func bytesText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n)/1000, 0
	for f >= 999.5 && unit < 3 {
		f, unit = f/1000, unit+1
	}
	return fmt.Sprintf("%.3g %s", f, []string{"kB", "MB", "GB", "TB"}[unit])
}

// explain turns an error of net/http into one of this package's.
func (x *watch) explain(err error) error {
	if cause := context.Cause(x.ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause // a *TimeoutError, or why the caller ended it
	}
	if x.ctx.Err() != nil {
		return x.ctx.Err()
	}
	var ue *url.Error
	if errors.As(err, &ue) { // repeats method and URL
		err = ue.Err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn == nil || errors.Is(err, errTLS) {
		return &UnreachableError{URL: x.client.server.URL(), Err: err}
	}
	if cut(err) {
		sent := x.conn.Written() - x.from
		return &ResetError{Sending: x.length != 0 && !x.wrote, Reused: x.reused, Sent: sent, Of: x.length, Err: err}
	}
	return fmt.Errorf("talk to %s: %w", x.client.server.URL(), err)
}

// cut tells whether an error means that the other side ended the connection.
func cut(err error) bool {
	var op *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe):
		return true
	case errors.As(err, &op) && (op.Op == "read" || op.Op == "write"):
		return true
	}
	// net/http keeps this one to itself (errServerClosedIdle).
	return strings.Contains(err.Error(), "server closed idle connection")
}
