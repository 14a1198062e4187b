package replicate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"couchgauge/internal/couch"

	"golang.org/x/sync/errgroup"
)

// liveConnections is how many documents may be on their way to the sources at
// a time. One that is due when all are taken is written late, and its lag
// counts from when it was due.
const liveConnections = 64

// writeLive writes documents to the filled databases by turns, each when it is
// due. It tells how long after that it was stored.
func (x *sample) writeLive(ctx context.Context, p pace, written *lags) error {
	type source struct {
		client *couch.Client
		endpoint
		number int
	}
	var sources []source
	for i, d := range x.layout.databases {
		if d.filled {
			e := x.databases[i]
			c := e.peer.Server.Client(couch.TransportOptions{KeepAlive: true, MaxConns: liveConnections})
			defer c.Close()
			sources = append(sources, source{c, e, x.sourceNumber(i)})
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(liveConnections)
	for k := range p.total {
		select {
		case <-time.After(time.Until(p.due(k))):
		case <-ctx.Done():
			if err := g.Wait(); err != nil {
				return err
			}
			return context.Cause(ctx)
		}
		g.Go(func() error {
			to := sources[k%int64(len(sources))]
			body := x.shape.appendLive(nil, to.number, k)
			resp, err := to.client.Do(ctx, couch.Request{
				Method:        http.MethodPut,
				Path:          couch.DocPath(to.db, liveID(to.number, k)),
				ContentLength: int64(len(body)),
				GetBody:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
			})
			if err == nil {
				err = couch.Check(resp, "write a document to", to.db)
			}
			if err != nil {
				return fmt.Errorf("write document %d of %d at the source: %w", k+1, p.total, err)
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			written.add(time.Since(p.due(k)))
			return err
		})
	}
	return g.Wait()
}
