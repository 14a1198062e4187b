package couch

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// Texts in place of a setting's value.
const (
	notSet         = "default (not set)"   // the server lists only what its files set (fact 29)
	unknownAdmin   = "unknown (not admin)" // 401 or 403
	unknownNoPath  = "unknown (no _config)"
	unknownNotTold = "unknown (not told)"
)

// limitKeys are the settings that decide whether and how fast an upload
// passes, as "section/key" (CouchDB docs, "Configuration").
var limitKeys = []string{
	"couchdb/max_document_size",
	"couchdb/max_attachment_size",
	"couchdb/attachment_stream_buffer_size",
	"couchdb/delayed_commits",
	"chttpd/max_http_request_size",
	"httpd/max_http_request_size", // before 3.0
	"chttpd/server_options",       // recbuf
	"chttpd/socket_options",
	"attachments/compressible_types",
	"attachments/compression_level",
	"fabric/request_timeout",
	"fabric/attachments_timeout",
}

// replicatorKeys are the settings of [replicator] that decide its speed. Others
// are shown only where they are set.
var replicatorKeys = []string{
	"startup_jitter", "interval", "max_jobs", "max_churn",
	"worker_processes", "worker_batch_size", "http_connections", "connection_timeout",
	"retries_per_request", "request_timeout", "use_checkpoints", "checkpoint_interval", "use_bulk_get",
	"socket_options",
}

// settings is a server's configuration as far as it lets us read it.
type settings struct {
	values  map[string]map[string]string // section, key; nil = not readable
	unknown string                       // why not
}

// settings reads the whole configuration in one request. What is not asked for
// by name is thrown away: it holds password hashes and secrets.
func (s *Server) settings(ctx context.Context) (settings, error) {
	var all settings
	why, err := s.ask(ctx, "_node/_local/_config", &all.values)
	switch why {
	case "":
		return all, err
	case unknownNotTold:
		why = unknownNoPath
	}
	return settings{unknown: why}, nil
}

// value is one setting for people.
func (s settings) value(section, key string) string {
	if s.values == nil {
		return s.unknown
	}
	if v, ok := s.values[section][key]; ok {
		return v
	}
	return notSet
}

// limits are the values of limitKeys. A key of an old version is shown only
// where it is set.
func (s settings) limits() map[string]string {
	out := map[string]string{}
	for _, path := range limitKeys {
		section, key, _ := strings.Cut(path, "/")
		v := s.value(section, key)
		if section == "httpd" && (v == notSet || v == s.unknown) {
			continue
		}
		out[path] = v
	}
	return out
}

// replicator are the values of replicatorKeys, and whatever else is set, but
// for keys and passwords.
func (s settings) replicator() map[string]string {
	out := map[string]string{}
	for _, key := range replicatorKeys {
		out[key] = s.value("replicator", key)
	}
	for _, key := range slices.Sorted(maps.Keys(s.values["replicator"])) {
		if !strings.Contains(key, "password") && !strings.Contains(key, "key_file") {
			out[key] = Redact(s.values["replicator"][key])
		}
	}
	return out
}

// os is the operating system as the data folder's path shows it: no
// CouchDB-compatible server tells it outright.
func (s settings) os() string {
	if s.values == nil {
		return s.unknown
	}
	dir := s.values["couchdb"]["database_dir"]
	switch {
	case len(dir) > 1 && dir[1] == ':', strings.Contains(dir, `\`):
		return "Windows (by its database_dir)"
	case strings.HasPrefix(dir, "/Users/"), strings.HasPrefix(dir, "/Applications/"):
		return "macOS (by its database_dir)"
	case strings.HasPrefix(dir, "/"):
		return "Unix (by its database_dir)"
	}
	return unknownNotTold
}
