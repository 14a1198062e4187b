package engine

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

// diff asks the target what it lacks of each batch. While the target was
// never written to, it lacks everything and is not asked.
func (r *Replication) diff(ctx context.Context, in <-chan *job, out chan<- *job) error {
	l := r.stages.diff.lap(r.clock.now)
	for {
		j, ok := take(ctx, l, in)
		if !ok {
			return context.Cause(ctx)
		}
		if err := r.diffJob(ctx, j); err != nil {
			return err
		}
		if len(j.wants) == 0 {
			j.b.done()
			continue
		}
		if err := give(ctx, l, out, j); err != nil {
			return err
		}
	}
}

// diffJob leaves in the job what the target lacks.
func (r *Replication) diffJob(ctx context.Context, j *job) error {
	j.wants = merge(j.wants)
	revs := int64(0)
	for _, w := range j.wants {
		revs += int64(len(w.revs))
	}
	r.count.checked.Add(revs)
	if r.lacksAll.Load() {
		r.count.found.Add(revs)
		return nil
	}
	var missing map[string]struct {
		Missing   []string `json:"missing"`
		Ancestors []string `json:"possible_ancestors"`
	}
	err := r.target.json(ctx, request{method: http.MethodPost, path: "_revs_diff", body: diffBody(j.wants)}, &missing)
	if err != nil {
		return fmt.Errorf("ask %s what it lacks: %w", r.target.base, err)
	}
	kept := j.wants[:0]
	for _, w := range j.wants {
		m := missing[text(w.id)]
		if len(m.Missing) == 0 {
			continue
		}
		w.revs, w.ancestors = m.Missing, m.Ancestors
		r.count.found.Add(int64(len(w.revs)))
		kept = append(kept, w)
	}
	j.wants = kept
	return nil
}

// diffBody is {"id":["rev",…],…}.
func diffBody(wants []want) []byte {
	b := []byte{'{'}
	for i, w := range wants {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, w.id...), ':')
		b = append(b, revList(w.revs)...)
	}
	return append(b, '}')
}

// revList is ["rev",…]; revisions hold nothing that JSON escapes.
func revList(revs []string) []byte {
	b := []byte{'['}
	for i, rev := range revs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), rev...), '"')
	}
	return append(b, ']')
}

// merge puts the wants of one document together: a document that changes
// while the feed is read stands in it twice.
func merge(wants []want) []want {
	at := make(map[string]int, len(wants))
	kept := wants[:0]
	for _, w := range wants {
		i, twice := at[string(w.id)]
		if !twice {
			at[string(w.id)] = len(kept)
			kept = append(kept, w)
			continue
		}
		k := &kept[i]
		k.attBytes = max(k.attBytes, w.attBytes)
		for _, rev := range w.revs {
			if !slices.Contains(k.revs, rev) {
				k.revs = append(slices.Clip(k.revs), rev)
			}
		}
	}
	return kept
}
