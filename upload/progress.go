package upload

import "sync/atomic"

// Progress tells how far a run is, to whoever looks while it goes on.
type Progress struct {
	done, samples atomic.Int64
	sent, bytes   atomic.Int64
	doing         atomic.Pointer[string]
}

// Samples returns how many samples, warm-ups included, are over, and of how
// many.
func (p *Progress) Samples() (done, of int64) { return p.done.Load(), p.samples.Load() }

// Bytes returns how many bytes of bodies were made for sending, and of how
// many (see Plan.Bytes).
func (p *Progress) Bytes() (sent, of int64) { return p.sent.Load(), p.bytes.Load() }

// Doing names the cell that is being measured.
func (p *Progress) Doing() string {
	if s := p.doing.Load(); s != nil {
		return *s
	}
	return ""
}
