package replicate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSchedule(t *testing.T) {
	for _, order := range Orders() {
		p := Plan{Samples: 3, Warmup: 1, Seed: 7, Order: order}
		turns := p.schedule(4)
		if diff := cmp.Diff(turns, p.schedule(4), cmp.AllowUnexported(turn{})); diff != "" {
			t.Errorf("%s: the same seed gives another order: %s", order, diff)
		}
		seen := map[turn]bool{}
		for i, x := range turns {
			if seen[x] {
				t.Errorf("%s: turn %+v twice", order, x)
			}
			seen[x] = true
			if order != "sequential" && x.warmup != (i < 4) {
				t.Errorf("%s: turn %d is %+v: want warm-ups first", order, i, x)
			}
			if order == "interleaved" && x.round != max(0, i/4-1) {
				t.Errorf("%s: turn %d is of round %d", order, i, x.round)
			}
		}
		if len(turns) != 16 || len(seen) != 16 {
			t.Errorf("%s: %d turns, want 16", order, len(turns))
		}
	}
}
