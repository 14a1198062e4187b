package replicate

import "math/rand/v2"

// turn is one sample to be taken of each cell of a group.
type turn struct {
	group  int
	round  int // warm-ups count on their own
	warmup bool
}

// schedule is the order in which the samples of groups are taken: round after
// round, each in a seeded random order of its own so that drift hits all cells
// alike; or all samples shuffled; or one group after another.
func (p Plan) schedule(groups int) []turn {
	random := rand.New(rand.NewPCG(p.Seed, 0))
	var turns []turn
	for i := range p.Warmup + p.Samples {
		t := turn{round: i - p.Warmup}
		if i < p.Warmup {
			t = turn{round: i, warmup: true}
		}
		for _, t.group = range random.Perm(groups) {
			turns = append(turns, t)
		}
	}
	switch p.Order {
	case "sequential":
		turns = turns[:0]
		for g := range groups {
			for i := range p.Warmup {
				turns = append(turns, turn{g, i, true})
			}
			for i := range p.Samples {
				turns = append(turns, turn{g, i, false})
			}
		}
	case "random":
		measured := turns[p.Warmup*groups:]
		random.Shuffle(len(measured), func(i, j int) { measured[i], measured[j] = measured[j], measured[i] })
		taken := make([]int, groups)
		for i := range measured {
			measured[i].round = taken[measured[i].group]
			taken[measured[i].group]++
		}
	}
	return turns
}
