package replicate

import "sync/atomic"

// Progress tells how far a session is, to whoever looks while it goes on.
type Progress struct {
	watched    atomic.Bool
	docs, ofIt atomic.Int64
	doing      atomic.Pointer[string]
}

// Watch has the number of documents asked of the targets while jobs run.
func (p *Progress) Watch() { p.watched.Store(true) }

// Documents returns how many documents the targets of the sample that is being
// taken have, and will have; 0 for the latter = not known.
func (p *Progress) Documents() (have, of int64) { return p.docs.Load(), p.ofIt.Load() }

// Doing names the cell that is being measured.
func (p *Progress) Doing() string {
	if s := p.doing.Load(); s != nil {
		return *s
	}
	return ""
}
