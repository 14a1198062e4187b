package couch

import (
	"crypto/x509"
	"fmt"
	"net"
	"sync"
	"time"
)

// Options say how a server is used.
type Options struct {
	User, Password string        // a user in the URL wins over them
	UserAgent      string        // added to kivik's, such as "couchgauge/1.2"
	IdleTimeout    time.Duration // a request ends when no byte moved for so long; 0 = never
	Timeout        time.Duration // a request ends after so long whatever moves; 0 = never
}

// String hides the password.
func (o Options) String() string {
	return fmt.Sprintf("user %q, idle timeout %v, timeout %v", o.User, o.IdleTimeout, o.Timeout)
}

// GoString hides the password.
func (o Options) GoString() string { return "couch.Options{" + o.String() + "}" }

// Server is one server: a base URL and who we are there.
type Server struct {
	base    baseURL
	options Options // with the user and password that are used
	dial    dialer
	roots   *x509.CertPool // nil = the system's

	once    sync.Once
	control *Client
}

// Open makes a Server of a base URL such as
// "http://user:password@host:5984/prefix". It sends nothing. A scheme that is
// missing is http. Its errors never contain the password.
func Open(rawURL string, o Options) (*Server, error) {
	base, user, err := parseBaseURL(rawURL)
	if err != nil {
		return nil, err
	}
	if user != nil {
		o.User, o.Password = user.name, user.password
	}
	d := &net.Dialer{Timeout: connectTimeout}
	return &Server{base: base, options: o, dial: d.DialContext}, nil
}

// URL is the base URL without credentials and without a slash at the end.
func (s *Server) URL() string { return s.base.root() + s.base.prefix }

// String is the URL.
func (s *Server) String() string { return s.URL() }

// GoString hides the password.
func (s *Server) GoString() string { return fmt.Sprintf("couch.Server{%q}", s.URL()) }

// Control is the client for everything that is not measured. Its connections
// are kept and shared, and its JSON waits where a hosted service asks it to
// (429).
func (s *Server) Control() *Client {
	s.once.Do(func() {
		s.control = s.Client(TransportOptions{KeepAlive: true})
		s.control.patient = true
	})
	return s.control
}
