package rounds

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestLedger(t *testing.T) {
	type turn struct {
		warmup  bool
		took    time.Duration
		failure string
	}
	good, bad, second := turn{}, turn{failure: "413"}, turn{took: time.Second}
	for _, c := range []struct {
		name    string
		maxTime time.Duration
		turns   []turn
		want    string // of the ending after the last turn
		warning bool
	}{
		{"good", 0, []turn{good, good, good, good}, "", false},
		{"failures with a good one between", 0, []turn{bad, bad, good, bad, bad}, "", false},
		{"failures in a row", 0, []turn{good, bad, bad, bad}, "given up after 3 failures in a row: 413", true},
		{"warm-ups fail", 0, []turn{{warmup: true, failure: "x"}, {warmup: true, failure: "x"}, bad, bad}, "", false},
		{"slow without a limit", 0, []turn{second, second, second, second}, "", false},
		{"slow, too few", time.Second, []turn{second, second}, "", false},
		{"slow", time.Second, []turn{second, second, second}, "no more samples after 3, which took 3s", false},
		{"slow warm-ups count in the time", 4 * time.Second, []turn{{warmup: true, took: time.Second}, second, second, second}, "no more samples after 3, which took 4s", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l Ledger
			var got Ending
			for i, x := range c.turns {
				if got.Text != "" || l.Over {
					t.Fatalf("over after %d turns: %q", i, got.Text)
				}
				got = l.Note(Turn{Warmup: x.warmup}, x.took, x.failure, c.maxTime)
			}
			if got.Text != c.want || got.Warning != c.warning || l.Over != (c.want != "") {
				t.Errorf("%+v, over %v; want %q, warning %v", got, l.Over, c.want, c.warning)
			}
		})
	}
}

func TestStoppedErrorNamesTheLastGoodCell(t *testing.T) {
	cause := errors.New("connection refused")
	for last, want := range map[string]string{
		"":         "nothing had worked before",
		"raw 10MB": "the last cell that worked was raw 10MB",
	} {
		err := error(&StoppedError{LastGood: last, Err: cause})
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), cause.Error()) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want the cause and %q", err, want)
		}
	}
}
