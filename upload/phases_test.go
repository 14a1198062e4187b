package upload

import (
	"testing"
	"testing/quick"
	"time"
)

func TestPhases(t *testing.T) {
	for _, c := range []struct {
		name string
		m    moments
		want phases
	}{
		{
			"new connection",
			moments{connected: 10, bodyStarted: 12, bodyWritten: 50, inBodyReader: 30, firstByte: 70, lastByte: 75},
			phases{connect: 10, produce: 30, send: 10, wait: 20, receive: 5},
		},
		{
			"100 Continue came",
			moments{connected: 10, waiting: 15, bodyStarted: 40, bodyWritten: 90, inBodyReader: 20, firstByte: 100, lastByte: 101},
			phases{connect: 10, waitContinue: 25, produce: 20, send: 35, wait: 10, receive: 1},
		},
		{
			"answered instead of 100 Continue",
			moments{connected: 10, waiting: 15, firstByte: 60, lastByte: 61},
			phases{connect: 10, waitContinue: 45, send: 5, receive: 1},
		},
		{
			"answered before the body was written",
			moments{connected: 1, bodyStarted: 2, bodyWritten: 90, inBodyReader: 30, firstByte: 40, lastByte: 50},
			phases{connect: 1, produce: 30, send: 9, receive: 10},
		},
		{
			"answered, the body never written",
			moments{connected: 1, bodyStarted: 2, inBodyReader: 100, firstByte: 40, lastByte: 50},
			phases{connect: 1, produce: 39, receive: 10},
		},
		{
			"no body",
			moments{connected: 1, bodyWritten: 3, firstByte: 9, lastByte: 12},
			phases{connect: 1, send: 2, wait: 6, receive: 3},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.m.phases(); got != c.want {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestPhasesAddUp: whatever happened when, no phase is negative and their sum
// is the time up to the last byte.
func TestPhasesAddUp(t *testing.T) {
	add := func(connected, waiting, bodyStarted, bodyWritten, firstByte, lastByte, inBodyReader uint16) bool {
		end := time.Duration(lastByte)
		at := func(n uint16) time.Duration { return min(time.Duration(n), end) } // all happened before the end
		p := moments{
			connected: at(connected), waiting: at(waiting), bodyStarted: at(bodyStarted), bodyWritten: at(bodyWritten),
			firstByte: at(firstByte), lastByte: end, inBodyReader: time.Duration(inBodyReader),
		}.phases()
		return p.total() == end && min(p.connect, p.waitContinue, p.produce, p.send, p.wait, p.receive) >= 0
	}
	if err := quick.Check(add, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
}
