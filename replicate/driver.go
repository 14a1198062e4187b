package replicate

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"couchgauge/internal/couch"
)

// driver runs replication jobs.
type driver struct {
	name string
	// prepare does what must be done before the clock starts.
	prepare func(ctx context.Context, j job) (running, error)
	// here says that the job runs in this process and on no server.
	here bool
}

// drivers lists what --driver takes.
var drivers = []driver{
	{name: "replicate", prepare: prepareReplicate},
	{name: "replicator", prepare: prepareReplicator},
	{name: "couchgauge", prepare: prepareEngine, here: true},
}

// Drivers lists the names that a Plan's Drivers may hold.
func Drivers() []string {
	var names []string
	for _, d := range drivers {
		names = append(names, d.name)
	}
	return names
}

func driverOf(name string) (driver, error) {
	for _, d := range drivers {
		if d.name == name {
			return d, nil
		}
	}
	return driver{}, fmt.Errorf("driver %q is unknown: use one of %s", name, strings.Join(Drivers(), ", "))
}

// job is one replication.
type job struct {
	id             string        // of the job's document, where it has one
	at             *couch.Server // who runs it
	login          login
	source, target endpoint
	fields         map[string]any // options and filter, as a replication document has them
	continuous     bool
	database       string        // for the driver replicator: where the document goes
	look           time.Duration // between two looks at its state
}

// document is the job's replication document. It holds passwords.
func (j job) document() map[string]any {
	d := maps.Clone(j.fields)
	if d == nil {
		d = map[string]any{}
	}
	d["source"] = j.source.json(j.login)
	d["target"] = j.target.json(j.login)
	if j.continuous {
		d["continuous"] = true
	}
	return d
}

// running is a job that is prepared or under way.
type running interface {
	// submit hands the job over.
	submit(ctx context.Context) error
	// wait returns when the job has ended, or has come to a state in which
	// waiting is vain; a continuous job returns only then.
	wait(ctx context.Context) outcome
	// watch tells how the job is doing, as far as its server says.
	watch(ctx context.Context) watching
	// stop ends a job that goes on, and removes what prepare and submit left.
	stop(ctx context.Context) error
}

// await waits for the outcome of a job on a server, and looks at the job
// meanwhile: waiting may be vain.
func await(ctx context.Context, r running, ended <-chan outcome, look time.Duration) outcome {
	var seen watching
	for {
		select {
		case o := <-ended:
			return o.after(seen)
		case <-ctx.Done():
			return outcome{State: stateUnknown, err: context.Cause(ctx)}
		case <-time.After(look):
			w := r.watch(ctx)
			if w.hopeless() {
				return w.outcome()
			}
			if w.state != "" { // else it has ended meanwhile
				seen = w
			}
		}
	}
}

// watching is one look at a job under way.
type watching struct {
	state    string // "running", "pending", "crashing" …; "" = the server does not say
	restarts int
	reason   string // of the last crash
	counters counters
	stages   map[string]float64 // of our own engine
	at       string             // how far the source was read, opaque; changes are headway
}

// after is an outcome with what was seen of the job's crashes before: a server
// forgets them when the job is done.
func (o outcome) after(w watching) outcome {
	if o.Restarts < w.restarts {
		o.Restarts = w.restarts
	}
	if o.Reason == "" && o.Restarts > 0 {
		o.Reason = w.reason
	}
	return o
}

// outcome is how a job ended.
type outcome struct {
	State    string             `json:"state"` // "completed", "failed", "crashing", "unknown"
	Reason   string             `json:"reason,omitempty"`
	Counters counters           `json:"counters"`
	Restarts int                `json:"restarts,omitempty"` // how often the server started it again
	Stages   map[string]float64 `json:"stages,omitempty"`   // of our own engine, by column name
	Refused  []string           `json:"refused,omitempty"`  // the first documents that our own engine could not copy

	err         error // why we know nothing more
	noReplicate bool  // the server does not have what the driver needs
}

// The states of a job that we tell apart.
const (
	stateCompleted = "completed"
	stateFailed    = "failed"
	stateCrashing  = "crashing"
	stateUnknown   = "unknown"
)

// here says that a cell's jobs run in this process and on no server.
func (c cell) here() bool {
	d, err := driverOf(c.driver)
	return err == nil && d.here
}
