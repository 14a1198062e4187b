package replicate

import (
	"fmt"
	"slices"
	"strings"

	"couchgauge/results"
)

// effects says what becomes of a cell's options where that is not what was
// asked (facts 22 and 25): nil where all do what they say.
func (s *Session) effects(c cell) []string {
	var list []string
	add := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for _, option := range c.set {
		for i := range c.layout.edges {
			if !s.honoured(c, option.name, i) {
				add("%s: no effect on this server", option.name)
			}
		}
		if option.name == "http_connections" && option.Value == int64(1) {
			add("http_connections: 1 raised to 2")
		}
	}
	for _, setting := range c.config {
		section, key, _ := strings.Cut(setting.name, "/")
		switch {
		case c.here():
			add("%s: no effect on couchgauge's own replicator", setting.name)
		case section == "replicator" && !slices.Contains(replicatorKeys, key):
			add("%s: no CouchDB is known to have this setting", setting.name)
		}
	}
	return list
}

// replicatorKeys are the settings that CouchDB 3.5 has in [replicator]
// (default.ini, and what its source reads), with those of older versions. A
// misspelt one changes nothing, and would look as if the right one did not.
var replicatorKeys = []string{
	"auth_plugins", "cert_file", "checkpoint_interval", "cluster_quiet_period", "cluster_start_period",
	"connection_close_interval", "connection_timeout", "db", "health_threshold", "http_connections",
	"interval", "key_file", "max_churn", "max_document_id_length", "max_history", "max_jobs",
	"max_replication_retry_count", "missing_doc_retry_msec", "password", "priority_coeff",
	"request_timeout", "retries_per_request", "session_min_update_interval",
	"session_refresh_interval_sec", "socket_options", "ssl_certificate_max_depth",
	"ssl_trusted_certificates_file", "startup_jitter", "update_docs", "usage_coeff", "use_bulk_get",
	"use_checkpoints", "valid_endpoint_protocols", "valid_endpoint_protocols_log",
	"valid_proxy_protocols", "valid_socket_options", "verify_ssl_certificates",
	"verify_ssl_certificates_log", "worker_batch_size", "worker_processes",
}

// honoured says whether an option has an effect on job i of a cell.
func (s *Session) honoured(c cell, option string, i int) bool {
	if c.here() {
		return option != "socket_options" // the engine leaves sockets to the system
	}
	h := s.host(s.hostOf(c.layout, c.layout.edges[i]))
	return !h.ignored[option]
}

// tellEffects puts the effects into the cells, beside the levels asked for.
func (s *Session) tellEffects() {
	for i := range s.cells {
		c := &s.cells[i]
		if c.driver == fillDriver {
			continue
		}
		if list := s.effects(*c); len(list) > 0 {
			c.Levels = append(c.Levels, text("effect", strings.Join(list, "; ")))
		}
	}
}

// warnEffects says once for each effect what it is.
func (s *Session) warnEffects() error {
	told := map[string]bool{}
	for i := range s.cells {
		c := &s.cells[i]
		at := slices.IndexFunc(c.Levels, func(l results.Level) bool { return l.Factor == "effect" })
		if at < 0 || told[c.Levels[at].Text] {
			continue
		}
		told[c.Levels[at].Text] = true
		if err := s.event(c, true, "%s", c.Levels[at].Text); err != nil {
			return err
		}
	}
	return nil
}
