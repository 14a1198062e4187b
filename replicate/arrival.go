package replicate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"couchgauge/internal/couch"
)

// firstChange waits until a database changes after a sequence, and returns
// when that was seen. It costs the server one waiting request (CouchDB docs,
// "Changes Feeds", "Long Polling").
func firstChange(ctx context.Context, s *couch.Server, db, since string) (time.Time, error) {
	c := s.Client(couch.TransportOptions{KeepAlive: true, IdleTimeout: 12 * heartbeat})
	defer c.Close()
	for {
		var answer struct {
			Results []json.RawMessage `json:"results"`
		}
		path := fmt.Sprintf("%s/_changes?feed=longpoll&limit=1&heartbeat=%d&since=%s",
			couch.EscapeSegment(db), heartbeat.Milliseconds(), couch.EscapeSegment(since))
		err := c.JSON(ctx, http.MethodGet, path, nil, &answer)
		if err != nil {
			return time.Time{}, err
		}
		if len(answer.Results) > 0 {
			return time.Now(), nil
		}
	}
}

// arrivals watches the targets of a sample for their first change.
type arrivals struct {
	cancel context.CancelFunc
	seen   []chan time.Time
}

// watchArrivals begins to watch; since has a sequence for each target.
func watchArrivals(ctx context.Context, targets []endpoint, since []string) *arrivals {
	a := &arrivals{}
	ctx, a.cancel = context.WithCancel(ctx)
	for i, t := range targets {
		ch := make(chan time.Time, 1)
		a.seen = append(a.seen, ch)
		go func() {
			defer close(ch)
			if at, err := firstChange(ctx, t.peer.Server, t.db, since[i]); err == nil {
				ch <- at
			}
		}()
	}
	return a
}

// stop ends watching and returns when each target was first seen changed; the
// zero time where it was not. A change that is there already is still noticed:
// grace is how long its answer may take.
func (a *arrivals) stop(grace time.Duration) []time.Time {
	timer := time.AfterFunc(grace, a.cancel)
	defer timer.Stop()
	defer a.cancel()
	var list []time.Time
	for _, ch := range a.seen {
		list = append(list, <-ch)
	}
	return list
}
