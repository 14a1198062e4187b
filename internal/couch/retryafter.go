package couch

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter reads how long an answer asks to wait: seconds, or a date
// (RFC 9110, 10.2.3), which is taken against the answer's own clock where it
// shows one. 0 = it does not ask.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseInt(v, 10, 32); err == nil {
		return max(0, time.Duration(s)*time.Second)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if d, err := http.ParseTime(h.Get("Date")); err == nil {
		now = d
	}
	return max(0, at.Sub(now))
}
