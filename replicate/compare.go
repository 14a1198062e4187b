package replicate

import (
	"context"
	"fmt"
	"hash/maphash"
	"strings"
)

// Two databases list their documents in different orders, and either may hold
// millions. So leaves are compared by fingerprint: each leaf is hashed to 128
// bits, which choose one of a fixed number of buckets and are added to its
// sum. Equal sums in all buckets mean equal sets of leaves. Only where a bucket
// differs are its leaves themselves compared, in further passes that hold a
// bounded number of them. Sorting both sides to disk was the alternative: it
// needs the space of both, and this needs one pass where nothing is wrong.

const (
	buckets = 1 << 12
	// heldLeaves bounds the leaves in memory, 16 bytes and a map's cost each.
	heldLeaves = 1 << 18
	// namedLeaves is how many differing leaves are named; the rest are counted.
	namedLeaves = 10
)

// leafHash identifies a leaf revision. Two leaves share one by chance once in
// 2^128 pairs; the seeds are random, so nobody can choose them to.
type leafHash [2]uint64

func (h leafHash) bucket() int { return int(h[0] % buckets) }

// hasher makes leafHashes.
type hasher struct {
	seeds [2]maphash.Seed
	text  []byte
}

func newHasher() *hasher {
	return &hasher{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

func (h *hasher) of(id, rev string) leafHash {
	h.text = append(append(append(h.text[:0], id...), 0), rev...)
	return leafHash{maphash.Bytes(h.seeds[0], h.text), maphash.Bytes(h.seeds[1], h.text)}
}

// bucket is the fingerprint of the leaves that fall into it.
type bucket struct {
	leaves int64
	sum    leafHash
}

// fingerprint is that of a set of leaves.
type fingerprint [buckets]bucket

func (f *fingerprint) add(h leafHash) {
	b := &f[h.bucket()]
	b.leaves++
	b.sum[0] += h[0]
	b.sum[1] += h[1]
}

func (f *fingerprint) leaves() int64 {
	var n int64
	for i := range f {
		n += f[i].leaves
	}
	return n
}

// leafSet is a set of leaves that can be read again and again.
type leafSet []leafFeed

func (s leafSet) each(ctx context.Context, do func(id, rev string) error) error {
	for _, f := range s {
		err := f.each(ctx, func(d docLeaves) error {
			for _, rev := range d.revs {
				if err := do(d.id, rev); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// leafDiff is how two sets of leaves differ.
type leafDiff struct {
	Leaves  int64    `json:"leaves"` // that there should be
	Missing leafList `json:"missing"`
	Extra   leafList `json:"extra"`
}

// leafList counts leaves and names the first of them.
type leafList struct {
	Count int64    `json:"count"`
	Named []string `json:"named,omitempty"` // "doc-0000000042 2-abc…"
}

func (l *leafList) add(id, rev string) {
	l.Count++
	if len(l.Named) < namedLeaves {
		l.Named = append(l.Named, id+" "+rev)
	}
}

// String names the leaves: "a 1-x, b 1-y and 20 more".
func (l leafList) String() string {
	s := strings.Join(l.Named, ", ")
	if more := l.Count - int64(len(l.Named)); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// compareLeaves compares what there is with what there should be.
func compareLeaves(ctx context.Context, want, got leafSet) (leafDiff, error) {
	h := newHasher()
	var wanted, found fingerprint
	for _, side := range []struct {
		set leafSet
		sum *fingerprint
	}{{want, &wanted}, {got, &found}} {
		err := side.set.each(ctx, func(id, rev string) error {
			side.sum.add(h.of(id, rev))
			return nil
		})
		if err != nil {
			return leafDiff{}, err
		}
	}
	diff := leafDiff{Leaves: wanted.leaves()}
	for _, group := range differing(&wanted, &found) {
		if err := compareGroup(ctx, h, group, want, got, &diff); err != nil {
			return leafDiff{}, err
		}
	}
	return diff, nil
}

// group is a set of buckets.
type group [buckets]bool

// differing lists the buckets that differ, in groups of which the found leaves
// can be held.
func differing(wanted, found *fingerprint) []*group {
	var groups []*group
	var held int64
	for i := range wanted {
		if wanted[i] == found[i] {
			continue
		}
		if len(groups) == 0 || held+found[i].leaves > heldLeaves {
			groups = append(groups, new(group))
			held = 0
		}
		groups[len(groups)-1][i] = true
		held += found[i].leaves
	}
	return groups
}

// compareGroup compares the leaves of some buckets one by one.
func compareGroup(ctx context.Context, h *hasher, in *group, want, got leafSet, diff *leafDiff) error {
	held := map[leafHash]bool{}
	err := got.each(ctx, func(id, rev string) error {
		if x := h.of(id, rev); in[x.bucket()] {
			held[x] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = want.each(ctx, func(id, rev string) error {
		x := h.of(id, rev)
		if !in[x.bucket()] {
			return nil
		}
		if !held[x] {
			diff.Missing.add(id, rev)
		}
		delete(held, x)
		return nil
	})
	if err != nil || len(held) == 0 {
		return err
	}
	return got.each(ctx, func(id, rev string) error {
		if held[h.of(id, rev)] {
			diff.Extra.add(id, rev)
		}
		return nil
	})
}
