package refserver

import "slices"

// A tree is the revision tree of a document, or rather the forest: where old
// revisions were cut off (stemming), or where a replicated history shares
// nothing with what is here, there are several roots. Parents come before their
// children in nodes.
type tree struct {
	nodes []node
}

// node is one revision. Revisions whose content is not here, because only their
// ids came with a replicated history, have body 0.
type node struct {
	rev
	parent  int    // index in nodes, noParent at a root
	body    uint64 // key of the content in the bodies bucket
	size    int64  // bytes of body and attachments, decoded
	stored  int64  // bytes of body and attachments, as stored
	deleted bool
}

const noParent = -1

// mergeResult says what merging a history did to a tree, in the terms of
// CouchDB's couch_key_tree.
type mergeResult int

const (
	nothingNew mergeResult = iota // the revision was there already
	newLeaf                       // it extends a leaf, or is the first revision
	newBranch                     // it is a conflict
)

// find is the index of r, or noParent.
func (t *tree) find(r rev) int {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		if t.nodes[i].rev == r {
			return i
		}
	}
	return noParent
}

// childless marks the leaves.
func (t *tree) childless() []bool {
	leaf := make([]bool, len(t.nodes))
	for i := range leaf {
		leaf[i] = true
	}
	for _, n := range t.nodes {
		if n.parent != noParent {
			leaf[n.parent] = false
		}
	}
	return leaf
}

// leaves are the indexes of the leaves, the winner first: revisions that are not
// deleted before those that are, then by generation and id, highest first.
func (t *tree) leaves() []int {
	var out []int
	for i, leaf := range t.childless() {
		if leaf {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b int) int {
		x, y := &t.nodes[a], &t.nodes[b]
		switch {
		case !x.deleted && y.deleted:
			return -1
		case x.deleted && !y.deleted:
			return 1
		}
		return y.compare(x.rev)
	})
	return out
}

// deleted says that no leaf is alive.
func (t *tree) deleted() bool {
	for i, leaf := range t.childless() {
		if leaf && !t.nodes[i].deleted {
			return false
		}
	}
	return true
}

// path is the history of node i: indexes from i itself to its root.
func (t *tree) path(i int) []int {
	var out []int
	for ; i != noParent; i = t.nodes[i].parent {
		out = append(out, i)
	}
	return out
}

// pathIDs are the ids along path(i), newest first.
func (t *tree) pathIDs(i int) []string {
	var out []string
	for ; i != noParent; i = t.nodes[i].parent {
		out = append(out, t.nodes[i].id)
	}
	return out
}

// below are the leaves that descend from i, or i itself when it is one.
func (t *tree) below(i int) []int {
	under := make([]bool, len(t.nodes))
	under[i] = true
	for j := i + 1; j < len(t.nodes); j++ {
		if p := t.nodes[j].parent; p != noParent && under[p] {
			under[j] = true
		}
	}
	var out []int
	for _, j := range t.leaves() {
		if under[j] {
			out = append(out, j)
		}
	}
	return out
}

// child is the child of parent (noParent: a root) that is r.
func (t *tree) child(parent int, r rev) int {
	for i := parent + 1; i < len(t.nodes); i++ {
		if n := &t.nodes[i]; n.parent == parent && n.rev == r {
			return i
		}
	}
	return noParent
}

// merge adds the history ids (newest first; the newest is revision leaf.pos and
// has the content of leaf) to the tree. changed is false when the tree holds
// all of it already.
//
// A history joins a tree where both reach back to: the later of the two oldest
// revisions must be in both. If it is in neither of the trees, the history is a
// tree of its own.
func (t *tree) merge(ids []string, leaf node) (res mergeResult, changed bool) {
	oldest := leaf.pos - len(ids) + 1
	at := func(pos int) rev { return rev{pos, ids[leaf.pos-pos]} }

	joint := t.find(at(oldest))
	if joint == noParent {
		joint = t.rootIn(oldest, leaf.pos, at)
		if joint != noParent {
			joint = t.prepend(joint, oldest, at)
			changed = true
		}
	}
	fork := joint != noParent
	cur, pos := joint, oldest-1
	if fork {
		pos = t.nodes[joint].pos
		for pos < leaf.pos {
			next := t.child(cur, at(pos+1))
			if next == noParent {
				break
			}
			cur, pos = next, pos+1
		}
	}
	if pos == leaf.pos {
		return nothingNew, changed
	}
	res = newLeaf
	if fork && !t.childless()[cur] || !fork && len(t.nodes) > 0 {
		res = newBranch
	}
	for pos < leaf.pos {
		pos++
		n := node{rev: at(pos), parent: cur}
		if pos == leaf.pos {
			n = leaf
			n.rev, n.parent = at(pos), cur
		}
		t.nodes = append(t.nodes, n)
		cur = len(t.nodes) - 1
	}
	return res, true
}

// rootIn finds a root, younger than oldest, that is in the history too.
func (t *tree) rootIn(oldest, newest int, at func(int) rev) int {
	for i, n := range t.nodes {
		if n.parent == noParent && n.pos > oldest && n.pos <= newest && at(n.pos) == n.rev {
			return i
		}
	}
	return noParent
}

// prepend gives the root at index i the older revisions of a history, back to
// generation oldest, and returns the root's new index.
func (t *tree) prepend(i, oldest int, at func(int) rev) int {
	older := make([]node, 0, t.nodes[i].pos-oldest+len(t.nodes))
	for pos := oldest; pos < t.nodes[i].pos; pos++ {
		older = append(older, node{rev: at(pos), parent: len(older) - 1})
	}
	shift := len(older)
	for j, n := range t.nodes {
		switch {
		case j == i:
			n.parent = shift - 1
		case n.parent != noParent:
			n.parent += shift
		}
		older = append(older, n)
	}
	t.nodes = older
	return i + shift
}

// stem cuts every history to its limit newest revisions and returns what was
// cut off.
func (t *tree) stem(limit int) (cut []node) {
	keep := make([]bool, len(t.nodes))
	deepest := 0
	for i, leaf := range t.childless() {
		if !leaf {
			continue
		}
		n := 0
		for j := i; j != noParent && n < limit; j = t.nodes[j].parent {
			keep[j] = true
			n++
		}
		deepest = max(deepest, n)
	}
	if deepest < limit {
		return nil
	}
	index := make([]int, len(t.nodes))
	kept := t.nodes[:0:0]
	for i, n := range t.nodes {
		if !keep[i] {
			cut = append(cut, n)
			continue
		}
		if n.parent != noParent {
			if keep[n.parent] {
				n.parent = index[n.parent]
			} else {
				n.parent = noParent
			}
		}
		index[i] = len(kept)
		kept = append(kept, n)
	}
	t.nodes = kept
	return cut
}

// missing are those of revs that are not in the tree, and possibleAncestors the
// leaves that might be ancestors of them: CouchDB's answer to _revs_diff.
func (t *tree) missing(revs []rev) (missing, possibleAncestors []rev) {
	for _, r := range revs {
		if t.find(r) == noParent {
			missing = append(missing, r)
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	newest := 0
	for _, r := range missing {
		newest = max(newest, r.pos)
	}
	for _, i := range t.leaves() {
		if t.nodes[i].pos < newest {
			possibleAncestors = append(possibleAncestors, t.nodes[i].rev)
		}
	}
	return missing, possibleAncestors
}
