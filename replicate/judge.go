package replicate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"couchgauge/results"
)

// judge verifies the sample and says what is wrong with it.
func (x *sample) judge(ctx context.Context, s *results.Sample, list []jobResult) {
	x.restarted = ""
	for _, r := range list {
		if r.Restarts > 0 {
			x.restarted = fmt.Sprintf("the server started a job again %d times (%s): its time holds the pauses", r.Restarts, r.Reason)
		}
	}
	d := detail{Jobs: list}
	defer func() {
		raw, err := json.Marshal(d)
		if err != nil {
			fail(s, err.Error())
		}
		s.Detail = raw
	}()
	if s.Error != "" && ctx.Err() != nil {
		return
	}
	var refused []string
	for _, r := range list {
		refused = append(refused, r.Refused...)
	}
	var faults []string
	if n := s.Measures["doc_write_failures"]; n > 0 {
		faults = append(faults, fmt.Sprintf("%.0f documents could not be written", n))
	}
	if x.plan.Verify != VerifyOff && s.Error == "" {
		var err error
		if d.Verdicts, err = x.verify(ctx); err != nil {
			fail(s, "verify: "+err.Error())
			return
		}
		for _, v := range d.Verdicts {
			if f := v.fault(); f != "" {
				faults = append(faults, f)
			}
		}
		if f := x.miscounted(d.Verdicts); f != "" {
			faults = append(faults, f)
		}
		s.Verified = len(faults) == 0
	}
	if len(refused) > 0 {
		faults = append(faults, "refused: "+strings.Join(refused[:min(len(refused), namedLeaves)], ", "))
	}
	if len(faults) > 0 {
		fail(s, strings.Join(faults, "; "))
	}
}

// miscounted checks the source's own view of a built-in filter against the
// number of documents that were made to pass it.
func (x *sample) miscounted(list []verdict) string {
	docs, known := x.filter.passes(x.shape.docs)
	plain := x.shape.deleted == 0 && x.shape.conflicts == 1 && x.topology == "1-1" && x.live == 0
	if !known || x.filter.all() || !plain || len(list) != 1 || list[0].Leaves == docs {
		return ""
	}
	return fmt.Sprintf("the source lets %d documents through the filter %s, which was made for %d", list[0].Leaves, x.filter.Text, docs)
}
