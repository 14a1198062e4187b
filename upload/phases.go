package upload

import "time"

// phases are the parts of one or several requests. They follow each other, so
// that they add up to the whole.
type phases struct {
	connect      time.Duration // until there is a connection
	waitContinue time.Duration // until the server said 100 Continue, or was not waited for any more
	produce      time.Duration // in our own reader: making and encoding the body
	send         time.Duration // the rest of the time until the body was written
	wait         time.Duration // until the first byte of the answer
	receive      time.Duration // until its last one
}

func (p phases) total() time.Duration {
	return p.connect + p.waitContinue + p.produce + p.send + p.wait + p.receive
}

func (p phases) plus(q phases) phases {
	return phases{
		connect:      p.connect + q.connect,
		waitContinue: p.waitContinue + q.waitContinue,
		produce:      p.produce + q.produce,
		send:         p.send + q.send,
		wait:         p.wait + q.wait,
		receive:      p.receive + q.receive,
	}
}

// moments are when the steps of a request happened, from its start. Zero is
// "did not happen".
type moments struct {
	connected    time.Duration
	waiting      time.Duration // for 100 Continue
	bodyStarted  time.Duration // first read of the body
	bodyWritten  time.Duration
	firstByte    time.Duration // of the final answer
	lastByte     time.Duration
	inBodyReader time.Duration // sum, not a moment
}

// phases splits the time up to lastByte. An answer that comes before the body
// was written ends the sending: nothing was waited for then.
func (m moments) phases() phases {
	var p phases
	p.connect = min(m.connected, m.firstByte)
	sent := m.firstByte
	if m.bodyWritten > 0 {
		sent = min(m.bodyWritten, m.firstByte)
	}
	sent = max(sent, p.connect)
	left := sent - p.connect // waitContinue, produce and send
	if m.waiting > 0 {
		waited := sent
		if m.bodyStarted > m.waiting {
			waited = m.bodyStarted
		}
		p.waitContinue = min(max(waited-m.waiting, 0), left)
	}
	p.produce = min(m.inBodyReader, left-p.waitContinue)
	p.send = left - p.waitContinue - p.produce
	p.wait = max(m.firstByte, sent) - sent
	p.receive = m.lastByte - p.connect - left - p.wait
	return p
}
