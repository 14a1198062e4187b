package results

import "fmt"

// Clients wait a second for 100 Continue before they send all the same: curl
// does, and so do we (fact 2).
const (
	continueLow  = 0.9 // seconds
	continueHigh = 1.3
)

// findExpect recognises a server that does not answer Expect: 100-continue.
func findExpect(s *Summary) []string {
	rows := s.where(func(r *Row) bool {
		wait := r.phase("wait_continue_s")
		return wait >= continueLow && wait <= continueHigh
	})
	if len(rows) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s of the median is the wait for 100 Continue (wait_continue_s), which the server never sent, so the client waited its second in vain: switch Expect off (curl: -H 'Expect:')",
		s.names(rows), between(rows, func(r *Row) float64 { return r.phase("wait_continue_s") }, duration))}
}

// busyLoad is the load for each CPU from which on a machine has no time for a
// measurement.
const busyLoad = 1.5

// findBusy tells when other work kept the client's CPUs before the run began.
func findBusy(s *Summary) []string {
	c := &s.Run.Client
	if c.CPUs == 0 || c.Load1 <= busyLoad*float64(c.CPUs) {
		return nil
	}
	return []string{fmt.Sprintf("this machine was busy when the run began, load %s on %s: times are too long and intervals too wide: end what else runs and measure again",
		digits(c.Load1), plural(c.CPUs, "CPU"))}
}

// clientShare is the part of a median above which a row measures the client.
const clientShare = 0.5

// findClientCost tells which rows are mostly our own producing of the body.
func findClientCost(s *Summary) []string {
	cost := func(r *Row) float64 { return r.phase("produce_s") / r.Median }
	rows := s.where(func(r *Row) bool { return cost(r) > clientShare })
	if len(rows) == 0 {
		return nil
	}
	worst := highest(rows, cost)
	return []string{fmt.Sprintf("%s: more than half of the median is produce, the client's own work (up to %s, %s): these rows measure this machine more than the server: run the client on a faster or idle one",
		s.names(rows), share(worst.phase("produce_s"), worst.Median), s.names([]*Row{worst}))}
}
