package results

import "slices"

// Summary is a run as it is printed.
type Summary struct {
	Run      Run
	Rows     []Row // in the order of the cells
	Warnings []Warning
	Partial  bool // the run did not come to its planned end
	End      *End // nil if the recording was cut off
	columns  []Column
}

// Summary makes rows and warnings of what was written so far.
func (c *Collector) Summary() *Summary {
	s := &Summary{End: c.end, Partial: c.end == nil || c.end.Reason != "complete"}
	if c.run != nil {
		s.Run = *c.run
	}
	s.columns = columnsFor(s.Run.Command, c.cells)
	for _, d := range c.cells {
		s.Rows = append(s.Rows, newRow(d, &s.Run, s.columns))
	}
	for i := range s.Rows {
		s.Rows[i].compare(s.row(s.Rows[i].Cell.Baseline))
	}
	fillGrowth(s.Rows)
	s.Warnings = append(eventWarnings(c.events, c.lost), warn(s)...)
	return s
}

func (s *Summary) cells() []Cell {
	var cells []Cell
	for i := range s.Rows {
		cells = append(cells, s.Rows[i].Cell)
	}
	return cells
}

// row returns the row of the cell with that ID, nil if there is none.
func (s *Summary) row(id int) *Row {
	i := slices.IndexFunc(s.Rows, func(r Row) bool { return r.Cell.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Rows[i]
}
