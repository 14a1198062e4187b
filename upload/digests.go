package upload

import (
	"context"
	"sync"

	"couchgauge/gen"
)

// digests keeps the sums of attachments, so that each is computed once per
// run and never inside a timed part: MD5 makes 0.55 GB/s (fact 34).
type digests struct {
	mu   sync.Mutex
	sums map[digestKey]sum
}

type digestKey struct {
	gen.Attachment
	gzip bool
}

// of returns the sum of an attachment as it is, or compressed as this package
// compresses it.
func (d *digests) of(ctx context.Context, a gen.Attachment, gzip bool) (sum, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := digestKey{a, gzip}
	if s, ok := d.sums[key]; ok {
		return s, nil
	}
	var s sum
	var err error
	if gzip {
		s, err = sumOf(ctx, newGzipped(a.Open()))
	} else {
		s, err = sumOf(ctx, a.Open())
	}
	if err != nil {
		return s, err
	}
	if d.sums == nil {
		d.sums = map[digestKey]sum{}
	}
	d.sums[key] = s
	return s, nil
}
