package refserver

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// store is the folder of all databases. A database is the folder
// databases/<escaped name>; a name beginning with a dot is one that is being
// made or removed.
type store struct {
	dir     string
	noFsync bool

	mu      sync.Mutex
	open    map[string]*database
	stopped chan struct{} // closed by stopFeeds
	once    sync.Once
}

func openStore(dir string, noFsync bool) (*store, error) {
	s := &store{dir: filepath.Join(dir, "databases"), noFsync: noFsync, open: map[string]*database{}, stopped: make(chan struct{})}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// stopFeeds ends every feed that waits for changes, now and from now on.
func (s *store) stopFeeds() { s.once.Do(func() { close(s.stopped) }) }

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for name, db := range s.open {
		errs = append(errs, db.close())
		delete(s.open, name)
	}
	return errors.Join(errs...)
}

func (s *store) folder(name string) string { return filepath.Join(s.dir, url.QueryEscape(name)) }

// names lists the databases in order of their names.
func (s *store) names() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("list databases: %w", err)
	}
	var out []string
	for _, e := range entries {
		if name, err := url.QueryUnescape(e.Name()); err == nil && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

var errNoDatabase = notFound("Database does not exist.")

// database opens the database of that name. The caller does not close it.
func (s *store) database(name string) (*database, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if db := s.open[name]; db != nil {
		return db, nil
	}
	if checkDatabaseName(name) != nil {
		return nil, errNoDatabase
	}
	db, err := openDatabase(s.folder(name), name, s.noFsync, s.stopped)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNoDatabase
	}
	if err != nil {
		return nil, err
	}
	s.open[name] = db
	return db, nil
}

// create makes a database of q shards and n copies (which are only reported:
// the reference server is one node with one shard).
func (s *store) create(name string, q, n int) error {
	if err := checkDatabaseName(name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := os.Stat(s.folder(name)); err == nil {
		return errFileExists
	}
	tmp, err := os.MkdirTemp(s.dir, ".new-")
	if err != nil {
		return fmt.Errorf("create database %q: %w", name, err)
	}
	if err := initDatabase(tmp, q, n, s.noFsync); err != nil {
		os.RemoveAll(tmp)
		return fmt.Errorf("create database %q: %w", name, err)
	}
	if err := os.Rename(tmp, s.folder(name)); err != nil {
		os.RemoveAll(tmp)
		return fmt.Errorf("create database %q: %w", name, err)
	}
	if !s.noFsync {
		if err := syncDir(s.dir); err != nil {
			return fmt.Errorf("create database %q: %w", name, err)
		}
	}
	return nil
}

// remove deletes a database. Requests that use it meanwhile fail.
func (s *store) remove(name string) error {
	s.mu.Lock()
	db := s.open[name]
	delete(s.open, name)
	gone, err := os.MkdirTemp(s.dir, ".old-")
	if err == nil {
		err = os.Rename(s.folder(name), filepath.Join(gone, "db"))
	}
	s.mu.Unlock()
	defer os.RemoveAll(gone)
	if errors.Is(err, os.ErrNotExist) || checkDatabaseName(name) != nil {
		return errNoDatabase
	}
	if err != nil {
		return fmt.Errorf("delete database %q: %w", name, err)
	}
	if db != nil {
		if err := db.close(); err != nil {
			return fmt.Errorf("delete database %q: %w", name, err)
		}
	}
	return nil
}

var (
	databaseName    = regexp.MustCompile(`^[a-z][a-z0-9_$()+/-]*$`)
	systemDatabases = []string{"_dbs", "_users", "_replicator", "_nodes", "_global_changes"}
)

// maxNameSegment is the longest file name that the usual file systems take; the
// name of a database is one.
const maxNameSegment = 255

// checkDatabaseName holds a name to CouchDB's rules.
func checkDatabaseName(name string) error {
	system := slices.Contains(systemDatabases, name[strings.LastIndexByte(name, '/')+1:])
	if system {
		prefix, _, nested := strings.Cut(name, "/")
		system = !nested || databaseName.MatchString(prefix)
	}
	if !system && !databaseName.MatchString(name) {
		return &apiError{400, "illegal_database_name", "Name: '" + name + "'. Only lowercase characters (a-z), " +
			"digits (0-9), and any of the characters _, $, (, ), +, -, and / are allowed. Must begin with a letter."}
	}
	if len(url.QueryEscape(name)) > maxNameSegment {
		return &apiError{400, "database_name_too_long", "At least one path segment of `" + name + "` is too long."}
	}
	return nil
}
