package replicate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"couchgauge/internal/couch"
	"couchgauge/results"
)

// Env is where a plan is measured.
type Env struct {
	Source, Target Peer
	Replicator     *Peer // runs the jobs of a Plan with AtReplicator
	RunID          string
	StateDir       string // for the journals of changed settings (couch.StateDir)
	Sink           results.Sink
	Progress       *Progress // nil: nobody looks
}

// Session is a plan that was checked and can be measured. Close it in any case.
type Session struct {
	env     Env
	plan    Plan
	cells   []cell
	owned   map[*couch.Server]*couch.Databases
	hosts   []*host
	sources map[shape][]endpoint // filled once, by number
	notes   []string
	names   atomic.Int64 // of databases and jobs so far
}

// Prepare checks what would make the figures of a plan worthless, before any
// load: it pins the start-up delay of the servers that run jobs, and has each
// of them replicate a tiny database over each pair of addresses in use, from
// which it also learns how the server takes credentials and which options it
// ignores. It returns a Session to be closed even with an error.
func Prepare(ctx context.Context, env Env, plan Plan) (*Session, error) {
	s := &Session{
		env:     env,
		plan:    plan.withDefaults(),
		owned:   map[*couch.Server]*couch.Databases{},
		sources: map[shape][]endpoint{},
	}
	if s.env.Progress == nil {
		s.env.Progress = &Progress{}
	}
	if err := plan.Check(); err != nil {
		return s, err
	}
	if s.plan.At == AtReplicator && env.Replicator == nil {
		return s, errors.New("no server was given that runs the jobs")
	}
	s.cells = s.plan.cells()
	s.findHosts()
	for _, h := range s.hosts {
		if err := s.pin(ctx, h); err != nil {
			return s, err
		}
		if err := s.checkHost(ctx, h); err != nil {
			return s, err
		}
	}
	for i := range s.cells {
		s.cells[i].Server = s.runs(s.cells[i]).Index
	}
	s.tellEffects()
	return s, nil
}

// Cells lists the cells with their IDs, and with what was found out about
// their settings.
func (s *Session) Cells() []results.Cell {
	var list []results.Cell
	for _, c := range s.cells {
		list = append(list, c.Cell)
	}
	return list
}

// Notes are what a run's header should say about its servers' settings.
func (s *Session) Notes() []string { return s.notes }

// Close removes what the session left on the servers, and puts their settings
// back. It may be called again after an error.
func (s *Session) Close(ctx context.Context) error {
	var errs []error
	for _, h := range s.hosts {
		errs = append(errs, h.journal.Restore(ctx))
	}
	if !s.plan.Keep {
		for _, d := range s.owned {
			errs = append(errs, d.DeleteAll(ctx))
		}
	}
	return errors.Join(errs...)
}

// newName is the part of a database's or job's name that tells it from the
// run's others.
func (s *Session) newName(kind string) string { return fmt.Sprintf("%s%d", kind, s.names.Add(1)) }

// databasesOf are the run's databases on a server.
func (s *Session) databasesOf(server *couch.Server) *couch.Databases {
	d := s.owned[server]
	if d == nil {
		d = server.NewDatabases(s.env.RunID)
		s.owned[server] = d
	}
	return d
}

// create makes an empty database on a peer.
func (s *Session) create(ctx context.Context, p *Peer, kind string) (endpoint, error) {
	name, err := s.databasesOf(p.Server).Create(ctx, s.newName(kind), s.plan.Q, s.plan.Replicas)
	return endpoint{p, name}, err
}

// drop deletes a database unless it is to be kept.
func (s *Session) drop(ctx context.Context, e endpoint) error {
	if s.plan.Keep {
		return nil
	}
	return s.databasesOf(e.peer.Server).Delete(ctx, e.db)
}

// peerOf is where a database of a layout lives.
func (s *Session) peerOf(d database) *Peer {
	if d.remote {
		return &s.env.Target
	}
	return &s.env.Source
}

// runs is the server that a cell's row is about: the one that runs its jobs,
// or takes what is written from here.
func (s *Session) runs(c cell) *Peer {
	switch {
	case c.driver == fillDriver:
		return &s.env.Source
	case c.here():
		return &s.env.Target
	default:
		return s.hostOf(c.layout, c.layout.edges[0])
	}
}

// event writes an event about a cell.
func (s *Session) event(c *cell, warning bool, format string, args ...any) error {
	e := &results.Event{At: time.Now(), Warning: warning, Text: fmt.Sprintf(format, args...)}
	if c != nil {
		e.Cell = &c.ID
	}
	return s.env.Sink.Write(e)
}

// groups lists the cells that are taken one after another on the same
// databases: rounds of updates. Most groups are one cell.
func (s *Session) groups() [][]cell {
	var list [][]cell
	for _, c := range s.cells {
		switch {
		case c.driver == fillDriver:
		case c.update > 0:
			list[len(list)-1] = append(list[len(list)-1], c)
		default:
			list = append(list, []cell{c})
		}
	}
	return list
}

// fillCell is the cell that tells how fast sources of a shape are filled.
func (s *Session) fillCell(data shape) *cell {
	i := slices.IndexFunc(s.cells, func(c cell) bool { return c.driver == fillDriver && c.shape == data })
	return &s.cells[i]
}
