// Package rounds decides which sample is taken next, and when a cell gets no
// more of them.
package rounds

import (
	"iter"
	"math/rand/v2"
)

// The orders in which samples are taken.
const (
	Interleaved = "interleaved" // round after round, each in an order of its own, so that drift hits all cells alike
	Random      = "random"      // all samples shuffled, after all warm-ups
	Sequential  = "sequential"  // one cell after another
)

// Orders lists them, the default first.
func Orders() []string { return []string{Interleaved, Random, Sequential} }

// Turn is one sample to be taken of what is scheduled as one: a cell, or cells
// whose samples follow each other.
type Turn struct {
	Index  int // of what is scheduled, from 0
	Round  int // from 0; warm-ups count on their own
	Warmup bool
}

// Schedule is how many samples are taken of each, and in which order.
type Schedule struct {
	Warmup, Samples int
	Order           string // "" is Interleaved
	Seed            uint64
}

// Turns is the order of the samples of n things: always the same for a seed.
func (s Schedule) Turns(n int) iter.Seq[Turn] {
	random := rand.New(rand.NewPCG(s.Seed, 0))
	switch s.Order {
	case Sequential:
		return s.sequential(n)
	case Random:
		return s.random(n, random)
	default:
		return s.interleaved(n, random)
	}
}

func (s Schedule) interleaved(n int, random *rand.Rand) iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		for i := range s.Warmup + s.Samples {
			for _, index := range random.Perm(n) {
				if !yield(s.turn(index, i)) {
					return
				}
			}
		}
	}
}

func (s Schedule) sequential(n int) iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		for index := range n {
			for i := range s.Warmup + s.Samples {
				if !yield(s.turn(index, i)) {
					return
				}
			}
		}
	}
}

func (s Schedule) random(n int, random *rand.Rand) iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		taken := make([]int, n)
		for _, part := range []int{s.Warmup, s.Samples} {
			for _, i := range random.Perm(n * part) {
				index := i % n
				if !yield(s.turn(index, taken[index])) {
					return
				}
				taken[index]++
			}
		}
	}
}

// turn is the i-th turn of one.
func (s Schedule) turn(index, i int) Turn {
	if i < s.Warmup {
		return Turn{index, i, true}
	}
	return Turn{index, i - s.Warmup, false}
}
