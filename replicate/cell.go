package replicate

import (
	"slices"

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
