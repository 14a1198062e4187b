package results

import (
	"fmt"
	"time"
)

// maxFailures is how many rows with failures are told one by one.
const maxFailures = 10

// findFailed tells of samples that failed, row by row with the first error.
func findFailed(s *Summary) []string {
	rows := s.where(func(r *Row) bool { return r.Failed > 0 })
	var found []string
	for _, r := range rows[:min(len(rows), maxFailures)] {
		found = append(found, fmt.Sprintf("%s: %d of %s failed: %s",
			r.name(varied(measured(s.Rows))), r.Failed, plural(r.Samples, "sample"), r.FirstError))
	}
	if n := len(rows) - maxFailures; n > 0 {
		found = append(found, fmt.Sprintf("samples failed in %d more cells: see first_error in --format csv", n))
	}
	return found
}

// CouchDB gives an update 60 s ([fabric] request_timeout); a failure counts
// as that limit if it came a little after it.
const (
	giveUpAfter = 60 * time.Second
	giveUpSlack = 6 * time.Second
)

// findGaveUp recognises samples that failed when the server's 60 s were over
// (case U3).
func findGaveUp(s *Summary) []string {
	rows := s.where(func(r *Row) bool {
		f := r.data.failure
		return f != nil && time.Duration(f.Duration) >= giveUpAfter-time.Second && time.Duration(f.Duration) <= giveUpAfter+giveUpSlack
	})
	if len(rows) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: failed after %s: CouchDB gives up an update after 60 s ([fabric] request_timeout): raise it, send less at a time or use a faster link",
		s.names(rows), duration(time.Duration(rows[0].data.failure.Duration).Seconds()))}
}
