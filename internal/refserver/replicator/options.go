package replicator

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"couchgauge/replicate/engine"
)

// options are a job's options as they are read, one after the other.
type options struct {
	engine.Options
	cancel bool
	id     string // of the job to cancel
	view   string // query_params.view; "" is none
	hasIDs bool
}

// parseOptions reads the options among the members of a request or document,
// in their order, as CouchDB does: the first that is wrong is the one that is
// told, unknown ones are passed over (fact 22).
func parseOptions(raw json.RawMessage, set Settings) (options, error) {
	var o options
	err := members(raw, func(name string, v json.RawMessage) error {
		if read := optionReaders[name]; read != nil {
			return read(&o, name, v)
		}
		return nil
	})
	if err != nil {
		return o, err
	}
	if err := o.checkFilter(); err != nil {
		return o, err
	}
	o.defaults(set)
	return o, nil
}

var optionReaders = map[string]func(o *options, name string, v json.RawMessage) error{
	"cancel":              flag(func(o *options, on bool) { o.cancel = on }),
	"create_target":       flag(func(o *options, on bool) { o.CreateTarget = on }),
	"winning_revs_only":   flag(func(o *options, on bool) { o.WinningRevsOnly = on }),
	"continuous":          flag(func(o *options, on bool) { o.Continuous = on }),
	"use_bulk_get":        flag(func(o *options, on bool) { o.UseBulkGet = &on }),
	"worker_processes":    number(func(o *options, n int) { o.WorkerProcesses = n }),
	"worker_batch_size":   number(func(o *options, n int) { o.WorkerBatchSize = n }),
	"http_connections":    number(func(o *options, n int) { o.HTTPConnections = n }),
	"connection_timeout":  number(func(o *options, n int) { o.ConnectionTimeout = time.Duration(n) * time.Millisecond }),
	"checkpoint_interval": number(func(o *options, n int) { o.CheckpointInterval = time.Duration(n) * time.Millisecond }),
	"retries_per_request": number(func(o *options, n int) { o.RetriesPerRequest = retries(n) }),

	"create_target_params": (*options).readTargetParams,
	"query_params":         (*options).readQueryParams,
	"doc_ids":              (*options).readDocIDs,
	"selector":             (*options).readSelector,
	"filter":               (*options).readFilter,
	"use_checkpoints":      (*options).readUseCheckpoints,
	"since_seq":            (*options).readSince,

	"_local_id":      (*options).readID,
	"replication_id": (*options).readID,
	"id":             (*options).readID,
}

func flag(set func(*options, bool)) func(*options, string, json.RawMessage) error {
	return func(o *options, name string, v json.RawMessage) error {
		switch string(v) {
		case "true", "false":
			set(o, v[0] == 't')
			return nil
		}
		return &Invalid{badText, "parameter `" + name + "` must be a boolean"}
	}
}

// number takes a whole number, or one written as a string.
func number(set func(*options, int)) func(*options, string, json.RawMessage) error {
	return func(o *options, _ string, v json.RawMessage) error {
		s, ok := text(v)
		if !ok {
			s = string(v)
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			return &Invalid{crash, "badarg"}
		}
		set(o, n)
		return nil
	}
}

// retries is CouchDB's number in the engine's terms, where 0 is the default.
func retries(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

func (o *options) readTargetParams(name string, v json.RawMessage) error {
	if !isObject(v) {
		return &Invalid{badText, "parameter `" + name + "` must be a JSON object"}
	}
	o.CreateTargetParams = url.Values{}
	return members(v, func(name string, v json.RawMessage) error {
		o.CreateTargetParams.Set(name, plain(v))
		return nil
	})
}

func (o *options) readQueryParams(name string, v json.RawMessage) error {
	if !isObject(v) {
		return &Invalid{badText, "parameter `" + name + "` must be an object"}
	}
	o.QueryParams = map[string]string{}
	return members(v, func(name string, v json.RawMessage) error {
		o.QueryParams[name] = plain(v)
		if name == "view" {
			o.view = plain(v)
		}
		return nil
	})
}

// plain is a string's text, or any other value's JSON.
func plain(v json.RawMessage) string {
	if s, ok := text(v); ok {
		return s
	}
	return string(v)
}

// readDocIDs takes the ids as parts of URLs, as CouchDB does: percents and
// pluses are decoded.
func (o *options) readDocIDs(name string, v json.RawMessage) error {
	if string(v) == "null" {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		return &Invalid{badText, "parameter `" + name + "` must be an array"}
	}
	o.hasIDs, o.DocIDs = true, []string{}
	for _, raw := range list {
		id, ok := text(raw)
		if !ok {
			return &Invalid{crash, "function_clause"}
		}
		if decoded, err := url.QueryUnescape(id); err == nil {
			id = decoded
		}
		o.DocIDs = append(o.DocIDs, id)
	}
	slices.Sort(o.DocIDs)
	o.DocIDs = slices.Compact(o.DocIDs)
	return nil
}

func (o *options) readSelector(name string, v json.RawMessage) error {
	if !isObject(v) {
		return &Invalid{badText, "parameter `" + name + "` must be a JSON object"}
	}
	o.Selector = v
	return nil
}

func (o *options) readFilter(_ string, v json.RawMessage) error {
	s, ok := text(v)
	if !ok {
		return &Invalid{crash, "function_clause"}
	}
	o.Filter = s
	return nil
}

func (o *options) readUseCheckpoints(_ string, v json.RawMessage) error {
	on := string(v) != "false"
	o.UseCheckpoints = &on
	return nil
}

func (o *options) readSince(_ string, v json.RawMessage) error {
	if string(v) != "null" {
		o.SinceSeq = plain(v)
	}
	return nil
}

func (o *options) readID(_ string, v json.RawMessage) error {
	s, ok := text(v)
	if !ok {
		return &Invalid{crash, "function_clause"}
	}
	// A plus that was decoded by mistake is put back.
	o.id = strings.ReplaceAll(s, " ", "+")
	return nil
}

// checkFilter holds the ways to choose documents to CouchDB's rules.
func (o *options) checkFilter() error {
	chosen := 0
	for _, set := range []bool{o.hasIDs, o.Filter != "", o.Selector != nil} {
		if set {
			chosen++
		}
	}
	if chosen > 1 {
		return &Invalid{badList, "`doc_ids`,`filter`,`selector` are mutually exclusive"}
	}
	return nil
}

// checkFunction looks at the name of a filter.
func (o *options) checkFunction() error {
	switch {
	case o.Filter == "_view" && o.view == "":
		return &Invalid{crash, "badarg"}
	case o.Filter == "_view" && strings.Count(o.view, "/") != 1:
		return &Invalid{badText, "Invalid `view` parameter."}
	case o.userFilter() && !strings.Contains(o.Filter, "/"):
		return &Invalid{wrong, "Invalid filter. Must match `ddocname/filtername`."}
	}
	return nil
}

// userFilter says whether the filter is a function in a design document.
func (o *options) userFilter() bool { return o.Filter != "" && o.Filter[0] != '_' }

// defaults takes what the job does not say from the server's settings, where
// these say it; the engine's own are CouchDB's.
func (o *options) defaults(set Settings) {
	for key, n := range map[string]*int{
		"worker_processes":  &o.WorkerProcesses,
		"worker_batch_size": &o.WorkerBatchSize,
		"http_connections":  &o.HTTPConnections,
	} {
		if *n == 0 {
			*n = set.number(key, 0)
		}
	}
	if o.RetriesPerRequest == 0 {
		if n := set.number("retries_per_request", -1); n >= 0 {
			o.RetriesPerRequest = retries(n)
		}
	}
	if o.ConnectionTimeout == 0 {
		o.ConnectionTimeout = set.milliseconds("connection_timeout", 0)
	}
	if o.CheckpointInterval == 0 {
		o.CheckpointInterval = set.milliseconds("checkpoint_interval", defaultCheckpointInterval)
	}
	for key, on := range map[string]**bool{"use_checkpoints": &o.UseCheckpoints, "use_bulk_get": &o.UseBulkGet} {
		if *on == nil {
			v := set.flag(key)
			*on = &v
		}
	}
}

const defaultCheckpointInterval = 30_000 // ms
