package replicate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTopologies(t *testing.T) {
	for _, c := range []struct {
		name     string
		n        int
		edges    []edge
		filled   int
		moves    int
		consumed bool
	}{
		{"1-1", 1, []edge{{0, 1}}, 1, 1, false},
		{"1-n", 3, []edge{{0, 1}, {0, 2}, {0, 3}}, 1, 3, false},
		{"n-1", 3, []edge{{0, 3}, {1, 3}, {2, 3}}, 3, 3, false},
		{"n-n", 2, []edge{{0, 1}, {2, 3}}, 2, 2, false},
		{"chain", 4, []edge{{0, 1}, {1, 2}, {2, 3}}, 1, 3, false},
		{"all", 3, []edge{{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}}, 3, 6, true},
	} {
		top, err := topologyOf(c.name)
		if err != nil {
			t.Fatal(err)
		}
		l := top.lay(c.n)
		if diff := cmp.Diff(c.edges, l.edges, cmp.AllowUnexported(edge{})); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if l.filled() != c.filled || l.moves() != c.moves || l.consumed() != c.consumed {
			t.Errorf("%s: filled %d, moves %d, consumed %v", c.name, l.filled(), l.moves(), l.consumed())
		}
		for _, e := range l.edges {
			if e.from == e.to {
				t.Errorf("%s replicates %d to itself", c.name, e.from)
			}
		}
	}
	if _, err := topologyOf("ring"); !says(err, "use one of 1-1") {
		t.Errorf("an unknown topology: %v", err)
	}
}
