package replicate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// liveID is the id of document k of those that are written while jobs run, of
// a source.
func liveID(source int, k int64) string { return fmt.Sprintf("live-%02d-%010d", source, k) }

// parseLiveID reads k out of a live id; false = it is none.
func parseLiveID(id string) (int64, bool) {
	rest, ok := strings.CutPrefix(id, "live-")
	if !ok {
		return 0, false
	}
	_, digits, _ := strings.Cut(rest, "-")
	k, err := strconv.ParseInt(digits, 10, 64)
	return k, err == nil
}

// pace is an open model: document k is due at a time that does not depend on
// how the ones before it fared.
type pace struct {
	start time.Time
	rate  float64 // documents per second
	total int64
}

func newPace(start time.Time, rate float64, d time.Duration) pace {
	return pace{start, rate, int64(math.Ceil(rate * d.Seconds()))}
}

// due is when document k is to be written.
func (p pace) due(k int64) time.Time {
	return p.start.Add(time.Duration(float64(k) / p.rate * float64(time.Second)))
}
