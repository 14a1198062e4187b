package refserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// config holds the settings, by section and key, in a file of the data folder.
// Only what was set is in it, as in a CouchDB's ini files (fact 29).
type config struct {
	path  string
	fsync bool

	mu       sync.Mutex
	sections map[string]map[string]string
	limits   atomic.Pointer[limits]
}

// limits are the settings that requests need at every turn, parsed.
type limits struct {
	documentSize   int64 // couchdb/max_document_size, attachments not counted (fact 11)
	attachmentSize int64 // couchdb/max_attachment_size
	requestSize    int64 // chttpd/max_http_request_size
	compressible   *regexp.Regexp
}

// CouchDB 3.5's defaults.
const (
	defaultDocumentSize   = 8_000_000
	defaultAttachmentSize = 1 << 30
	defaultRequestSize    = 4 << 30
	defaultCompressible   = "text/*, application/javascript, application/json, application/xml"
)

func openConfig(dir string, noFsync bool) (*config, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := &config{path: filepath.Join(dir, "config.json"), fsync: !noFsync, sections: map[string]map[string]string{}}
	b, err := os.ReadFile(c.path)
	if err == nil {
		err = json.Unmarshal(b, &c.sections)
	} else if errors.Is(err, os.ErrNotExist) {
		c.put("couchdb", "uuid", randomHex(16))
		c.put("vendor", "name", "couchgauge reference server")
		err = c.save()
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	c.parse()
	return c, nil
}

func (c *config) put(section, key, value string) {
	if c.sections[section] == nil {
		c.sections[section] = map[string]string{}
	}
	c.sections[section][key] = value
}

func (c *config) get(section, key string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.sections[section][key]
	return v, ok
}

// section is a copy of a section, empty when nothing in it was set.
func (c *config) section(name string) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]string{}
	maps.Copy(out, c.sections[name])
	return out
}

func (c *config) all() map[string]map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]map[string]string{}
	for name, section := range c.sections {
		out[name] = maps.Clone(section)
	}
	return out
}

// set changes a setting and returns what it was, "" when it was not set.
func (c *config) set(section, key, value string, persist bool) (old string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old = c.sections[section][key]
	c.put(section, key, value)
	c.parse()
	if persist {
		err = c.save()
	}
	return old, err
}

// remove takes a setting back to its default.
func (c *config) remove(section, key string, persist bool) (old string, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok = c.sections[section][key]; !ok {
		return "", false, nil
	}
	if delete(c.sections[section], key); len(c.sections[section]) == 0 {
		delete(c.sections, section)
	}
	c.parse()
	if persist {
		err = c.save()
	}
	return old, true, err
}

// save writes the settings beside the old ones, then in their place.
func (c *config) save() error {
	b, err := json.MarshalIndent(c.sections, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(c.path), ".config-")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil && c.fsync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// parse brings limits up to date. A value that is no number counts as the
// default.
func (c *config) parse() {
	number := func(section, key string, def int64) int64 {
		v := strings.TrimSpace(c.sections[section][key])
		if v == "infinity" {
			return math.MaxInt64
		}
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n
		}
		return def
	}
	types, ok := c.sections["attachments"]["compressible_types"]
	if !ok {
		types = defaultCompressible
	}
	c.limits.Store(&limits{
		documentSize:   number("couchdb", "max_document_size", defaultDocumentSize),
		attachmentSize: number("couchdb", "max_attachment_size", defaultAttachmentSize),
		requestSize:    number("chttpd", "max_http_request_size", defaultRequestSize),
		compressible:   compressibleTypes(types),
	})
}
