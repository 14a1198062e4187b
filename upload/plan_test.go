package upload

import (
	"strings"
	"testing"

	"couchgauge/gen"

	"github.com/google/go-cmp/cmp"
)

func TestCellsAreTheProductOfTheLevels(t *testing.T) {
	p := Plan{Methods: []string{"base64", "raw"}, Sizes: sizes(t, "1kB,1MB"), Expect: []bool{false, true}, Samples: 1, Append: 2}
	cells := p.Cells()
	if len(cells) != 16 {
		t.Fatalf("%d cells, want 16", len(cells))
	}
	seen := map[Cell]bool{}
	for _, c := range cells {
		seen[c] = true
	}
	if len(seen) != 16 {
		t.Errorf("%d different cells, want 16", len(seen))
	}
	want := Cell{
		Method: "base64", Size: gen.Size{Text: "1kB", Bytes: 1000}, Attachments: 1, Content: gen.Random,
		ContentType: "application/octet-stream", Concurrency: 1, Transfer: Length, Encoding: Identity,
		KeepAlive: true, NewEdits: true, Docs: New, Ordinal: 1,
	}
	if diff := cmp.Diff(want, cells[0]); diff != "" {
		t.Errorf("first cell (-want +got):\n%s", diff)
	}
}

// TestLevelsThatAreGivenTwice count once, in every list.
func TestLevelsThatAreGivenTwice(t *testing.T) {
	p := Plan{
		Methods: []string{"base64", "raw", "base64"}, Sizes: []gen.Size{{Text: "1kB", Bytes: 1000}, {Text: "1000", Bytes: 1000}},
		Attachments: []int{1, 1}, Contents: []gen.Content{gen.Text, gen.Text}, ContentTypes: []string{"text/plain", "text/plain"},
		Concurrency: []int{2, 2}, Expect: []bool{true, true}, Transfer: []string{Length, Length}, Encoding: []string{Identity, Identity},
		KeepAlive: []bool{false, false}, NewEdits: []bool{true, true}, Docs: []string{New, New}, Samples: 1,
	}
	var got []string
	for _, c := range p.Cells() {
		got = append(got, c.String())
	}
	if diff := cmp.Diff([]string{"base64 1kB", "raw 1kB"}, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

// TestBaselineCanBeMeasured: a cell is not compared with one without samples.
func TestBaselineCanBeMeasured(t *testing.T) {
	p := Plan{Methods: []string{"form", "raw", "multipart", "bulk"}, Sizes: sizes(t, "1"), NewEdits: []bool{true, false}, Samples: 1}
	_, records, err := p.subjects()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range records {
		base := records[r.Baseline]
		got = append(got, r.Levels[0].Text+" "+r.Impossible+"<"+base.Levels[0].Text)
		if base.Impossible != "" && base != r {
			t.Errorf("cell %d is compared with one that is impossible", r.ID)
		}
	}
	want := []string{
		"form <raw", "raw <raw", "multipart <raw", "bulk <raw",
		"form a form takes no new_edits=false<multipart", "raw the attachment API takes no new_edits=false<multipart",
		"multipart <multipart", "bulk <multipart",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("baselines (-want +got):\n%s", diff)
	}
}

func TestBaseline(t *testing.T) {
	for _, c := range []struct {
		methods []string
		want    string
	}{
		{[]string{"base64", "raw", "form"}, "raw"},
		{[]string{"form", "bulk"}, "form"},
	} {
		p := Plan{Methods: c.methods, Sizes: sizes(t, "1,2"), Expect: []bool{false, true}, Samples: 1}
		subjects, records, err := p.subjects()
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range records {
			base := subjects[r.Baseline].Cell
			want := subjects[i].Cell
			want.Method = c.want
			if base != want {
				t.Errorf("%v is compared with %v", subjects[i].Cell, base)
			}
		}
	}
}

func TestLevelsArePrintedAsGiven(t *testing.T) {
	p := Plan{Sizes: sizes(t, "10^3"), Expect: []bool{true}, Samples: 1}
	got := map[string]any{}
	for _, l := range p.Cells()[0].Levels() {
		got[l.Factor] = l.Value
		if l.Factor == "size_bytes" && l.Text != "10^3" {
			t.Errorf("size is shown as %q", l.Text)
		}
	}
	want := map[string]any{
		"method": "raw", "size_bytes": int64(1000), "attachments": 1, "content": "random", "content_type": "application/octet-stream",
		"concurrency": 1, "expect": "on", "transfer": "length", "encoding": "identity", "keep_alive": "on", "new_edits": "on", "docs": "new",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
}

// TestBytes: the plan of U15 is known to be too large before it writes a byte.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		name     string
		plan     Plan
		from, to int64
	}{
		{"U15", Plan{Methods: []string{"raw", "base64", "multipart", "bulk"}, Sizes: sizes(t, "10^1..10^9"), Samples: 10}, 51e9, 53e9},
		{"warm-ups count", Plan{Sizes: sizes(t, "1MB"), Samples: 2, Warmup: 1}, 3e6, 3e6},
		{"attachments and concurrency count", Plan{Methods: []string{"raw", "bulk"}, Sizes: sizes(t, "3MB"), Attachments: []int{5}, Concurrency: []int{2}, Samples: 1}, 70e6, 70.01e6},
		{"what a method cannot do is not written", Plan{Methods: []string{"raw", "form"}, Sizes: sizes(t, "1MB"), Encoding: []string{Gzip}, Samples: 1}, 1e6, 1e6},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.plan.Bytes(); got < c.from || got > c.to {
				t.Errorf("%d bytes, want %d to %d", got, c.from, c.to)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	good := Plan{Sizes: sizes(t, "1kB"), Samples: 1}
	if err := good.Check(); err != nil {
		t.Errorf("a plan with defaults: %v", err)
	}
	for _, c := range []struct {
		name   string
		change func(*Plan)
		want   string
	}{
		{"no size", func(p *Plan) { p.Sizes = nil }, "no size"},
		{"no samples", func(p *Plan) { p.Samples = 0 }, "at least 1"},
		{"negative warm-ups", func(p *Plan) { p.Warmup = -1 }, "negative"},
		{"unknown method", func(p *Plan) { p.Methods = []string{"raw", "put"} }, `method "put" is unknown: use one of raw, base64`},
		{"no method", func(p *Plan) { p.Methods = []string{} }, "no level of method is given"},
		{"an empty method", func(p *Plan) { p.Methods = []string{"raw", ""} }, `method "" is unknown`},
		{"no content type", func(p *Plan) { p.ContentTypes = []string{} }, "no level of content-type is given"},
		{"an empty content type", func(p *Plan) { p.ContentTypes = []string{"text/plain", ""} }, "a content type is empty"},
		{"no level of a switch", func(p *Plan) { p.Expect = []bool{} }, "no level of expect is given"},
		{"nothing possible", func(p *Plan) { p.Methods, p.Encoding = []string{"form", "multipart"}, []string{Gzip} },
			"nothing of this can be measured: form 1kB: servers do not decode a gzip form"},
		{"no attachments", func(p *Plan) { p.Attachments = []int{0} }, "1 or more"},
		{"no concurrency", func(p *Plan) { p.Concurrency = []int{1, 0} }, "1 or more"},
		{"two ways of several attachments", func(p *Plan) { p.Attachments, p.Append = []int{2}, 2 }, "exclude"},
		{"transfer", func(p *Plan) { p.Transfer = []string{"stream"} }, `transfer "stream"`},
		{"encoding", func(p *Plan) { p.Encoding = []string{"br"} }, `encoding "br"`},
		{"docs", func(p *Plan) { p.Docs = []string{"old"} }, `docs "old"`},
		{"order", func(p *Plan) { p.Order = "backwards" }, `order "backwards"`},
		{"verify", func(p *Plan) { p.Verify = "on" }, `verify "on"`},
		{"names", func(p *Plan) { p.Names = "odd" }, `names "odd"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := good
			c.change(&p)
			if err := p.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestWhatAMethodCannotDo(t *testing.T) {
	for _, c := range []struct {
		method string
		change func(*Cell)
		can    bool
	}{
		{"raw", func(c *Cell) { c.Encoding = Gzip }, true},
		{"base64", func(c *Cell) { c.Encoding = Gzip }, true},
		{"bulk", func(c *Cell) { c.Encoding = Gzip }, true},
		{"multipart", func(c *Cell) { c.Encoding = Gzip }, false},
		{"form", func(c *Cell) { c.Encoding = Gzip }, false},
		{"raw", func(c *Cell) { c.Transfer = Chunked }, true},
		{"multipart", func(c *Cell) { c.Transfer = Chunked }, true},
		{"form", func(c *Cell) { c.Transfer = Chunked }, false},
		{"raw", func(c *Cell) { c.NewEdits = false }, false},
		{"form", func(c *Cell) { c.NewEdits = false }, false},
		{"base64", func(c *Cell) { c.NewEdits = false }, true},
		{"multipart", func(c *Cell) { c.NewEdits = false }, true},
		{"bulk", func(c *Cell) { c.NewEdits = false }, true},
		{"base64", func(c *Cell) { c.NewEdits, c.Docs = false, Existing }, false},
		{"base64", func(c *Cell) { c.NewEdits, c.Ordinal = false, 1 }, false},
	} {
		cell := Plan{Methods: []string{c.method}, Sizes: sizes(t, "1")}.Cells()[0]
		c.change(&cell)
		if err := (Plan{}).impossible(cell); (err == nil) != c.can {
			t.Errorf("%+v: %v", cell, err)
		}
	}
}
