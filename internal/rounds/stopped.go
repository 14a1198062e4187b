package rounds

import "fmt"

// StoppedError says that a run ended early because nothing more can be
// measured: a server is gone, or refuses us.
type StoppedError struct {
	LastGood string // the cell of the last sample that was right; "" = none
	Err      error
}

func (e *StoppedError) Error() string {
	last := "nothing had worked before"
	if e.LastGood != "" {
		last = "the last cell that worked was " + e.LastGood
	}
	return fmt.Sprintf("stopped: %v; %s", e.Err, last)
}

func (e *StoppedError) Unwrap() error { return e.Err }
