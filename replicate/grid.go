package replicate

import (
	"slices"

	"couchgauge/gen"
)

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
