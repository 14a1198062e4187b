package results

import "fmt"

// Warning is something that a reader of the tables must know: what was seen,
// with its figure, and what to do about it, in one line.
type Warning struct {
	Code string `json:"code"` // names the check; "event" for what a command reported
	Text string `json:"text"`
}

// check looks for one thing in a summary's rows and says what it found, ""
// if nothing.
type check struct {
	code string
	find func(*Summary) string
}

var checks = []check{}

// warn runs all checks.
func warn(s *Summary) []Warning {
	var found []Warning
	for _, c := range checks {
		if text := c.find(s); text != "" {
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
