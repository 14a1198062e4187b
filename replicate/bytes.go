package replicate

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
