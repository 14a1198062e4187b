package replicate

import (
	"fmt"
	"strings"
)

// database is one database of a topology.
type database struct {
	filled bool // holds a source's documents before the first job
	remote bool // lives on the target's server, not on the source's
}

// edge is one job: from database to database, by index.
type edge struct{ from, to int }

// layout is a topology of a certain n.
type layout struct {
	databases []database
	edges     []edge
	chained   bool // one-shot jobs run one after another, in the order of edges
}

// topology makes layouts. n is 1 or more, and at least least.
type topology struct {
	name  string
	least int
	lay   func(n int) layout
}

// topologies lists what --topology takes.
var topologies = []topology{
	{"1-1", 1, func(int) layout { return pairs(1) }},
	{"1-n", 1, fanOut},
	{"n-1", 1, fanIn},
	{"n-n", 1, pairs},
	{"chain", 2, chain},
	{"all", 2, allPairs},
}

// Topologies lists the names that a Plan's Topologies may hold.
func Topologies() []string {
	var names []string
	for _, t := range topologies {
		names = append(names, t.name)
	}
	return names
}

func topologyOf(name string) (topology, error) {
	for _, t := range topologies {
		if t.name == name {
			return t, nil
		}
	}
	return topology{}, fmt.Errorf("topology %q is unknown: use one of %s", name, strings.Join(Topologies(), ", "))
}

// pairs is n sources, each with a target of its own.
func pairs(n int) layout {
	var l layout
	for i := range n {
		l.databases = append(l.databases, database{filled: true}, database{remote: true})
		l.edges = append(l.edges, edge{2 * i, 2*i + 1})
	}
	return l
}

// fanOut is one source and n targets.
func fanOut(n int) layout {
	l := layout{databases: []database{{filled: true}}}
	for i := range n {
		l.databases = append(l.databases, database{remote: true})
		l.edges = append(l.edges, edge{0, i + 1})
	}
	return l
}

// fanIn is n sources and one target, which is the last database.
func fanIn(n int) layout {
	var l layout
	for i := range n {
		l.databases = append(l.databases, database{filled: true})
		l.edges = append(l.edges, edge{i, n})
	}
	l.databases = append(l.databases, database{remote: true})
	return l
}

// chain is 1→2→…→n. Neighbours live on different servers, so that each hop
// crosses from one to the other.
func chain(n int) layout {
	l := layout{chained: true}
	for i := range n {
		l.databases = append(l.databases, database{filled: i == 0, remote: i%2 == 1})
		if i > 0 {
			l.edges = append(l.edges, edge{i - 1, i})
		}
	}
	return l
}

// allPairs is i→j for all i and j of n but i→i. Databases live on the source's
// and the target's server by turns.
func allPairs(n int) layout {
	var l layout
	for i := range n {
		l.databases = append(l.databases, database{filled: true, remote: i%2 == 1})
		for j := range n {
			if i != j {
				l.edges = append(l.edges, edge{i, j})
			}
		}
	}
	return l
}

// origins says for every database which filled databases' documents it must
// hold once all jobs have ended: those that a path of edges leads from, and
// its own. With one-shot jobs started together a document travels one edge,
// which suffices for all topologies here.
func (l layout) origins() [][]int {
	holds := make([]map[int]bool, len(l.databases))
	for i, d := range l.databases {
		holds[i] = map[int]bool{}
		if d.filled {
			holds[i][i] = true
		}
	}
	for _, e := range l.edges {
		for o := range holds[e.from] {
			holds[e.to][o] = true
		}
	}
	var lists [][]int
	for i := range holds {
		var list []int
		for o := range l.databases {
			if holds[i][o] {
				list = append(list, o)
			}
		}
		lists = append(lists, list)
	}
	return lists
}

// consumed says whether a sample changes its filled databases, which then
// cannot serve the next one.
func (l layout) consumed() bool {
	for _, e := range l.edges {
		if l.databases[e.to].filled {
			return true
		}
	}
	return false
}

// targets lists the databases that jobs write to.
func (l layout) targets() []int {
	var list []int
	for i := range l.databases {
		for _, e := range l.edges {
			if e.to == i {
				list = append(list, i)
				break
			}
		}
	}
	return list
}
