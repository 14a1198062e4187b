package couch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ours is the exact form of the names that couchgauge gives to databases:
// "couchgauge-", a run id, "-", a suffix.
var ours = regexp.MustCompile(`^couchgauge-[0-9]{6}t[0-9]{6}[a-z2-9]{6}-[a-z0-9_$()+/-]+$`)

// Databases are those of one run. It deletes only what it created.
type Databases struct {
	server *Server
	runID  string

	mu   sync.Mutex
	mine []string // created, or possibly created, in order
}

// NewDatabases makes the (still empty) set of a run's databases.
func (s *Server) NewDatabases(runID string) *Databases {
	return &Databases{server: s, runID: runID}
}

// Create creates "couchgauge-<run id>-<suffix>" with q shards of n copies; 0 is
// the server's default. A server that refuses us gives a *RefusedError.
func (d *Databases) Create(ctx context.Context, suffix string, q, n int) (string, error) {
	name := "couchgauge-" + d.runID + "-" + suffix
	if !ours.MatchString(name) {
		return "", fmt.Errorf("create database %q: not a name that couchgauge could recognise and delete: use a-z, 0-9, _ and - in the suffix", name)
	}
	query := url.Values{}
	if q > 0 {
		query.Set("q", strconv.Itoa(q))
	}
	if n > 0 {
		query.Set("n", strconv.Itoa(n))
	}
	path := EscapeSegment(name)
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	err := d.server.Control().ask(ctx, question{op: "create database", target: name, method: http.MethodPut, path: path})
	var e *Error
	switch {
	case err == nil:
	case errors.As(err, &e) && (e.Status == 401 || e.Status == 403):
		return "", &RefusedError{URL: d.server.URL(), User: d.server.options.User, Err: e}
	case errors.As(err, &e) && e.Status < 500:
		return "", err
	default: // it may be there although the answer was lost
		d.add(name)
		return "", err
	}
	d.add(name)
	return name, nil
}

func (d *Databases) add(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.mine, name) {
		d.mine = append(d.mine, name)
	}
}

// Delete deletes a database that Create created. It may be gone already.
func (d *Databases) Delete(ctx context.Context, name string) error {
	d.mu.Lock()
	known := slices.Contains(d.mine, name)
	d.mu.Unlock()
	if !known {
		return fmt.Errorf("delete database %s: this run did not create it", name)
	}
	if err := d.server.delete(ctx, name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mine = slices.DeleteFunc(d.mine, func(s string) bool { return s == name })
	return nil
}

// DeleteAll deletes what is left of the run's databases. It goes on where one
// cannot be deleted, and may be called again.
func (d *Databases) DeleteAll(ctx context.Context) error {
	d.mu.Lock()
	left := slices.Clone(d.mine)
	d.mu.Unlock()
	var errs []error
	for _, name := range left {
		errs = append(errs, d.Delete(ctx, name))
	}
	return errors.Join(errs...)
}

// Leftovers are the databases that runs of couchgauge created and did not
// delete, of runs that are still going on, too. Only names of exactly our form
// are listed.
func (s *Server) Leftovers(ctx context.Context) ([]string, error) {
	var names []string
	err := s.Control().ask(ctx, question{
		op: "list databases", method: http.MethodGet,
		path: `_all_dbs?startkey=%22couchgauge-%22&endkey=%22couchgauge-%EF%BF%B0%22`,
		out:  &names,
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(n string) bool { return !ours.MatchString(n) }), nil
}

// DeleteLeftover deletes a database that Leftovers listed.
func (s *Server) DeleteLeftover(ctx context.Context, name string) error {
	if !ours.MatchString(name) {
		return fmt.Errorf("delete database %s: couchgauge did not create it", name)
	}
	return s.delete(ctx, name)
}

// delete deletes a database; one that is gone is as good.
func (s *Server) delete(ctx context.Context, name string) error {
	err := s.Control().ask(ctx, question{op: "delete database", target: name, method: http.MethodDelete, path: EscapeSegment(name)})
	var e *Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound {
		return nil
	}
	return err
}

// RunOf is the run id in the name of one of our databases, "" for any other.
func RunOf(name string) string {
	if !ours.MatchString(name) {
		return ""
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(name, "couchgauge-"), "-")
	return id
}
