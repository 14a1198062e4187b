package replicator

import (
	"fmt"
	"net/http"
)

// Invalid is what is wrong with a request or a document. CouchDB tells it
// differently to those who post to _replicate and to those who write a
// document.
type Invalid struct {
	kind   kind
	reason string
}

// kind is how CouchDB's parser comes to an end.
type kind int

const (
	wrong   kind = iota // {error, Reason}
	badText             // {bad_request, <<"…">>}
	badList             // {bad_request, "…"}: the same, printed otherwise
	crash               // an Erlang error: nobody thought of it
)

func (e *Invalid) Error() string { return e.reason }

const invalidEndpoint = "endpoint has an invalid url"

// Answer is the error of a request: status, error and reason.
func (e *Invalid) Answer() (status int, name, reason string) {
	switch e.kind {
	case badText, badList:
		return http.StatusBadRequest, "bad_request", e.reason
	case crash:
		return http.StatusInternalServerError, "unknown_error", e.reason
	}
	if e.reason == invalidEndpoint || e.reason == invalidProxy {
		return http.StatusBadRequest, "invalid_replication", e.reason
	}
	return http.StatusInternalServerError, "error", e.reason
}

// Forbidden is the reason for which a document is refused.
func (e *Invalid) Forbidden() string {
	switch e.kind {
	case badText:
		return fmt.Sprintf(`{throw,{bad_request,<<"%s">>}}`, e.reason)
	case badList:
		return fmt.Sprintf(`{throw,{bad_request,"%s"}}`, e.reason)
	case crash:
		return "{error," + e.reason + "}"
	}
	return e.reason
}
