// Package refserver is couchgauge's reference server: a CouchDB-compatible
// server on net/http and bbolt, inside the binary. It is the default target of
// every measurement, the double that tests talk to, and the control that tells
// what a client and a network cost when the server is not to blame. It behaves
// as CouchDB 3.5 does, statuses, headers and quirks included; where it cannot
// (there is no JavaScript in it: no map/reduce, no filter functions, no
// validation functions) it answers as a CouchDB without a query server would.
//
// What it must not know: who calls it. It measures nothing, knows no methods,
// cells or runs, and takes its limits from its own configuration, as CouchDB
// does.
//
// A database is a folder with one bbolt file (documents, revision trees, the
// sequence index, small attachments) and a folder of files for attachments
// larger than smallBlob. An attachment is hashed, compressed when its type asks
// for it, and written while it arrives, by every upload API; no request is held
// in memory for its attachments.
package refserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"couchgauge/internal/refserver/replicator"
)

// Version is what the welcome object and the Server header say.
const Version = "3.5.0"

// Options say how a Server is set up. Limits are not here: they are settings
// of the server (couchdb/max_document_size …) and are changed as a CouchDB
// user changes them, through /_node/_local/_config.
type Options struct {
	Dir     string // folder of the data, created when missing
	NoFsync bool   // do not wait for the disk before a write is answered

	// Admin and Password name the one server admin. An empty Admin is the
	// "admin party" of old: everybody may do everything.
	Admin, Password string

	// Discard makes a sink: documents and attachments are read from the wire,
	// answered as CouchDB would answer them, and forgotten. Databases are
	// real, so that a client can create, ask for and delete its own.
	Discard bool
}

// Server is one reference server. It is an http.Handler.
type Server struct {
	opts    Options
	store   *store
	config  *config
	auth    *authenticator
	started time.Time

	replicator    *replicator.Scheduler
	documents     *replicator.Documents
	replicatorDBs *replicatorDBs

	mu     sync.Mutex
	server *http.Server // while Serve runs
}

// New opens the store in opts.Dir, or makes it. The caller closes the Server.
func New(opts Options) (*Server, error) {
	if opts.Dir == "" {
		return nil, errors.New("open reference server: no data folder was named: set Options.Dir")
	}
	conf, err := openConfig(opts.Dir, opts.NoFsync)
	if err != nil {
		return nil, fmt.Errorf("open reference server: %w", err)
	}
	auth, err := newAuthenticator(conf, opts.Admin, opts.Password)
	if err != nil {
		return nil, fmt.Errorf("open reference server: %w", err)
	}
	st, err := openStore(opts.Dir, opts.NoFsync)
	if err != nil {
		return nil, fmt.Errorf("open reference server: %w", err)
	}
	s := &Server{opts: opts, store: st, config: conf, auth: auth, started: time.Now()}
	if err := s.startReplicator(); err != nil {
		return nil, errors.Join(fmt.Errorf("open reference server: %w", err), s.Close())
	}
	return s, nil
}

// Serve answers requests on l until Shutdown or Close. Its error is nil then.
func (s *Server) Serve(l net.Listener) error {
	srv := &http.Server{Handler: s}
	s.mu.Lock()
	s.server = srv
	s.mu.Unlock()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	}
	return nil
}

// Shutdown stops Serve after the requests that are under way, or when ctx ends.
// Replications and feeds that wait for changes end at once. The store stays
// open: Close it.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopReplicator()
	s.store.stopFeeds()
	s.mu.Lock()
	srv := s.server
	s.mu.Unlock()
	if srv == nil {
		return nil
	}
	if err := srv.Shutdown(ctx); err != nil {
		return fmt.Errorf("shut down reference server: %w", err)
	}
	return nil
}

// Close ends every request and closes the store. What was answered is on disk
// (unless NoFsync); what was not answered may or may not be.
func (s *Server) Close() error {
	s.stopReplicator()
	s.store.stopFeeds()
	s.mu.Lock()
	srv := s.server
	s.mu.Unlock()
	var err error
	if srv != nil {
		err = srv.Close()
	}
	if err := errors.Join(err, s.store.close()); err != nil {
		return fmt.Errorf("close reference server: %w", err)
	}
	return nil
}
