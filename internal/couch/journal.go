package couch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Journal changes settings of a server and puts them back. Each change is in a
// file, on disk, before the server hears of it, so that the settings of a run
// that was killed can be restored later (case R12). The file holds no
// credentials. It is locked while its run lives, where the system can lock.
//
// Changes are stored by the server as any admin's are. The header
// "X-Couch-Persist: false" would spare its files, but newer servers drop such
// changes whenever they read their files again.
type Journal struct {
	server *Server
	path   string

	mu   sync.Mutex
	file *os.File // nil = nothing was changed yet
	done []change
}

// change is one line of a journal.
type change struct {
	Server  string  `json:"server"` // URL without credentials
	Node    string  `json:"node"`   // whose configuration it is
	Section string  `json:"section"`
	Key     string  `json:"key"`
	Old     *string `json:"old"` // null = was not set
	New     string  `json:"new"`
}

func (c change) path() string {
	return "_node/" + EscapeSegment(c.Node) + "/_config/" + EscapeSegment(c.Section) + "/" + EscapeSegment(c.Key)
}

func (c change) String() string { return c.Section + "/" + c.Key }

// journalSuffix ends the names of journals.
const journalSuffix = ".settings.jsonl"

// NewJournal makes the (still empty) journal of a run. Its file is created in
// dir (see [StateDir]) with the first change.
func (s *Server) NewJournal(dir, runID string) *Journal {
	return &Journal{server: s, path: filepath.Join(dir, runID+"-"+fileName(s.URL())+journalSuffix)}
}

// fileName makes a part of a file's name of a URL.
func fileName(url string) string {
	return strings.Map(func(r rune) rune {
		if r < 128 && (unreserved(byte(r))) {
			return r
		}
		return '_'
	}, url)
}

// Path is the journal's file.
func (j *Journal) Path() string { return j.path }

// Set changes a setting of the node that answers, after having written its old
// value to the journal.
func (j *Journal) Set(ctx context.Context, section, key, value string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := change{Server: j.server.URL(), Section: section, Key: key, New: value}
	var err error
	if c.Node, err = j.server.node(ctx); err != nil {
		return fmt.Errorf("set %v to %q: %w", c, value, err)
	}
	if c.Old, err = j.server.setting(ctx, c); err != nil {
		return fmt.Errorf("set %v to %q: %w", c, value, err)
	}
	if c.Old != nil && *c.Old == value {
		return nil
	}
	if err := j.note(c); err != nil {
		return fmt.Errorf("set %v to %q: nothing was changed, since the journal cannot be written: %w", c, value, err)
	}
	if err := j.server.Control().JSON(ctx, http.MethodPut, c.path(), value, nil); err != nil {
		return fmt.Errorf("set %v to %q: %w", c, value, err)
	}
	return nil
}

// note writes a change to the file and waits until it is on disk.
func (j *Journal) note(c change) error {
	if j.file == nil {
		if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(j.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		if err := lock(f); err != nil {
			f.Close()
			return err
		}
		if err := syncDir(filepath.Dir(j.path)); err != nil {
			f.Close()
			return err
		}
		j.file = f
	}
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	j.done = append(j.done, c)
	return nil
}

// Restore puts every changed setting back as it was, the last change first, and
// removes the file when all are. A setting that somebody else has changed since
// is left alone and reported. It may be called again after an error.
func (j *Journal) Restore(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var left []change
	var errs []error
	for _, c := range slices.Backward(j.done) {
		again, err := j.server.undo(ctx, c)
		if again {
			left = append(left, c)
		}
		errs = append(errs, err)
	}
	slices.Reverse(left)
	j.done = left
	if len(left) == 0 {
		errs = append(errs, j.remove())
	}
	return errors.Join(errs...)
}

func (j *Journal) remove() error {
	if j.file == nil {
		return nil
	}
	err := os.Remove(j.path)
	j.file.Close()
	j.file = nil
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// undo puts one setting back. again says that it has to be tried once more.
func (s *Server) undo(ctx context.Context, c change) (again bool, err error) {
	now, err := s.setting(ctx, c)
	if err != nil {
		return true, fmt.Errorf("restore %v: %w", c, err)
	}
	switch {
	case now == nil && c.Old == nil, now != nil && c.Old != nil && *now == *c.Old:
		return false, nil // the change never arrived, or was undone
	case now == nil || *now != c.New:
		return false, fmt.Errorf("restore %v: somebody changed it since (we had set it to %q): it was left alone", c, c.New)
	case c.Old == nil:
		err = s.Control().JSON(ctx, http.MethodDelete, c.path(), nil, nil)
	default:
		err = s.Control().JSON(ctx, http.MethodPut, c.path(), *c.Old, nil)
	}
	if err != nil {
		return true, fmt.Errorf("restore %v: %w", c, err)
	}
	return false, nil
}

// setting reads the value that a change is about; nil = not set.
func (s *Server) setting(ctx context.Context, c change) (*string, error) {
	var v string
	err := s.Control().JSON(ctx, http.MethodGet, c.path(), nil, &v)
	var e *Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound && e.Reason == "unknown_config_value" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &v, nil
}

// node is the name of the node that answers, so that a change is restored
// where it was made, also behind a load balancer. Servers that do not tell have
// one node, "_local".
func (s *Server) node(ctx context.Context) (string, error) {
	said := struct{ Name string }{}
	why, err := s.ask(ctx, "_node/_local", &said)
	if err != nil {
		return "", err
	}
	if why != "" || said.Name == "" {
		return "_local", nil
	}
	return said.Name, nil
}

// LeftoverJournals are the journals in dir of this server whose runs were
// killed. Those of runs that are alive are left out where the system can lock.
func (s *Server) LeftoverJournals(dir string) ([]*Journal, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+journalSuffix))
	if err != nil {
		return nil, fmt.Errorf("look for journals: %w", err)
	}
	var found []*Journal
	for _, path := range files {
		j, err := s.openJournal(path)
		if err != nil {
			return nil, fmt.Errorf("read journal %s: %w", path, err)
		}
		if j != nil {
			found = append(found, j)
		}
	}
	return found, nil
}

// openJournal takes over a journal; nil = it is another server's, or in use.
func (s *Server) openJournal(path string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, os.ErrNotExist) { // its run has just ended
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if lock(f) != nil { // its run is alive
		f.Close()
		return nil, nil
	}
	changes, err := readChanges(f)
	if err != nil || len(changes) == 0 || changes[0].Server != s.URL() {
		f.Close()
		return nil, err
	}
	return &Journal{server: s, path: path, file: f, done: changes}, nil
}

// readChanges reads the whole lines of a journal. A last line that was cut off
// was never acted on.
func readChanges(f *os.File) ([]change, error) {
	var all []change
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return all, nil
		}
		var c change
		if err := json.Unmarshal(bytes.TrimSpace(line), &c); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
}
