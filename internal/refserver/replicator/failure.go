package replicator

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"couchgauge/replicate/engine"
)

// Failure is why a job ended, in CouchDB's words where it has words for it.
type Failure struct {
	Name, Reason string
}

// Error is the reason as it stands in a job's history.
func (f *Failure) Error() string {
	if f.Name == "error" {
		return f.Reason
	}
	return f.Name + ": " + f.Reason
}

// maxBackoff is the reason of a job whose peer keeps answering 429.
const maxBackoff = "max_backoff"

// explain turns the error of a replication into a Failure.
func explain(err error, j *Job) *Failure {
	var refused *engine.Error
	if errors.As(err, &refused) {
		return explainAnswer(refused, err, j)
	}
	where := j.Source
	if strings.Contains(err.Error(), j.Target.URL) {
		where = j.Target
	}
	var unresolved *net.DNSError
	switch {
	case errors.As(err, &unresolved) && unresolved.IsNotFound:
		return &Failure{"nxdomain", "could not resolve " + where.String()}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &Failure{"error", fmt.Sprintf(`{http_request_failed,"GET","%s",{error,{conn_failed,{error,econnrefused}}}}`, where)}
	}
	return &Failure{"error", err.Error()}
}

// explainAnswer explains an answer that is no success. Those to the first
// requests, which open the databases, have names of their own.
func explainAnswer(e *engine.Error, err error, j *Job) *Failure {
	opening := e.URL == j.Source.URL || e.URL == j.Target.URL
	where := e.URL + "/"
	switch {
	case e.Status == http.StatusTooManyRequests:
		return &Failure{"error", maxBackoff}
	case !opening:
		return &Failure{"error", err.Error()}
	case e.Status == http.StatusUnauthorized:
		return &Failure{"unauthorized", "unauthorized to access or create database " + where}
	case e.Status == http.StatusForbidden:
		return &Failure{"forbidden", where}
	case e.Status >= 500:
		return &Failure{"error", fmt.Sprintf(`{http_error_code,%d,<<"%s %s">>}`, e.Status, e.Method, where)}
	}
	return &Failure{"db_not_found", "could not open " + where}
}
