package rounds

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func turns(s Schedule, n int) []string {
	var list []string
	for t := range s.Turns(n) {
		kind := "s"
		if t.Warmup {
			kind = "w"
		}
		list = append(list, fmt.Sprint(t.Index, kind, t.Round))
	}
	return list
}

func TestScheduleTakesEverySampleOnce(t *testing.T) {
	var want []string
	for c := range 4 {
		for i := range 2 {
			want = append(want, fmt.Sprint(c, "w", i))
		}
		for i := range 3 {
			want = append(want, fmt.Sprint(c, "s", i))
		}
	}
	for _, order := range []string{"", Interleaved, Random, Sequential} {
		p := Schedule{Samples: 3, Warmup: 2, Seed: 5, Order: order}
		got := turns(p, 4)
		if !slices.Equal(got, turns(p, 4)) {
			t.Errorf("%s: the same seed gives two orders", order)
		}
		if order == Sequential {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("sequential (-want +got):\n%s", diff)
			}
			continue
		}
		p.Seed++
		if slices.Equal(got, turns(p, 4)) {
			t.Errorf("%s: two seeds give the same order", order)
		}
		warmups := got[:8]
		if slices.ContainsFunc(warmups, func(s string) bool { return strings.Contains(s, "s") }) {
			t.Errorf("%s: a sample before the last warm-up: %v", order, got)
		}
		slices.Sort(got)
		if sorted := slices.Sorted(slices.Values(want)); !slices.Equal(got, sorted) {
			t.Errorf("%s: %v\nwant %v", order, got, sorted)
		}
	}
}

func TestInterleavedTakesRoundAfterRound(t *testing.T) {
	got := turns(Schedule{Samples: 20, Seed: 1}, 6)
	orders := map[string]bool{}
	for round := range 20 {
		cells := map[byte]bool{}
		for _, turn := range got[round*6 : round*6+6] {
			if !strings.HasSuffix(turn, fmt.Sprint("s", round)) && !strings.HasSuffix(turn, fmt.Sprint("s ", round)) {
				t.Errorf("%q is taken in round %d", turn, round)
			}
			cells[turn[0]] = true
		}
		if len(cells) != 6 {
			t.Errorf("round %d has %d of 6 cells", round, len(cells))
		}
		orders[strings.Join(got[round*6:round*6+6], "")[:6]] = true
	}
	if len(orders) < 5 {
		t.Errorf("20 rounds have %d orders", len(orders))
	}
}
