package refserver

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"couchgauge/internal/refserver/replicator"
)

// defaultJobs is how many jobs _scheduler/jobs lists when no limit is given.
const defaultJobs = 100

// scheduler serves /_scheduler/… (CouchDB documentation, "/_scheduler/jobs").
func (x *exchange) scheduler() error {
	if err := x.needAdmin(); err != nil {
		return err
	}
	if x.method != http.MethodGet {
		return x.notAllowed("GET,HEAD")
	}
	path := x.parts[1:]
	switch {
	case len(path) > 0 && path[0] == "docs":
		return x.schedulerDocs(path[1:])
	case len(path) == 1 && path[0] == "jobs":
		return x.schedulerJobs()
	case len(path) == 2 && path[0] == "jobs":
		// A plus of an ID has been decoded to a space.
		job, ok := x.s.replicator.Job(strings.ReplaceAll(path[1], " ", "+"))
		if !ok {
			return errMissing
		}
		return x.json(http.StatusOK, job)
	}
	return x.json(http.StatusNotFound, object{{"error", "not found"}})
}

func (x *exchange) schedulerJobs() error {
	limit, err := x.count("limit", defaultJobs)
	if err != nil {
		return err
	}
	skip, err := x.count("skip", 0)
	if err != nil {
		return err
	}
	jobs := x.s.replicator.Jobs()
	total := len(jobs)
	skip = min(skip, total)
	jobs = jobs[skip:][:min(limit, total-skip)]
	return x.json(http.StatusOK, object{{"total_rows", total}, {"offset", skip}, {"jobs", jobs}})
}

// count is a parameter that is a number of things.
func (x *exchange) count(name string, def int) (int, error) {
	if !x.has(name) {
		return def, nil
	}
	n, err := strconv.Atoi(x.query(name))
	if err != nil {
		return 0, queryError(name + " must be an integer")
	}
	if n < 0 {
		return 0, queryError(name + " not in range of [0,infinity]")
	}
	return n, nil
}

// schedulerDocs finds the database and the document in the path. The slashes of
// the database's name may be escaped or not.
func (x *exchange) schedulerDocs(path []string) error {
	switch {
	case len(path) == 0:
		return x.listReplications(replicatorDB)
	case len(path) == 1 && isReplicatorDB(path[0]):
		return x.listReplications(path[0])
	case len(path) == 2 && isReplicatorDB(path[0]):
		return x.showReplication(path[0], path[1])
	}
	at := slices.Index(path, replicatorDB)
	if len(path) < 2 || at < 0 || at < len(path)-2 {
		return badRequest("Invalid path")
	}
	database := strings.Join(path[:at+1], "/")
	if at == len(path)-1 {
		return x.listReplications(database)
	}
	return x.showReplication(database, path[at+1])
}

func (x *exchange) showReplication(database, id string) error {
	db, err := x.s.store.database(database)
	if err != nil {
		return err
	}
	var d *document
	if err := db.view(func(t *readTx) (err error) {
		d, err = t.winner(id, docOptions{})
		return err
	}); err != nil {
		return errMissing
	}
	info, _ := x.s.documents.Info(database, id, d.object())
	return x.json(http.StatusOK, info)
}

// listReplications lists the documents of a replicator database that have a
// state. As in CouchDB the limit holds before the choice by states.
func (x *exchange) listReplications(database string) error {
	states, err := x.states()
	if err != nil {
		return err
	}
	p, err := x.rowParams()
	if err != nil {
		return err
	}
	db, err := x.s.store.database(database)
	if err != nil {
		return err
	}
	if x.has("key") && p.start != nil {
		p.end = p.start
	}
	p.includeDocs = true
	var head object
	var from []byte
	if err := db.view(func(t *readTx) error {
		total := t.counters().docs
		offset, first := seekRow(t.tx.Bucket(bucketDocs).Cursor(), p)
		from = append([]byte(nil), first...)
		head = object{{"total_rows", total}, {"offset", min(offset+int64(p.skip), total)}}
		return nil
	}); err != nil {
		return err
	}
	text, err := marshal(head)
	if err != nil {
		return err
	}
	w := x.stream(http.StatusOK)
	w.Write(text[:len(text)-1])
	w.WriteString(",\"docs\":[\r\n")
	skip := p.skip
	left := p.limit
	if left < math.MaxInt-skip {
		left += skip
	}
	p.skip = 0
	for sent := 0; from != nil && left > 0; {
		var rows []docRow
		if rows, from, err = db.readRows(p, from, left); err != nil {
			return err
		}
		left -= len(rows)
		for _, row := range rows {
			info, known := x.s.documents.Info(database, row.id, row.doc.object())
			if strings.HasPrefix(row.id, designPrefix) || !known || len(states) > 0 && !slices.Contains(states, info.State) {
				continue
			}
			if skip > 0 {
				skip--
				continue
			}
			text, err := marshal(info)
			if err != nil {
				return err
			}
			if sent++; sent > 1 {
				w.WriteString(",\r\n")
			}
			w.Write(text)
		}
	}
	w.WriteString("\r\n]}\n")
	return w.Flush()
}

// states is the choice of states, empty for all.
func (x *exchange) states() ([]replicator.State, error) {
	var out []replicator.State
	for name := range strings.SplitSeq(strings.ToLower(x.query("states")), ",") {
		state := replicator.State(name)
		switch {
		case name == "":
		case slices.Contains(replicator.States, state):
			out = append(out, state)
		default:
			var all []string
			for _, s := range replicator.States {
				all = append(all, string(s))
			}
			return nil, queryError("Unknown states [" + name + "]. Choose from: [" + strings.Join(all, ",") + "]")
		}
	}
	return out, nil
}
