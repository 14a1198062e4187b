package replicate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"couchgauge/internal/couch"
)

// unhurried is the idle timeout of a request that a server answers when a job
// is done: nothing moves on it meanwhile. The sample's own watch ends it.
const unhurried = 10_000 * time.Hour

// posted is a job submitted by POST /_replicate, whose answer comes when the
// job has ended (CouchDB docs, "/_replicate").
type posted struct {
	job    job
	client *couch.Client
	cancel context.CancelFunc
	answer chan outcome
}

func prepareReplicate(_ context.Context, j job) (running, error) {
	return &posted{
		job:    j,
		client: j.at.Client(couch.TransportOptions{KeepAlive: true, IdleTimeout: unhurried}),
		answer: make(chan outcome, 1),
		cancel: func() {},
	}, nil
}

func (p *posted) submit(ctx context.Context) error {
	if p.job.continuous { // the answer comes at once, and later there is none
		if err := p.client.JSON(ctx, http.MethodPost, "_replicate", p.job.document(), nil); err != nil {
			return fmt.Errorf("submit %s: %w", p.job, err)
		}
		return nil
	}
	ctx, p.cancel = context.WithCancel(ctx)
	go func() { p.answer <- p.post(ctx) }()
	return nil
}

func (p *posted) post(ctx context.Context) outcome {
	var raw json.RawMessage
	err := p.client.JSON(ctx, http.MethodPost, "_replicate", p.job.document(), &raw)
	var refused *couch.Error
	switch {
	case errors.As(err, &refused):
		// A database that is not there is "db_not_found".
		unknown := refused.Status == http.StatusNotFound && refused.Code == "not_found" || refused.Status == http.StatusMethodNotAllowed
		return outcome{State: stateFailed, Reason: refused.Code + ": " + innermost(refused.Reason), noReplicate: unknown}
	case err != nil:
		return outcome{State: stateUnknown, err: fmt.Errorf("wait for %s: %w", p.job, err)}
	}
	return outcome{State: stateCompleted, Counters: parseCounters(raw)}
}

func (p *posted) wait(ctx context.Context) outcome { return await(ctx, p, p.answer, p.job.look) }

func (p *posted) watch(ctx context.Context) watching {
	return lookAtJob(ctx, p.job.at, func(s schedulerJob) bool {
		return s.Database == nil && s.moves(p.job)
	})
}

// stop cancels the job. One that has ended is not found, which is as good.
func (p *posted) stop(ctx context.Context) error {
	defer p.client.Close()
	defer p.cancel()
	document := p.job.document()
	document["cancel"] = true
	err := p.job.at.Control().JSON(ctx, http.MethodPost, "_replicate", document, nil)
	var refused *couch.Error
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cancel %s: %w", p.job, err)
	}
	return nil
}

// String names the job in errors.
func (j job) String() string {
	return fmt.Sprintf("replication of %s to %s at %s", j.source.db, j.target.db, j.at.URL())
}
