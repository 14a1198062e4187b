package replicate

import (
	"slices"
	"strconv"

	"couchgauge/gen"
	"couchgauge/results"
)

// cell is one combination of levels.
type cell struct {
	results.Cell
	shape    shape
	docBytes int64 // of a document, as asked for
	topology string
	layout   layout
	filter   Filter
	config   []chosenLevel
	set      []chosenLevel
	driver   string
	update   int // rounds of updates before it; its samples follow those of update-1
	fills    int // samples of a fill cell so far
}

// chosenLevel is a setting at one of its levels.
type chosenLevel struct {
	name string
	SettingLevel
}

// shapesOf lists the different data of cells, in their order.
func shapesOf(grid []cell) []shape {
	var list []shape
	for _, c := range grid {
		if !slices.Contains(list, c.shape) {
			list = append(list, c.shape)
		}
	}
	return list
}

// Cells lists the cells with their IDs: first one for filling each shape, then
// the replications.
func (p Plan) Cells() []results.Cell {
	var list []results.Cell
	for _, c := range p.withDefaults().cells() {
		list = append(list, c.Cell)
	}
	return list
}

// fillDriver is the driver of the rows that tell how fast sources are filled.
const fillDriver = "fill"

// cells is Cells with what belongs to them.
func (p Plan) cells() []cell {
	var list []cell
	add := func(c cell) {
		c.ID = len(list)
		c.Baseline = c.ID
		for _, b := range list {
			if b.driver != fillDriver && c.driver != fillDriver && sameWork(b, c) {
				c.Baseline = b.ID
				break
			}
		}
		list = append(list, c)
	}
	grid := p.grid()
	for _, s := range shapesOf(grid) {
		c := cell{shape: s, driver: fillDriver}
		c.Payload = s.payload()
		c.Levels = append([]results.Level{text("driver", fillDriver)}, s.levels(p)...)
		add(c)
	}
	for _, c := range grid {
		add(c)
	}
	return list
}

// sameWork says whether two cells move the same data the same way, so that
// the first of them is the baseline.
func sameWork(a, b cell) bool {
	sa, sb := a.shape, b.shape
	sa.design, sb.design = "", "" // the filter's, which is a setting
	return sa == sb && a.topology == b.topology && len(a.layout.edges) == len(b.layout.edges) && a.update == b.update
}

// grid is the product of all factors.
func (p Plan) grid() []cell {
	cells := []cell{{shape: shape{seed: p.Seed}}}
	cells = p.data(cells)
	for i := range cells {
		cells[i].shape.template = new(gen.Template)
		if t, err := p.templateOf(cells[i].docBytes); err == nil { // or Check has said so
			cells[i].shape.template = t
		}
	}
	cells = cross(cells, p.Topologies, func(c *cell, name string) { c.topology = name })
	cells = p.layouts(cells)
	cells = cross(cells, p.Filters, func(c *cell, f Filter) {
		c.filter = f
		c.shape.ranked = slices.ContainsFunc(p.Filters, func(f Filter) bool { return !f.all() && f.file == nil })
		c.shape.design = string(f.filtering(0, 0).content)
	})
	for _, s := range p.Config {
		cells = cross(cells, s.Levels, func(c *cell, l SettingLevel) {
			c.config = append(slices.Clone(c.config), chosenLevel{s.Name, l})
		})
	}
	for _, s := range p.Set {
		cells = cross(cells, s.Levels, func(c *cell, l SettingLevel) {
			c.set = append(slices.Clone(c.set), chosenLevel{s.Name, l})
		})
	}
	cells = cross(cells, p.Drivers, func(c *cell, d string) { c.driver = d })
	updates := []int{0}
	for k := range p.Updates {
		updates = append(updates, k+1)
	}
	cells = cross(cells, updates, func(c *cell, k int) { c.update = k })
	for i := range cells {
		cells[i].Payload = cells[i].payload()
		cells[i].Levels = cells[i].levels(p)
	}
	return cells
}

// data crosses the cells with the factors of the data.
func (p Plan) data(cells []cell) []cell {
	cells = cross(cells, p.Docs, func(c *cell, n int64) { c.shape.docs = n })
	cells = cross(cells, p.DocSizes, func(c *cell, size gen.Size) { c.docBytes = size.Bytes })
	var with []cell
	for _, count := range p.Attachments {
		if count == 0 && !slices.ContainsFunc(p.AttachmentSizes, func(a AttachmentSize) bool { return a.Count > 0 }) {
			with = append(with, cells...)
			continue
		}
		with = append(with, cross(cells, p.AttachmentSizes, func(c *cell, a AttachmentSize) {
			c.shape.count = count
			if a.Count > 0 {
				c.shape.count = a.Count
			}
			c.shape.attachment = gen.Attachment{Content: p.Content, Seed: p.Seed, Size: a.Size.Bytes}
		})...)
	}
	cells = with
	if len(p.Split) > 0 {
		cells = cross(cells, p.Split, func(c *cell, docs int64) { c.split(docs) })
	}
	cells = cross(cells, p.Revs, func(c *cell, n int) { c.shape.revs = n })
	cells = cross(cells, p.Conflicts, func(c *cell, n int) { c.shape.conflicts = n })
	return cross(cells, p.Deleted, func(c *cell, share float64) { c.shape.deleted = share })
}

// split spreads the same bytes over another number of documents: those of the
// attachments if there are any, else those of the documents.
func (c *cell) split(docs int64) {
	s := &c.shape
	if s.count > 0 {
		s.attachment.Size = s.attachment.Size * s.docs / docs
	} else {
		c.docBytes = c.docBytes * s.docs / docs
	}
	s.docs = docs
}

// layouts crosses the cells with n. The topology 1-1 has none.
func (p Plan) layouts(cells []cell) []cell {
	var list []cell
	for _, c := range cells {
		t, err := topologyOf(c.topology)
		if err != nil {
			continue // Check has said so
		}
		levels := p.N
		if c.topology == "1-1" {
			levels = []int{1}
		}
		list = append(list, cross([]cell{c}, levels, func(c *cell, n int) { c.layout = t.lay(n) })...)
	}
	return list
}

// cross gives every cell each of the levels.
func cross[T any](cells []cell, levels []T, set func(*cell, T)) []cell {
	list := make([]cell, 0, len(cells)*len(levels))
	for _, c := range cells {
		for _, level := range levels {
			d := c
			set(&d, level)
			list = append(list, d)
		}
	}
	return list
}

// payload is the bytes of the leaves that a sample moves, over all jobs.
func (c cell) payload() int64 {
	s := c.shape
	if c.update > 0 {
		return s.live() * s.size()
	}
	docs, known := c.filter.passes(s.docs)
	if !known || s.docs == 0 {
		docs = s.docs
	}
	return int64(float64(s.payload()) * float64(docs) / float64(s.docs) * float64(c.layout.moves()))
}

// moves is how many times the documents of a source are written to a target.
func (l layout) moves() int {
	n := 0
	for i, origins := range l.origins() {
		n += len(origins)
		if l.databases[i].filled {
			n--
		}
	}
	return n
}

func (c cell) levels(p Plan) []results.Level {
	levels := []results.Level{text("driver", c.driver), text("topology", c.topology)}
	if c.topology != "1-1" {
		levels = append(levels, number("n", strconv.Itoa(c.size()), int64(c.size())))
	}
	levels = append(levels, c.shape.levels(p)...)
	if p.Updates > 0 {
		levels = append(levels, number("update", strconv.Itoa(c.update), int64(c.update)))
	}
	if len(p.Filters) > 1 || !c.filter.all() {
		name := c.filter.Text
		if c.filter.all() {
			name = "none"
		}
		levels = append(levels, text("filter", name))
	}
	for _, s := range slices.Concat(c.config, c.set) {
		levels = append(levels, results.Level{Factor: s.name, Text: s.Text, Value: s.Value})
	}
	return levels
}

// size is the n of the layout.
func (c cell) size() int {
	switch c.topology {
	case "chain", "all":
		return len(c.layout.databases)
	default:
		return len(c.layout.edges)
	}
}

func (s shape) levels(p Plan) []results.Level {
	levels := []results.Level{
		number("docs", strconv.FormatInt(s.docs, 10), s.docs),
		number("doc_bytes", p.sizeText(s.size()), s.size()),
	}
	if s.count > 0 {
		levels = append(levels,
			number("attachments", strconv.Itoa(s.count), int64(s.count)),
			number("attachment_bytes", p.sizeText(s.attachment.Size), s.attachment.Size))
	}
	if len(p.Revs) > 1 || s.revs > 1 {
		levels = append(levels, number("revs", strconv.Itoa(s.revs), int64(s.revs)))
	}
	if len(p.Conflicts) > 1 || s.conflicts > 1 {
		levels = append(levels, number("conflicts", strconv.Itoa(s.conflicts), int64(s.conflicts)))
	}
	if len(p.Deleted) > 1 || s.deleted > 0 {
		share := strconv.FormatFloat(s.deleted, 'g', -1, 64)
		levels = append(levels, results.Level{Factor: "deleted", Text: share, Value: s.deleted})
	}
	return levels
}

// sizeText is the size as the user gave it, if he did.
func (p Plan) sizeText(bytes int64) string {
	for _, s := range p.DocSizes {
		if s.Bytes == bytes {
			return s.Text
		}
	}
	for _, a := range p.AttachmentSizes {
		if a.Size.Bytes == bytes {
			return a.Size.Text
		}
	}
	return strconv.FormatInt(bytes, 10)
}

func text(factor, value string) results.Level {
	return results.Level{Factor: factor, Text: value, Value: value}
}

func number(factor, text string, value int64) results.Level {
	return results.Level{Factor: factor, Text: text, Value: value}
}

// Bytes is about what the plan writes to servers, filling included.
func (p Plan) Bytes() int64 {
	p = p.withDefaults()
	samples := int64(p.Samples + p.Warmup)
	var total int64
	grid := p.grid()
	for _, s := range shapesOf(grid) {
		total += s.written() * int64(p.sources(grid, s))
	}
	for _, c := range grid {
		each := c.payload()
		if p.renewed(c) {
			each += c.shape.written() * int64(c.layout.filled())
		}
		if p.continuous() {
			each += int64(p.Rate*p.For.Seconds()) * c.shape.size() * int64(1+len(c.layout.targets()))
		}
		total += each * samples
	}
	return total
}

// renewed says whether the cell's sources are filled anew for every sample,
// because a sample changes them.
func (p Plan) renewed(c cell) bool {
	return c.layout.consumed() || p.Updates > 0 || p.continuous()
}

// sources is how many lasting databases of the shape the cells share.
func (p Plan) sources(grid []cell, s shape) int {
	n := 0
	for _, c := range grid {
		if c.driver != fillDriver && c.shape == s && !p.renewed(c) {
			n = max(n, c.layout.filled())
		}
	}
	return n
}

// filled counts the databases that hold documents before the first job.
func (l layout) filled() int {
	n := 0
	for _, d := range l.databases {
		if d.filled {
			n++
		}
	}
	return n
}
