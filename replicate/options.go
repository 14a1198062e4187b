package replicate

import (
	"fmt"
	"strconv"
	"strings"
)

// Setting is one factor given by name: an option of the job (--set) or a key
// of the server's configuration (--config).
type Setting struct {
	Name   string // "worker_processes", "replicator/startup_jitter"
	Levels []SettingLevel
}

// SettingLevel is one value of a setting.
type SettingLevel struct {
	Text  string // as given
	Value any    // bool, int64 or string, as the job's JSON has it
}

// option is one field of a replication document that may be varied.
type option struct {
	name  string
	parse func(string) (any, error)
}

// options lists the fields that a job may be given (fact 22; CouchDB docs,
// "Replication Settings"). Those that couchgauge has a flag for are absent.
var options = []option{
	{"worker_processes", parsePositive}, // CouchDB takes 0, and then waits for ever
	{"worker_batch_size", parsePositive},
	{"http_connections", parsePositive},
	{"connection_timeout", parsePositive}, // ms
	{"retries_per_request", parseCount},
	{"checkpoint_interval", parsePositive}, // ms
	{"use_checkpoints", parseBool},
	{"use_bulk_get", parseBool},
	{"winning_revs_only", parseBool},
	{"since_seq", parseText},
	{"socket_options", parseText},
}

// elsewhere says what to use instead of an option that cannot be varied.
var elsewhere = map[string]string{
	"continuous":           "use --continuous",
	"cancel":               "couchgauge ends its jobs itself",
	"create_target":        "targets are created for every sample",
	"create_target_params": "use --q and --copies: targets are created for every sample",
	"filter":               "use --filter",
	"query_params":         "use --filter",
	"doc_ids":              "use --filter doc_ids:…",
	"selector":             "use --filter selector:…",
}

// ParseSet reads "option=level,level…" as --set takes it.
func ParseSet(s string) (Setting, error) {
	name, list, ok := strings.Cut(s, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" || list == "" {
		return Setting{}, fmt.Errorf("setting %q: write option=value,value…", s)
	}
	if advice, ok := elsewhere[name]; ok {
		return Setting{}, fmt.Errorf("setting %q cannot be set: %s", name, advice)
	}
	for _, o := range options {
		if o.name != name {
			continue
		}
		setting := Setting{Name: name}
		for _, text := range splitList(list) {
			value, err := o.parse(text)
			if err != nil {
				return Setting{}, fmt.Errorf("setting %s=%s: %w", name, text, err)
			}
			setting.Levels = append(setting.Levels, SettingLevel{Text: text, Value: value})
		}
		return setting, nil
	}
	return Setting{}, fmt.Errorf("setting %q is no option of a replication job: use one of %s",
		name, strings.Join(optionNames(), ", "))
}

// ParseConfig reads "section/key=level,level…" as --config takes it. Any
// section and key are accepted: servers have their own.
func ParseConfig(s string) (Setting, error) {
	name, list, ok := strings.Cut(s, "=")
	section, key, slash := strings.Cut(name, "/")
	if !ok || !slash || section == "" || key == "" || strings.Contains(key, "/") {
		return Setting{}, fmt.Errorf("configuration %q: write section/key=value,value…", s)
	}
	setting := Setting{Name: name}
	for _, text := range splitList(list) {
		setting.Levels = append(setting.Levels, SettingLevel{Text: text, Value: text})
	}
	return setting, nil
}

func optionNames() []string {
	names := make([]string, 0, len(options))
	for _, o := range options {
		names = append(names, o.name)
	}
	return names
}

func parseCount(s string) (any, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("%q is no whole number of 0 or more", s)
	}
	return n, nil
}

func parsePositive(s string) (any, error) {
	n, err := parseCount(s)
	if err != nil || n == int64(0) {
		return nil, fmt.Errorf("%q is no whole number of 1 or more", s)
	}
	return n, nil
}

func parseBool(s string) (any, error) {
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return nil, fmt.Errorf("%q is neither true nor false", s)
}

func parseText(s string) (any, error) {
	if s == "" {
		return nil, fmt.Errorf("the value is empty")
	}
	return s, nil
}
