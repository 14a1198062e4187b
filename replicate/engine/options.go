package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// Options are a job's settings, with the names and meanings of CouchDB's
// replication document (CouchDB documentation, "Replicator Database"). Zero
// values are the defaults.
type Options struct {
	// Continuous follows the source until the context ends.
	Continuous bool
	// CreateTarget creates the target; one that exists is no error.
	CreateTarget       bool
	CreateTargetParams url.Values

	// At most one of Filter, DocIDs and Selector.
	Filter      string            // "ddoc/function", or a built-in "_name"
	QueryParams map[string]string // for Filter
	DocIDs      []string
	Selector    json.RawMessage

	// SinceSeq is where to start when there is no checkpoint.
	SinceSeq string
	// WinningRevsOnly leaves conflicting leaves behind.
	WinningRevsOnly bool

	UseCheckpoints     *bool         // nil: true
	CheckpointInterval time.Duration // 0: 30 s
	UseBulkGet         *bool         // nil: true, where the source has it

	WorkerProcesses   int           // workers of the diff and of the read stage; 0: 4, as in CouchDB
	WorkerBatchSize   int           // changes in a batch; 0: 500
	HTTPConnections   int           // requests to a peer at a time, and workers of the write stage; at least 2; 0: 32
	ConnectionTimeout time.Duration // a request on which no byte moves ends after it; 0: 30 s
	RetriesPerRequest int           // after the first try; 0: 5, negative: none
}

// Measured on a CouchDB 3.5 on loopback, with source and target: more readers
// or fewer writers make it busier for the same documents. Far from the source,
// more workers hide the round trips.
const (
	defaultCheckpointInterval = 30 * time.Second
	defaultWorkers            = 4
	defaultBatchSize          = 500
	defaultConnections        = 32
	defaultTimeout            = 30 * time.Second
	defaultRetries            = 5
)

func (o Options) withDefaults() Options {
	yes := true
	if o.UseCheckpoints == nil {
		o.UseCheckpoints = &yes
	}
	if o.UseBulkGet == nil {
		o.UseBulkGet = &yes
	}
	o.CheckpointInterval = or(o.CheckpointInterval, defaultCheckpointInterval)
	o.WorkerProcesses = or(o.WorkerProcesses, defaultWorkers)
	o.WorkerBatchSize = or(o.WorkerBatchSize, defaultBatchSize)
	o.HTTPConnections = max(2, or(o.HTTPConnections, defaultConnections))
	o.ConnectionTimeout = or(o.ConnectionTimeout, defaultTimeout)
	switch {
	case o.RetriesPerRequest == 0:
		o.RetriesPerRequest = defaultRetries
	case o.RetriesPerRequest < 0:
		o.RetriesPerRequest = 0
	}
	return o
}

func or[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

var errExclusive = errors.New("`doc_ids`, `filter`, `selector` are mutually exclusive")

func (o Options) check() error {
	n := 0
	for _, set := range []bool{o.Filter != "", o.DocIDs != nil, len(o.Selector) > 0} {
		if set {
			n++
		}
	}
	if n > 1 {
		return errExclusive
	}
	return nil
}

// ParseOptions reads the options among the fields of a _replicate request or
// a _replicator document. Unknown fields are ignored, as CouchDB ignores them
// (fact 22); times there are milliseconds.
func ParseOptions(job json.RawMessage) (Options, error) {
	var j struct {
		Continuous         bool                       `json:"continuous"`
		CreateTarget       bool                       `json:"create_target"`
		CreateTargetParams map[string]json.RawMessage `json:"create_target_params"`
		Filter             string                     `json:"filter"`
		QueryParams        map[string]json.RawMessage `json:"query_params"`
		DocIDs             []string                   `json:"doc_ids"`
		Selector           json.RawMessage            `json:"selector"`
		SinceSeq           json.RawMessage            `json:"since_seq"`
		WinningRevsOnly    bool                       `json:"winning_revs_only"`
		UseCheckpoints     *bool                      `json:"use_checkpoints"`
		CheckpointInterval number                     `json:"checkpoint_interval"`
		UseBulkGet         *bool                      `json:"use_bulk_get"`
		WorkerProcesses    number                     `json:"worker_processes"`
		WorkerBatchSize    number                     `json:"worker_batch_size"`
		HTTPConnections    number                     `json:"http_connections"`
		ConnectionTimeout  number                     `json:"connection_timeout"`
		Retries            *number                    `json:"retries_per_request"`
	}
	if err := json.Unmarshal(job, &j); err != nil {
		var t *json.UnmarshalTypeError
		if errors.As(err, &t) && t.Field != "" {
			return Options{}, fmt.Errorf("parameter `%s` must not be a %s", t.Field, t.Value)
		}
		return Options{}, fmt.Errorf("read the replication options: %w", err)
	}
	o := Options{
		Continuous:         j.Continuous,
		CreateTarget:       j.CreateTarget,
		Filter:             j.Filter,
		DocIDs:             j.DocIDs,
		WinningRevsOnly:    j.WinningRevsOnly,
		UseCheckpoints:     j.UseCheckpoints,
		CheckpointInterval: time.Duration(j.CheckpointInterval) * time.Millisecond,
		UseBulkGet:         j.UseBulkGet,
		WorkerProcesses:    int(j.WorkerProcesses),
		WorkerBatchSize:    int(j.WorkerBatchSize),
		HTTPConnections:    int(j.HTTPConnections),
		ConnectionTimeout:  time.Duration(j.ConnectionTimeout) * time.Millisecond,
	}
	if len(j.Selector) > 0 && string(j.Selector) != "null" {
		if j.Selector[0] != '{' {
			return Options{}, errors.New("parameter `selector` must be a JSON object")
		}
		o.Selector = j.Selector
	}
	if len(j.SinceSeq) > 0 && string(j.SinceSeq) != "null" {
		o.SinceSeq = text(j.SinceSeq)
	}
	if r := j.Retries; r != nil {
		if o.RetriesPerRequest = int(*r); *r == 0 {
			o.RetriesPerRequest = -1
		}
	}
	for k, v := range j.QueryParams {
		if o.QueryParams == nil {
			o.QueryParams = map[string]string{}
		}
		o.QueryParams[k] = text(v)
	}
	for k, v := range j.CreateTargetParams {
		if o.CreateTargetParams == nil {
			o.CreateTargetParams = url.Values{}
		}
		o.CreateTargetParams.Set(k, text(v))
	}
	return o, o.check()
}

// number is an integer that may be written as a string, which CouchDB takes
// too.
type number int

func (n *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.Atoi(text(b))
	if err != nil {
		return fmt.Errorf("%s is not a whole number", b)
	}
	*n = number(v)
	return nil
}
