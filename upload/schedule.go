package upload

import (
	"iter"
	"math/rand/v2"
)

// turn is one sample to be taken of each cell of a chain: cells whose samples
// follow each other on one document. Most chains are one cell.
type turn struct {
	chain  int
	round  int // warm-ups count on their own
	warmup bool
}

// schedule is the order in which a plan's samples are taken.
func (p Plan) schedule(chains int) iter.Seq[turn] {
	random := rand.New(rand.NewPCG(p.Seed, 0))
	switch p.Order {
	case Sequential:
		return p.sequential(chains)
	case Random:
		return p.random(chains, random)
	default:
		return p.interleaved(chains, random)
	}
}

// interleaved takes round after round, each in an order of its own, so that
// drift hits all cells alike.
func (p Plan) interleaved(chains int, random *rand.Rand) iter.Seq[turn] {
	return func(yield func(turn) bool) {
		for i := range p.Warmup + p.Samples {
			for _, c := range random.Perm(chains) {
				if !yield(p.turn(c, i)) {
					return
				}
			}
		}
	}
}

func (p Plan) sequential(chains int) iter.Seq[turn] {
	return func(yield func(turn) bool) {
		for c := range chains {
			for i := range p.Warmup + p.Samples {
				if !yield(p.turn(c, i)) {
					return
				}
			}
		}
	}
}

// random shuffles all samples, after all warm-ups.
func (p Plan) random(chains int, random *rand.Rand) iter.Seq[turn] {
	return func(yield func(turn) bool) {
		taken := make([]int, chains)
		for _, part := range []int{p.Warmup, p.Samples} {
			for _, i := range random.Perm(chains * part) {
				c := i % chains
				if !yield(p.turn(c, taken[c])) {
					return
				}
				taken[c]++
			}
		}
	}
}

// turn is the i-th turn of a chain.
func (p Plan) turn(chain, i int) turn {
	if i < p.Warmup {
		return turn{chain, i, true}
	}
	return turn{chain, i - p.Warmup, false}
}
