package results

import (
	"fmt"
	"math"
)

// A window is read from a row only where there is a link to speak of, the
// body takes many round trips of mostly sending, and what they carry each is
// what buffers hold (case U1).
const (
	windowRoundTrip = 0.002 // seconds
	windowTrips     = 8
	windowSend      = 0.5 // share of the median
	windowMin       = 8 << 10
	windowMax       = 8 << 20
	windowSpread    = 1.5 // between sizes of one method
)

// findWindow tells how much the server takes for each round trip, if that
// looks like a limit.
func findWindow(s *Summary) []string {
	largest := map[string]*Row{} // by method
	windows := map[string][]float64{}
	for _, r := range s.where(func(r *Row) bool { return !math.IsNaN(s.window(r)) }) {
		m := r.levelText("method")
		windows[m] = append(windows[m], s.window(r))
		if largest[m] == nil || r.Cell.Payload > largest[m].Cell.Payload {
			largest[m] = r
		}
	}
	r := largest["raw"]
	if r == nil {
		for i := range s.Rows {
			if m := largest[s.Rows[i].levelText("method")]; m != nil {
				r = m
				break
			}
		}
	}
	if r == nil {
		return nil
	}
	low, high := math.Inf(1), 0.0
	for _, w := range windows[r.levelText("method")] {
		low, high = min(low, w), max(high, w)
	}
	if high > windowSpread*low {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s of sending at a round trip of %s is at most %.0f KiB per round trip: a fixed receive buffer at the server is the likely cause (CouchDB: recbuf in [chttpd] server_options), else the link's rate; --concurrency tells: a buffer limits each connection, a link all together",
		s.names([]*Row{r}), duration(r.phase("send_s")), duration(s.roundTrip(r)), s.window(r)/1024)}
}

// window returns the bytes that a row sent per round trip, NaN if that does
// not look like a limit.
func (s *Summary) window(r *Row) float64 {
	trip, send := s.roundTrip(r), r.phase("send_s")
	if trip < windowRoundTrip || send < windowTrips*trip || send < windowSend*r.Median || r.concurrent() {
		return math.NaN()
	}
	w := float64(r.Cell.Payload) * trip / send
	if w < windowMin || w > windowMax {
		return math.NaN()
	}
	return w
}

// concurrent says whether a sample is several uploads at once.
func (r *Row) concurrent() bool { return r.number("concurrency") > 1 }
