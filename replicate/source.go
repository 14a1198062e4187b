package replicate

import (
	"context"
	"time"

	"couchgauge/results"
)

// fillSource fills a database and records how fast that was.
func (s *Session) fillSource(ctx context.Context, e endpoint, data shape, number int) error {
	c := s.fillCell(data)
	label := "filling a source"
	s.env.Progress.doing.Store(&label)
	r := results.Sample{Cell: c.ID, Round: c.fills, At: time.Now()}
	c.fills++
	took, err := fill(ctx, e.peer.Server, e.db, data, number)
	if err != nil {
		r.Error = err.Error()
	} else {
		r.Duration, r.Verified = results.Seconds(took), true
		r.Measures = map[string]float64{
			"docs_per_s":  float64(data.docs) / took.Seconds(),
			"bytes_per_s": float64(data.payload()) / took.Seconds(),
		}
	}
	if werr := s.env.Sink.Write(&r); werr != nil {
		return werr
	}
	return err
}
