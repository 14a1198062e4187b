package couch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// piped makes a server whose connections are pipes to serve, which runs on the
// bubble's clock.
func piped(t *testing.T, o Options, serve func(net.Conn)) *Server {
	s := open(t, "http://pipe:1/", o)
	var running sync.WaitGroup
	t.Cleanup(running.Wait) // the bubble's clock goes on until then
	s.dial = func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		running.Go(func() {
			defer there.Close()
			serve(there)
		})
		return here, nil
	}
	return s
}

const created = "HTTP/1.1 201 Created\r\nContent-Length: 11\r\n\r\n{\"ok\":true}"

// Case U6: 960 KiB at 1.8 kB/s take nine minutes, during which bytes move all
// the time: in one write of 256 KiB longer than the idle timeout, too.
func TestIdleTimeoutLetsMovingBytesBe(t *testing.T) {
	const size = 960 << 10
	for _, kind := range []struct {
		name string
		o    TransportOptions
	}{{"length", TransportOptions{}}, {"keep-alive", TransportOptions{KeepAlive: true}}} {
		t.Run(kind.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := piped(t, Options{IdleTimeout: time.Minute}, func(c net.Conn) {
					r := bufio.NewReaderSize(c, 16)
					req, err := http.ReadRequest(r)
					if err != nil {
						t.Error(err)
						return
					}
					piece := make([]byte, 1800)
					for {
						if _, err := io.ReadFull(req.Body, piece); err != nil {
							break
						}
						time.Sleep(time.Second)
					}
					io.WriteString(c, created)
				})
				c := s.Client(kind.o)
				defer c.Close()
				start := time.Now()
				resp, err := c.Do(t.Context(), put(size))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if took := time.Since(start); took < 8*time.Minute || resp.StatusCode != 201 {
					t.Errorf("answered %d after %v, want 201 after nine minutes", resp.StatusCode, took)
				}
			})
		})
	}
}

// Slow answers move, too.
func TestIdleTimeoutLetsSlowAnswersBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := piped(t, Options{IdleTimeout: time.Minute}, func(c net.Conn) {
			if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
				t.Error(err)
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n")
			for range 20 {
				time.Sleep(50 * time.Second)
				io.WriteString(c, "1")
			}
		})
		c := s.Client(TransportOptions{})
		defer c.Close()
		resp, err := c.Do(t.Context(), Request{Method: http.MethodGet, Path: "db"})
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || len(b) != 20 {
			t.Errorf("read %d bytes, %v; want 20", len(b), err)
		}
	})
}

func TestTimeouts(t *testing.T) {
	readSome := func(c net.Conn, n int64) {
		r := bufio.NewReaderSize(c, 16)
		req, err := http.ReadRequest(r)
		if err == nil {
			io.CopyN(io.Discard, req.Body, n)
		}
	}
	for _, test := range []struct {
		name  string
		o     Options
		serve func(c net.Conn, done <-chan struct{})
		want  TimeoutError // Sent: at least
		after time.Duration
		text  string
	}{
		{
			name:  "stalled while sending",
			o:     Options{IdleTimeout: time.Minute},
			serve: func(c net.Conn, done <-chan struct{}) { readSome(c, 12_000_000); <-done },
			want:  TimeoutError{Idle: true, After: time.Minute, Sent: 12_000_000, Of: 64_000_000},
			after: time.Minute,
			text:  "idle timeout: no byte moved for 1m0s after 12 MB of 64 MB",
		},
		{
			name:  "silent after everything was sent",
			o:     Options{IdleTimeout: 30 * time.Second},
			serve: func(c net.Conn, done <-chan struct{}) { readSome(c, 64_000_000); <-done },
			want:  TimeoutError{Idle: true, After: 30 * time.Second, Sent: 64_000_000, Of: 64_000_000},
			after: 30 * time.Second,
			text:  "idle timeout: no byte moved for 30s after 64 MB of 64 MB",
		},
		{
			name: "overall, while bytes move",
			o:    Options{IdleTimeout: time.Minute, Timeout: 5 * time.Minute},
			serve: func(c net.Conn, _ <-chan struct{}) {
				for io.ReadAtLeast(c, make([]byte, 1000), 1); ; time.Sleep(time.Second) {
					if _, err := io.ReadFull(c, make([]byte, 1000)); err != nil {
						return
					}
				}
			},
			want:  TimeoutError{After: 5 * time.Minute, Sent: 1, Of: 64_000_000},
			after: 5 * time.Minute,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan struct{})
				s := piped(t, test.o, func(c net.Conn) { test.serve(c, done) })
				c := s.Client(TransportOptions{KeepAlive: true})
				defer c.Close()
				start := time.Now()
				_, err := c.Do(ctx, put(64_000_000))
				took := time.Since(start)
				close(done)
				var e *TimeoutError
				if !errors.As(err, &e) {
					t.Fatalf("got %v, want a TimeoutError", err)
				}
				if e.Idle != test.want.Idle || e.After != test.want.After || e.Of != test.want.Of || e.Sent < test.want.Sent {
					t.Errorf("got %+v, want %+v", e, test.want)
				}
				if test.text != "" && err.Error() != test.text {
					t.Errorf("says %q, want %q", err, test.text)
				}
				if took < test.after || took > test.after+test.after/4 {
					t.Errorf("after %v, want about %v", took, test.after)
				}
			})
		})
	}
}

// Nobody waits for ever for a connection either.
func TestIdleTimeoutWhileConnecting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, "http://pipe:1/", Options{IdleTimeout: 10 * time.Second})
		s.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		c := s.Client(TransportOptions{})
		defer c.Close()
		_, err := c.Do(t.Context(), Request{Method: http.MethodGet, Path: "/"})
		var e *TimeoutError
		if !errors.As(err, &e) || !e.Idle {
			t.Errorf("got %v, want an idle timeout", err)
		}
	})
}

// Case U16: a request in the middle of 1 GB ends with its context.
func TestCancelEndsARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		s := piped(t, Options{IdleTimeout: time.Minute}, func(c net.Conn) {
			io.CopyN(io.Discard, c, 10<<20)
			cancel()
			<-done
		})
		c := s.Client(TransportOptions{})
		defer c.Close()
		start := time.Now()
		_, err := c.Do(ctx, put(1<<30))
		close(done)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// Case U18, for what is not measured: the control client waits as it is told,
// but not for an hour.
func TestControlWaitsAsTold(t *testing.T) {
	for _, test := range []struct {
		name     string
		after    string // Retry-After
		refusals int
		took     time.Duration
		fails    bool
	}{
		{"twice", "7", 2, 14 * time.Second, false},
		{"not said", "", 1, time.Second, false},
		{"for ever", "7", 1000, 9 * 7 * time.Second, true},
		{"an hour", "3600", 1, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				left := test.refusals
				s := piped(t, Options{}, func(c net.Conn) {
					r := bufio.NewReader(c)
					for {
						if _, err := http.ReadRequest(r); err != nil {
							return
						}
						answer := "HTTP/1.1 429 Too Many Requests\r\nRetry-After: " + test.after + "\r\nContent-Length: 0\r\n\r\n"
						if left == 0 {
							answer = http1("200 OK", "", "{}")
						}
						left--
						io.WriteString(c, answer)
					}
				})
				start := time.Now()
				err := s.Control().JSON(t.Context(), http.MethodGet, "db", nil, nil)
				took := time.Since(start)
				s.Control().Close()
				if (err != nil) != test.fails || took != test.took {
					t.Errorf("got %v after %v, want failure %v after %v", err, took, test.fails, test.took)
				}
			})
		})
	}
}
