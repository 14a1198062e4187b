package replicate

import (
	"context"
	"sync"
	"time"
)

// watchedTargets follows the feeds of a sample's targets.
type watchedTargets struct {
	lags  *lags
	feeds []*feed

	mu      sync.Mutex
	changed chan struct{} // closed, and made anew, with every row
	targets []targetCount
	pace    *pace
	passes  func(k int64) bool
	sources int // that live documents are written to
	began   time.Time
	last    time.Time
	err     error
}

// targetCount is how far one target is.
type targetCount struct {
	origins map[int]bool // numbers of the sources that it gets live documents of
	live    int64        // live documents that came
}

// openArrivals opens the feeds.
func (x *sample) openArrivals(ctx context.Context) (*watchedTargets, error) {
	w := &watchedTargets{
		lags:    newLags(),
		changed: make(chan struct{}),
		passes:  func(k int64) bool { return x.filter.all() || chosen(k, x.filter.Share) },
		sources: x.layout.filled(),
	}
	origins := x.layout.origins()
	for _, t := range x.layout.targets() {
		e := x.databases[t]
		info, err := databaseInfo(ctx, e.peer.Server.Control(), e.db)
		if err != nil {
			w.close()
			return nil, err
		}
		f, err := openFeed(ctx, e.peer.Server, e.db, feedOptions{since: info.since()})
		if err != nil {
			w.close()
			return nil, err
		}
		w.feeds = append(w.feeds, f)
		count := targetCount{origins: map[int]bool{}}
		for _, o := range origins[t] {
			if o != t {
				count.origins[x.sourceNumber(o)] = true
			}
		}
		w.targets = append(w.targets, count)
	}
	for i := range w.feeds {
		go w.read(ctx, i)
	}
	return w, nil
}

func (w *watchedTargets) close() {
	for _, f := range w.feeds {
		f.close()
	}
}

// read enters the rows of one feed. Only live documents are timed: they are
// written once and so come once.
func (w *watchedTargets) read(ctx context.Context, i int) {
	for {
		row, err := w.feeds[i].next(ctx)
		at := time.Now()
		w.mu.Lock()
		t := &w.targets[i]
		k, live := parseLiveID(row.ID)
		switch {
		case err != nil:
			w.err = err
		case live:
			source := int(k % int64(w.sources))
			if t.origins[source] && w.pace != nil {
				w.lags.add(at.Sub(w.pace.due(k)))
				w.last = at
				t.live++
			}
		case w.began.IsZero():
			w.began = at
		}
		close(w.changed)
		w.changed = make(chan struct{})
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// expect says that live documents come from now on.
func (w *watchedTargets) expect(p pace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pace = &p
}

// first is when the first change was seen at any target; the zero time if none
// was.
func (w *watchedTargets) first() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.began
}

// arrived waits until the targets have all live documents, and returns when
// the last one came.
func (w *watchedTargets) arrived(ctx context.Context) (time.Time, error) {
	wants := make([]int64, len(w.targets))
	for k := range w.pace.total {
		if !w.passes(k) {
			continue
		}
		for i := range w.targets {
			if w.targets[i].origins[int(k%int64(w.sources))] {
				wants[i]++
			}
		}
	}
	err := w.until(ctx, func() bool {
		for i, t := range w.targets {
			if t.live < wants[i] {
				return false
			}
		}
		return true
	})
	return w.last, err
}

// count is how many live documents came, over all targets.
func (w *watchedTargets) count() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	var n int64
	for _, t := range w.targets {
		n += t.live
	}
	return n
}

func (w *watchedTargets) until(ctx context.Context, done func() bool) error {
	for {
		w.mu.Lock()
		ok, err, changed := done(), w.err, w.changed
		w.mu.Unlock()
		switch {
		case ok:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
