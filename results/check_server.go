package results

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// findAccepted counts answers 202 (fact 12).
func findAccepted(s *Summary) []string {
	accepted := func(r *Row) float64 { return r.number("accepted_202") }
	rows := s.where(func(r *Row) bool { return accepted(r) > 0 })
	if len(rows) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%.0f answers were 202 instead of 201 (%s): the write quorum was not met, and the copies may differ: look at the cluster's nodes (/_up, /_membership)",
		total(rows, accepted), s.names(rows))}
}

// findRetries counts answers 429 that were waited out (case U18).
func findRetries(s *Summary) []string {
	retries := func(r *Row) float64 { return r.number("retries_429") }
	rows := s.where(func(r *Row) bool { return retries(r) > 0 })
	if len(rows) == 0 {
		return nil
	}
	waited := total(rows, func(r *Row) float64 { return r.number("waited_429_s") })
	return []string{fmt.Sprintf("%.0f answers were 429, too many requests (%s): %s of waiting is left out of the times: this service limits how fast you may upload, whatever the method",
		total(rows, retries), s.names(rows), duration(waited))}
}

// findUnverified tells of successful samples whose stored bytes nobody
// compared.
func findUnverified(s *Summary) []string {
	rows := s.where(func(r *Row) bool { return r.Samples-r.Failed > r.Verified })
	if len(rows) == 0 {
		return nil
	}
	missing := total(rows, func(r *Row) float64 { return float64(r.Samples - r.Failed - r.Verified) })
	return []string{fmt.Sprintf("what the server stored was not compared for %.0f samples (%s): a server that keeps something else looks fast",
		missing, s.names(rows))}
}

// A row's time is the server's if most of it passes between the last byte
// sent and the first received, and that is more than the way there and back
// accounts for.
const (
	serverShare      = 0.7
	serverRoundTrips = 5
)

// findServerTime tells at the largest size when it is the server that takes
// the time.
func findServerTime(s *Summary) []string {
	var rows []*Row
	for _, r := range phaseRows(s.Rows) {
		wait := r.phase("wait_s")
		if wait > serverShare*r.Median && wait > serverRoundTrips*s.roundTrip(r) && s.roundTrip(r) > 0 {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s of the median is wait, %s after the body was sent (a round trip takes %s): that is the server's own work, receiving, storing and syncing: look at its disk and CPU first",
		s.names(rows),
		between(rows, func(r *Row) float64 { return r.phase("wait_s") / r.Median }, func(v float64) string { return share(v, 1) }),
		between(rows, func(r *Row) float64 { return r.phase("wait_s") }, duration),
		duration(s.roundTrip(rows[0])))}
}

// roundTrip returns the network's round trip to a row's server in seconds:
// that of connecting, or, where it was not measured, of the shortest request,
// which the server's work is part of. 0 if it is not known.
func (s *Summary) roundTrip(r *Row) float64 {
	i := r.Cell.Server
	if i < 0 || i >= len(s.Run.Servers) {
		return 0
	}
	v := &s.Run.Servers[i]
	return time.Duration(cmp.Or(v.Connect, v.RoundTrip)).Seconds()
}

// between shows the lowest and the highest of a value: "90% to 96%", or the
// one text that both have.
func between(rows []*Row, value func(*Row) float64, text func(float64) string) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		low, high = min(low, value(r)), max(high, value(r))
	}
	if text(low) == text(high) {
		return text(low)
	}
	return text(low) + " to " + text(high)
}

// total adds up what rows have of a value.
func total(rows []*Row, value func(*Row) float64) float64 {
	sum := 0.0
	for _, r := range rows {
		if v := value(r); !math.IsNaN(v) {
			sum += v
		}
	}
	return sum
}
