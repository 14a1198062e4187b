package replicate

import (
	"context"
	"errors"
	"maps"
	"time"

	"couchgauge/results"
)

// sample is one sample of a cell, or of a group of cells, on databases of its
// own.
type sample struct {
	*Session
	cell
	databases []endpoint // by their place in the layout
	fresh     []endpoint // those of them that are this sample's own
	live      int64      // documents that were written while continuous jobs ran
	restarted string     // what is to be told of jobs that their server started again
	counted   counters   // what the job of the update before said, if its server goes on counting
}

// jobResult is what a sample's detail says about one job.
type jobResult struct {
	Source   string          `json:"source"`
	Target   string          `json:"target"`
	At       string          `json:"at"`
	Startup  results.Seconds `json:"startup_s,omitempty"` // from its submit to the target's first change
	Duration results.Seconds `json:"duration_s"`          // from its submit until it was done
	outcome

	submitted, ended time.Time
}

// detail is a sample's Detail.
type detail struct {
	Jobs     []jobResult `json:"jobs"`
	Verdicts []verdict   `json:"verified,omitempty"`
}

// open makes the databases.
func (x *sample) open(ctx context.Context) error {
	renewed := x.plan.renewed(x.cell)
	number := 0
	for i, d := range x.layout.databases {
		if d.filled && !renewed {
			x.databases = append(x.databases, x.sources[x.shape][number])
			number++
			continue
		}
		kind := "t"
		if d.filled {
			kind = "s"
		}
		e, err := x.create(ctx, x.peerOf(d), kind)
		if err != nil {
			return err
		}
		x.databases = append(x.databases, e)
		x.fresh = append(x.fresh, e)
		if d.filled {
			if err := x.fillSource(ctx, e, x.shape, x.sourceNumber(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// close deletes what open made.
func (x *sample) close(ctx context.Context) error {
	var errs []error
	for _, e := range x.fresh {
		errs = append(errs, x.drop(ctx, e))
	}
	return errors.Join(errs...)
}

// sourceNumber is the number of the source that a filled database is.
func (x *sample) sourceNumber(database int) int {
	n := 0
	for _, d := range x.layout.databases[:database] {
		if d.filled {
			n++
		}
	}
	return n
}

// targets are the databases that jobs write to.
func (x *sample) targets() []endpoint {
	var list []endpoint
	for _, i := range x.layout.targets() {
		list = append(list, x.databases[i])
	}
	return list
}

// jobs prepares the jobs. They are to be stopped, also with an error.
func (x *sample) jobs(ctx context.Context) ([]job, []running, error) {
	d, err := driverOf(x.driver)
	if err != nil {
		return nil, nil, err
	}
	var jobs []job
	var prepared []running
	for i, e := range x.layout.edges {
		host := x.hostOf(x.layout, e)
		j := job{
			id:         jobPrefix + x.env.RunID + "-" + x.newName("job"),
			at:         host.Server,
			source:     x.databases[e.from],
			target:     x.databases[e.to],
			fields:     x.fields(i),
			continuous: x.plan.continuous(),
			database:   x.plan.ReplicatorDB,
			look:       lookEvery * time.Duration(len(x.layout.edges)),
		}
		if !x.here() {
			j.login = x.host(host).login
		}
		if x.driver == "replicator" && x.plan.JobDatabases {
			name, err := x.databasesOf(host.Server).Create(ctx, x.newName("j")+"/_replicator", x.plan.Q, x.plan.Replicas)
			if err != nil {
				return jobs, prepared, err
			}
			j.database = name
			x.fresh = append(x.fresh, endpoint{host, name})
		}
		r, err := d.prepare(ctx, j)
		if err != nil {
			return jobs, prepared, err
		}
		jobs, prepared = append(jobs, j), append(prepared, r)
	}
	return jobs, prepared, nil
}

// fields are the options and the filter of job i.
func (x *sample) fields(i int) map[string]any {
	fields := map[string]any{}
	maps.Copy(fields, x.filter.filtering(x.sourceNumber(x.layout.edges[i].from), x.shape.docs).job)
	for _, option := range x.set {
		fields[option.name] = option.Value
	}
	return fields
}

// stopTime bounds the end of a sample: jobs are stopped and databases deleted
// also when the run was interrupted.
const stopTime = 30 * time.Second

// take takes a one-shot sample.
func (x *sample) take(ctx context.Context) results.Sample {
	s := results.Sample{Cell: x.ID, At: time.Now()}
	if x.plan.continuous() {
		x.takeContinuous(ctx, &s)
	} else {
		x.takeOneShot(ctx, &s)
	}
	return s
}

// stop stops the jobs, whatever became of ctx.
func (x *sample) stop(ctx context.Context, prepared []running, s *results.Sample) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	for _, r := range prepared {
		if err := r.stop(ctx); err != nil {
			fail(s, err.Error())
		}
	}
}

// fail gives a sample its error, unless it has one.
func fail(s *results.Sample, why string) {
	if s.Error == "" {
		s.Error = why
	}
	s.Verified = false
}
