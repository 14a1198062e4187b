package refserver

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// model is the naive tree: which revision is whose parent.
type model map[rev]rev

func (m model) leaves(deleted map[rev]bool) []rev {
	var out []rev
	parents := map[rev]bool{}
	for _, p := range m {
		parents[p] = true
	}
	for r := range m {
		if !parents[r] {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b rev) int {
		if deleted[a] != deleted[b] {
			if deleted[a] {
				return 1
			}
			return -1
		}
		return b.compare(a)
	})
	return out
}

func (m model) history(r rev) (ids []string) {
	for ; r.pos > 0; r = m[r] {
		ids = append(ids, r.id)
	}
	return ids
}

// randomModel grows a tree of n revisions with up to three roots.
func randomModel(rnd *rand.Rand, n int) (model, []rev) {
	m, all := model{}, []rev{{}}
	for i := range n {
		p := all[rnd.IntN(len(all))]
		if i > 2 && p.pos == 0 {
			p = all[1+rnd.IntN(len(all)-1)]
		}
		r := rev{p.pos + 1, fmt.Sprintf("%04x", rnd.IntN(1<<16))}
		if _, taken := m[r]; taken {
			continue
		}
		m[r] = p
		all = append(all, r)
	}
	return m, all[1:]
}

func treeLeaves(t *tree) (out []rev) {
	for _, i := range t.leaves() {
		out = append(out, t.nodes[i].rev)
	}
	return out
}

// checkTree holds a tree to what every tree is.
func checkTree(t *testing.T, tr *tree) {
	t.Helper()
	for i, n := range tr.nodes {
		if n.parent >= i || n.parent != noParent && tr.nodes[n.parent].pos != n.pos-1 {
			t.Fatalf("node %d (%s) has parent %d", i, n.rev, n.parent)
		}
	}
	d := docRecord{seq: 9, tree: *tr}
	got, err := decodeDocRecord(d.encode())
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.nodes) > 0 && !reflect.DeepEqual(got.tree, *tr) {
		t.Fatalf("encoded and decoded:\n%v\nbecomes\n%v", tr, got.tree)
	}
}

func TestTreeIsTheModel(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		m, all := randomModel(rnd, 1+rnd.IntN(40))
		deleted := map[rev]bool{}
		var tr tree
		rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		body := uint64(0)
		for _, r := range all {
			leaf := node{rev: r, deleted: rnd.IntN(3) == 0, body: body + 1, size: 5, stored: 5}
			known := tr.find(r) != noParent
			res, changed := tr.merge(m.history(r), leaf)
			if known != (res == nothingNew) || known == changed {
				t.Fatalf("seed %d: merge of %s (known %v) says %v, changed %v", seed, r, known, res, changed)
			}
			if !known {
				body++
				deleted[r] = leaf.deleted
			}
			checkTree(t, &tr)
		}
		if got, want := treeLeaves(&tr), m.leaves(deleted); !slices.Equal(got, want) {
			t.Fatalf("seed %d: leaves %v, want %v", seed, got, want)
		}
		for _, r := range all {
			if got := tr.pathIDs(tr.find(r)); !slices.Equal(got, m.history(r)) {
				t.Fatalf("seed %d: history of %s is %v, want %v", seed, r, got, m.history(r))
			}
		}
	}
}

func TestTreeOfCutHistories(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		m, all := randomModel(rnd, 1+rnd.IntN(40))
		var tr tree
		for range 60 {
			r := all[rnd.IntN(len(all))]
			h := m.history(r)
			h = h[:1+rnd.IntN(len(h))]
			tr.merge(h, node{rev: r, body: 1})
			checkTree(t, &tr)
			before := len(tr.nodes)
			if res, changed := tr.merge(h, node{rev: r, body: 1}); res != nothingNew || changed || len(tr.nodes) != before {
				t.Fatalf("seed %d: the same history again: %v, changed %v", seed, res, changed)
			}
			if tr.find(r) == noParent {
				t.Fatalf("seed %d: %s is lost", seed, r)
			}
		}
		limit := 1 + rnd.IntN(5)
		leaves := treeLeaves(&tr)
		tr.stem(limit)
		checkTree(t, &tr)
		if got := treeLeaves(&tr); !slices.Equal(got, leaves) {
			t.Fatalf("seed %d: stemming to %d changes the leaves from %v to %v", seed, limit, leaves, got)
		}
		for _, i := range tr.leaves() {
			// Another leaf may keep more of a history that they share.
			if n := len(tr.path(i)); n > limit && len(leaves) == 1 {
				t.Fatalf("seed %d: a history of %d revisions after stemming to %d", seed, n, limit)
			}
		}
	}
}

func TestTreeMergeResults(t *testing.T) {
	base := func() *tree {
		t := &tree{}
		t.merge([]string{"c", "b", "a"}, node{rev: rev{3, "c"}, body: 1})
		return t
	}
	for _, c := range []struct {
		name string
		pos  int
		ids  []string
		want mergeResult
		size int
	}{
		{"extends the leaf", 4, []string{"d", "c"}, newLeaf, 4},
		{"branches off", 3, []string{"x", "b", "a"}, newBranch, 4},
		{"is there", 2, []string{"b", "a"}, nothingNew, 3},
		{"shares nothing", 9, []string{"z", "y"}, newBranch, 5},
		{"knows an older past", 4, []string{"d", "c", "b", "a"}, newLeaf, 4},
		{"same id, other past", 3, []string{"c", "x"}, newBranch, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := base()
			if res, _ := tr.merge(c.ids, node{rev: rev{c.pos, c.ids[0]}, body: 2}); res != c.want || len(tr.nodes) != c.size {
				t.Errorf("merge says %v and has %d nodes, want %v and %d", res, len(tr.nodes), c.want, c.size)
			}
		})
	}
	tr := &tree{}
	tr.merge([]string{"f", "e"}, node{rev: rev{6, "f"}, body: 1})
	if res, changed := tr.merge([]string{"f", "e", "d", "c"}, node{rev: rev{6, "f"}, body: 2}); res != nothingNew || !changed || len(tr.pathIDs(tr.find(rev{6, "f"}))) != 4 {
		t.Errorf("an older past: %v, changed %v, %v", res, changed, tr.nodes)
	}
}

func TestRevisionText(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{"1-D41D8CD98F00B204E9800998ECF8427E", "1-d41d8cd98f00b204e9800998ecf8427e"},
		{"12-abc", "12-abc"}, {"0-5", "0-5"}, {"3-a-b", "3-a-b"}, {"1-", "1-"},
		{"1", ""}, {"x-1", ""}, {"-1-a", ""}, {"", ""}, {"1-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", ""},
	} {
		r, err := parseRev(c.in)
		if c.out == "" {
			if err == nil {
				t.Errorf("%q is taken for %s", c.in, r)
			}
			continue
		}
		if err != nil || r.String() != c.out {
			t.Errorf("%q: %s, %v, want %s", c.in, r, err, c.out)
		}
	}
}
