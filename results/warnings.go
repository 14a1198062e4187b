package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Warning is something that a reader of the tables must know: what was seen,
// with its figure, and what to do about it, in one line.
type Warning struct {
	Code string `json:"code"` // names the check; "event" for what a command reported
	Text string `json:"text"`
}

// check looks for one thing in a summary and says what it found.
type check struct {
	code string
	find func(*Summary) []string
}

var checks = []check{
	{"failed", findFailed},
	{"gave_up", findGaveUp},
	{"unverified", findUnverified},
	{"accepted_202", findAccepted},
	{"retries_429", findRetries},
	{"expect", findExpect},
	{"window", findWindow},
	{"ordinal", findOrdinal},
	{"busy", findBusy},
	{"client_cost", findClientCost},
	{"server_time", findServerTime},
	{"few_samples", findFewSamples},
	{"wide", findWide},
	{"outliers", findOutliers},
	{"drift", findDrift},
}

// warn runs all checks.
func warn(s *Summary) []Warning {
	var found []Warning
	for _, c := range checks {
		for _, text := range c.find(s) {
			found = append(found, Warning{c.code, text})
		}
	}
	return found
}

// eventWarnings are the warnings that a command reported itself, each once.
func eventWarnings(events []Event, lost int) []Warning {
	var found []Warning
	seen := map[string]bool{}
	for _, e := range events {
		if !seen[e.Text] {
			seen[e.Text] = true
			found = append(found, Warning{"event", e.Text})
		}
	}
	if lost > 0 {
		found = append(found, Warning{"event", fmt.Sprintf("%d more warnings are in the recording only", lost)})
	}
	return found
}

// maxNames is how many rows a warning names; it counts the others.
const maxNames = 5

// names lists rows by what tells them apart, those of one size together:
// "raw, base64 1MB; raw 10MB and 3 more", "all rows of 1MB".
func (s *Summary) names(rows []*Row) string {
	factors := varied(measured(s.Rows))
	sized := slices.Contains(factors, "size_bytes")
	if len(rows) > maxNames {
		size := rows[0].levelText("size_bytes")
		timed := func(r *Row) bool { return len(r.times) > 0 && !r.isFill() }
		if slices.Equal(rows, s.where(timed)) {
			return "all rows"
		}
		if sized && slices.Equal(rows, s.where(func(r *Row) bool { return timed(r) && r.levelText("size_bytes") == size })) {
			return "all rows of " + size
		}
	}
	further := slices.DeleteFunc(slices.Clone(factors), func(f string) bool { return f == "size_bytes" })
	var list []string
	shown := rows[:min(len(rows), maxNames)]
	for i := 0; i < len(shown); {
		first := shown[i]
		var group []string
		for ; i < len(shown) && shown[i].levelText("size_bytes") == first.levelText("size_bytes"); i++ {
			group = append(group, shown[i].name(further))
		}
		text := strings.Join(group, ", ")
		switch {
		case sized && len(further) == 0:
			text = first.name(factors)
		case sized:
			text += " " + first.levelText("size_bytes")
		}
		list = append(list, text)
	}
	text := strings.Join(list, "; ")
	if n := len(rows) - maxNames; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// where returns the rows for which match holds.
func (s *Summary) where(match func(*Row) bool) []*Row {
	var rows []*Row
	for i := range s.Rows {
		if match(&s.Rows[i]) {
			rows = append(rows, &s.Rows[i])
		}
	}
	return rows
}

// highest returns the row with the highest value, nil of none. NaN is below
// everything.
func highest(rows []*Row, value func(*Row) float64) *Row {
	var top *Row
	most := math.Inf(-1)
	for _, r := range rows {
		if v := value(r); v > most || top == nil {
			top, most = r, v
		}
	}
	return top
}

// plural returns "1 sample", "2 samples".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
