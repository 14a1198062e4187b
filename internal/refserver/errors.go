package refserver

import "net/http"

// apiError is an answer that is not a success, in CouchDB's words: a status and
// the two members of its JSON object.
type apiError struct {
	status        int
	error, reason string
}

func (e *apiError) Error() string { return e.error + ": " + e.reason }

// object is the error as it is answered.
func (e *apiError) object() object { return object{{"error", e.error}, {"reason", e.reason}} }

func badRequest(reason string) *apiError {
	return &apiError{http.StatusBadRequest, "bad_request", reason}
}

func notFound(reason string) *apiError {
	return &apiError{http.StatusNotFound, "not_found", reason}
}

func unauthorized(reason string) *apiError {
	return &apiError{http.StatusUnauthorized, "unauthorized", reason}
}

func forbidden(reason string) *apiError {
	return &apiError{http.StatusForbidden, "forbidden", reason}
}

func badContentType(reason string) *apiError {
	return &apiError{http.StatusUnsupportedMediaType, "bad_content_type", reason}
}

func illegalDocID(reason string) *apiError {
	return &apiError{http.StatusBadRequest, "illegal_docid", reason}
}

func docValidation(reason string) *apiError {
	return &apiError{http.StatusBadRequest, "doc_validation", reason}
}

// The three 413s (fact 11) and two of the three 412s.

func attachmentTooLarge(name string) *apiError {
	return &apiError{http.StatusRequestEntityTooLarge, "attachment_too_large", name}
}

func documentTooLarge(id string) *apiError {
	return &apiError{http.StatusRequestEntityTooLarge, "document_too_large", id}
}

var errRequestTooLarge = &apiError{http.StatusRequestEntityTooLarge, "too_large", "the request entity is too large"}

func missingStub(reason string) *apiError {
	return &apiError{http.StatusPreconditionFailed, "missing_stub", reason}
}

var errFileExists = &apiError{http.StatusPreconditionFailed, "file_exists",
	"The database could not be created, the file already exists."}

var (
	errConflict = &apiError{http.StatusConflict, "conflict", "Document update conflict."}
	errMissing  = notFound("missing")
	errDeleted  = notFound("deleted")
	errBadJSON  = badRequest("invalid UTF-8 JSON")
	errRange    = &apiError{http.StatusRequestedRangeNotSatisfiable, "requested_range_not_satisfiable",
		"Requested range not satisfiable"}
	errMD5 = &apiError{http.StatusInternalServerError, "unknown_error", "md5_mismatch"}
)
