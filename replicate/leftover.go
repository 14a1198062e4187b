package replicate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"couchgauge/internal/couch"
)

// LeftoverJob is a job that a run which was killed left on a server: a
// document of a replicator database, or a continuous job of _replicate.
type LeftoverJob struct {
	Run string // its id

	database, doc string // of a document
	id            string // of a job without one
}

// String names the job.
func (j LeftoverJob) String() string {
	if j.doc != "" {
		return "document " + j.doc + " of " + j.database
	}
	return "replication " + j.id
}

// jobPrefix begins the ids of all job documents; a run's id follows.
const jobPrefix = "couchgauge-"

// LeftoverJobs lists the jobs that runs left on a server, those of runs that
// are still going on, too. replicatorDB is the database of their documents. A
// server that has neither it nor a scheduler has none.
func LeftoverJobs(ctx context.Context, s *couch.Server, replicatorDB string) ([]LeftoverJob, error) {
	var said struct {
		Rows []struct{ ID string }
	}
	query := url.Values{"startkey": {`"` + jobPrefix + `"`}, "endkey": {`"` + jobPrefix + "\ufff0" + `"`}}
	err := s.Control().JSON(ctx, http.MethodGet, couch.EscapeSegment(replicatorDB)+"/_all_docs?"+query.Encode(), nil, &said)
	var refused *couch.Error
	if err != nil && !errors.As(err, &refused) {
		return nil, fmt.Errorf("list jobs of %s: %w", replicatorDB, err)
	}
	var list []LeftoverJob
	for _, row := range said.Rows {
		if run := runOfJob(row.ID); run != "" {
			list = append(list, LeftoverJob{Run: run, database: replicatorDB, doc: row.ID})
		}
	}
	lookAtJob(ctx, s, func(j schedulerJob) bool {
		at := strings.LastIndexByte(strings.TrimSuffix(j.Target, "/"), '/')
		name, err := url.PathUnescape(strings.TrimSuffix(j.Target[at+1:], "/"))
		if run := couch.RunOf(name); err == nil && run != "" && j.Database == nil {
			list = append(list, LeftoverJob{Run: run, id: j.ID})
		}
		return false
	})
	return list, nil
}

// runOfJob is the run in the id of one of our job documents, "" for any other.
func runOfJob(doc string) string {
	rest, ok := strings.CutPrefix(doc, jobPrefix)
	run, number, _ := strings.Cut(rest, "-")
	if !ok || !strings.HasPrefix(number, "job") {
		return ""
	}
	return couch.RunOf(jobPrefix + run + "-job") // as in a database's name
}

// Stop ends the job and removes its document.
func (j LeftoverJob) Stop(ctx context.Context, s *couch.Server) error {
	if j.doc != "" {
		return deleteDocument(ctx, s, j.database, j.doc)
	}
	cancel := map[string]any{"cancel": true, "replication_id": j.id}
	if err := s.Control().JSON(ctx, http.MethodPost, "_replicate", cancel, nil); err != nil {
		return fmt.Errorf("cancel replication %s: %w", j.id, err)
	}
	return nil
}
