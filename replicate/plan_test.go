package replicate

import (
	"testing"
	"time"

	"couchgauge/gen"
)

func TestCells(t *testing.T) {
	size := func(s string) gen.Size {
		x, err := gen.ParseSize(s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	set, err := ParseSet("use_bulk_get=true,false")
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{
		Docs: []int64{10, 20}, DocSizes: []gen.Size{size("1kB")}, Topologies: []string{"1-1", "n-n"}, N: []int{2, 3},
		Set: []Setting{set}, Drivers: []string{"replicate", "couchgauge"}, Samples: 2,
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	cells := p.Cells()
	if want := 2 + 2*3*2*2; len(cells) != want { // fills, and docs × layouts × set × drivers
		t.Fatalf("%d cells, want %d", len(cells), want)
	}
	baselines := map[int]int{}
	for i, c := range cells {
		if c.ID != i {
			t.Errorf("cell %d has the ID %d", i, c.ID)
		}
		baselines[c.Baseline]++
	}
	if len(baselines) != 2+2*3 {
		t.Errorf("%d baselines, want one for each filling and each data in each layout: %v", len(baselines), baselines)
	}
	// 2 samples × drivers × set levels × (1 + 2 + 3 moves) × 30 documents, and
	// the sources: 3 of each shape.
	least := int64(2 * 4 * 6 * 30 * 1000)
	if got := p.Bytes(); got < least || got > least+3*30*1500 {
		t.Errorf("it writes %d bytes, want %d and the sources", got, least)
	}
}

// What is written where a database is filled, and where one is replicated to.
func TestBytesBySide(t *testing.T) {
	const docs, docBytes = 100, 1000
	filled := Plan{Docs: []int64{docs}}.withDefaults().grid()[0].shape.written()
	const payload = docs * docBytes
	for _, tt := range []struct {
		name           string
		plan           Plan
		source, target int64
	}{
		{"1-1", Plan{}, filled, 3 * payload},
		{"n-1", Plan{Topologies: []string{"n-1"}}, 2 * filled, 3 * 2 * payload},
		{"chain of 3", Plan{Topologies: []string{"chain"}, N: []int{3}}, filled + 3*payload, 3 * payload},
		{"all of 2, filled on both sides for each sample", Plan{Topologies: []string{"all"}}, 3 * (filled + payload), 3 * (filled + payload)},
		{"continuous, 20 more", Plan{Rate: 10, For: 2 * time.Second}, 3 * (filled + 20*docBytes), 3 * (payload + 20*docBytes)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.plan.Docs, tt.plan.Samples, tt.plan.Warmup = []int64{docs}, 2, 1
			source, target := tt.plan.BytesBySide()
			if source != tt.source || target != tt.target {
				t.Errorf("%d bytes to the source and %d to the target, want %d and %d", source, target, tt.source, tt.target)
			}
			if all := tt.plan.Bytes(); all != source+target {
				t.Errorf("%d bytes in all, not their sum", all)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	ok := Plan{Samples: 1}
	for _, c := range []struct {
		name   string
		change func(*Plan)
		want   string
	}{
		{"defaults", func(*Plan) {}, ""},
		{"topology", func(p *Plan) { p.Topologies = []string{"ring"} }, "use one of 1-1"},
		{"driver", func(p *Plan) { p.Drivers = []string{"kivik"} }, "use one of replicate"},
		{"chain of one", func(p *Plan) { p.Topologies, p.N = []string{"chain"}, []int{1} }, "2 or more"},
		{"too many", func(p *Plan) { p.Topologies, p.N = []string{"1-n"}, []int{1000} }, "99 is the most"},
		{"order", func(p *Plan) { p.Order = "any" }, "use one of interleaved"},
		{"no samples", func(p *Plan) { p.Samples = 0 }, "one sample"},
		{"no documents", func(p *Plan) { p.Docs = []int64{0} }, "docs must be"},
		{"deleted", func(p *Plan) { p.Deleted = []float64{2} }, "between 0 and 1"},
		{"tiny documents", func(p *Plan) { p.DocSizes = []gen.Size{{Bytes: 3}} }, "they can have"},
		{"split into a document that is too large", func(p *Plan) {
			p.Docs, p.DocSizes, p.Split = []int64{1000}, []gen.Size{{Bytes: 10000}}, []int64{1, 1000}
		}, "--attachment-size"},
		{"updates of conflicts", func(p *Plan) { p.Updates, p.Conflicts = 1, []int{2} }, "without conflicts"},
		{"updates of many", func(p *Plan) { p.Updates, p.Topologies = 1, []string{"n-n"} }, "1-1"},
		{"continuous without a rate", func(p *Plan) { p.For = time.Second }, "rate"},
		{"continuous and doc_ids", func(p *Plan) {
			f, err := ParseFilter("doc_ids:0.5", nil)
			if err != nil {
				t.Fatal(err)
			}
			p.For, p.Rate, p.Filters = time.Second, 1, []Filter{f}
		}, "known which new documents"},
		{"verification", func(p *Plan) { p.Verify = "maybe" }, "digest, bytes or off"},
	} {
		p := ok
		c.change(&p)
		if err := p.Check(); !says(err, c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
