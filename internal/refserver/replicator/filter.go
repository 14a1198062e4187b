package replicator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// FilterError says that a job's filter function could not be fetched, so that
// the job has no ID and cannot run yet.
type FilterError struct{ reason string }

func (e *FilterError) Error() string { return e.reason }

// filterText fetches the text of a job's filter function from its source.
func (s *Scheduler) filterText(ctx context.Context, j *Job) (string, error) {
	if !j.userFilter {
		return "", nil
	}
	ddoc, name, _ := strings.Cut(j.Options.Filter, "/")
	if why := s.fetch(ctx, j.Source, "", nil); why != "" {
		return "", &FilterError{fmt.Sprintf("Could not open source database `%s`: {%s,<<\"%s\">>}", j.Source, why, j.Source)}
	}
	var doc struct{ Filters map[string]string }
	if why := s.fetch(ctx, j.Source, "_design/"+url.PathEscape(ddoc), &doc); why != "" {
		return "", &FilterError{fmt.Sprintf("Couldn't open document `_design/%s` from source database `%s`: {error,<<\"%s\">>}", ddoc, j.Source, why)}
	}
	code, ok := doc.Filters[name]
	if !ok {
		return "", &FilterError{fmt.Sprintf("Couldn't parse filter code from document %s on `%s`  Error: {not_found,missing}", ddoc, j.Source)}
	}
	return code, nil
}

// fetch reads JSON from below an endpoint and says why it cannot, "" when it
// can.
func (s *Scheduler) fetch(ctx context.Context, e Endpoint, path string, v any) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL+"/"+path, nil)
	if err != nil {
		return err.Error()
	}
	req.Header = e.Header.Clone()
	req.Header.Set("Accept", "application/json")
	res, err := s.clients.of(e).Do(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	switch {
	case err != nil:
		return err.Error()
	case res.StatusCode == http.StatusUnauthorized:
		return "unauthorized"
	case res.StatusCode == http.StatusForbidden:
		return "forbidden"
	case res.StatusCode != http.StatusOK && v == nil:
		return "db_not_found"
	case res.StatusCode != http.StatusOK:
		return "not_found"
	case v == nil:
		return ""
	}
	if err := json.Unmarshal(b, v); err != nil {
		return err.Error()
	}
	return ""
}
