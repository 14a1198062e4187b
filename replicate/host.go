package replicate

import (
	"context"
	"fmt"
	"strings"

	"couchgauge/internal/couch"
)

// host is a server that runs jobs.
type host struct {
	peer    *Peer
	journal *couch.Journal
	config  map[string]string // what the run set, by "section/key"
	login   login
	ignored map[string]bool // options that have no effect here

	// cumulative says that the counters of a job which goes on from a checkpoint
	// hold those of the jobs before it, as CouchDB's do.
	cumulative bool
}

// hostOf is who runs a job of a layout.
func (s *Session) hostOf(l layout, e edge) *Peer {
	switch s.plan.At {
	case AtReplicator:
		return s.env.Replicator
	case AtSource:
		return s.peerOf(l.databases[e.from])
	default:
		return s.peerOf(l.databases[e.to])
	}
}

// host finds the host on a peer, by server: source and target may be one.
func (s *Session) host(p *Peer) *host {
	for _, h := range s.hosts {
		if h.peer.Server.URL() == p.Server.URL() {
			return h
		}
	}
	return nil
}

// findHosts lists the servers that run jobs of any cell.
func (s *Session) findHosts() {
	for _, c := range s.cells {
		if c.driver == fillDriver {
			continue
		}
		if c.here() {
			continue
		}
		for _, e := range c.layout.edges {
			p := s.hostOf(c.layout, e)
			if s.host(p) == nil {
				s.hosts = append(s.hosts, &host{
					peer:    p,
					journal: p.Server.NewJournal(s.env.StateDir, s.env.RunID),
					config:  map[string]string{},
					ignored: map[string]bool{},
				})
			}
		}
	}
}

// set changes a setting of the host, if it is not so already.
func (h *host) set(ctx context.Context, name, value string) error {
	if now, ok := h.config[name]; ok && now == value {
		return nil
	}
	section, key, _ := strings.Cut(name, "/")
	if err := h.journal.Set(ctx, section, key, value); err != nil {
		return err
	}
	h.config[name] = value
	return nil
}

// configure sets what a cell wants of the servers that run its jobs.
func (s *Session) configure(ctx context.Context, c cell) error {
	if c.here() {
		return nil
	}
	for _, e := range c.layout.edges {
		h := s.host(s.hostOf(c.layout, e))
		for _, setting := range c.config {
			if err := h.set(ctx, setting.name, setting.Text); err != nil {
				return fmt.Errorf("configure %s: %w", h.peer, err)
			}
		}
	}
	return nil
}
