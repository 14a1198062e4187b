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
func (l layout) moves() int { return l.movesTo(false) + l.movesTo(true) }

// movesTo is how many of them are to databases on one side: the source's
// server, or the target's.
func (l layout) movesTo(remote bool) int {
	n := 0
	for i, origins := range l.origins() {
		if l.databases[i].remote != remote {
			continue
		}
		n += len(origins)
		if l.databases[i].filled {
			n--
		}
	}
	return n
}

// Bytes is about what the plan writes to servers, filling included.
func (p Plan) Bytes() int64 {
	source, target := p.BytesBySide()
	return source + target
}

// BytesBySide is about what the plan writes to the source's server and to the
// target's, filling included.
func (p Plan) BytesBySide() (source, target int64) {
	p = p.withDefaults()
	grid := p.grid()
	for _, s := range shapesOf(grid) {
		source += s.written() * int64(p.sources(grid, s))
	}
	samples := int64(p.Samples + p.Warmup)
	for _, c := range grid {
		source += p.sampleBytes(c, false) * samples
		target += p.sampleBytes(c, true) * samples
	}
	return source, target
}

// sampleBytes is about what a sample writes to one side: the source's server,
// or the target's.
func (p Plan) sampleBytes(c cell, remote bool) int64 {
	l := c.layout
	bytes := int64(float64(c.payload()) * float64(l.movesTo(remote)) / float64(l.moves()))
	if p.renewed(c) {
		bytes += c.shape.written() * int64(l.filledAt(remote))
	}
	if p.continuous() {
		written := int64(p.Rate*p.For.Seconds()) * c.shape.size()
		bytes += written*int64(l.filledAt(remote))/int64(l.filled()) + written*int64(l.targetsAt(remote))
	}
	return bytes
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
func (l layout) filled() int { return l.filledAt(false) + l.filledAt(true) }

// filledAt counts those of them on one side.
func (l layout) filledAt(remote bool) int {
	n := 0
	for _, d := range l.databases {
		if d.filled && d.remote == remote {
			n++
		}
	}
	return n
}

// targetsAt counts the databases on one side that jobs write to.
func (l layout) targetsAt(remote bool) int {
	n := 0
	for _, i := range l.targets() {
		if l.databases[i].remote == remote {
			n++
		}
	}
	return n
}
