package results

// page is what people read of a summary. It says what stands where; text and
// Markdown lay it out.
type page struct {
	title    string
	head     []headLine // before the tables
	sections []section
	warnings []Warning
	details  []headLine // after all
}

// section is one table with what belongs to it.
type section struct {
	title  string // "" for the only one
	wide   *grid  // every figure in a column of its own
	lead   int    // columns of wide that name the rows
	dense  func(strong func(string) string) *grid
	legend string
	notes  []string // what to know of the table, a line each
}

// newPage chooses the tables for a run.
func newPage(s *Summary) *page {
	p := &page{title: "couchgauge " + s.Run.Command, head: head(s), warnings: s.Warnings, details: details(s)}
	table := func(sec section) {
		sec.notes = append(sec.notes, impossible(s)...)
		p.sections = append(p.sections, sec)
	}
	switch {
	case len(s.Rows) == 0:
	case s.Run.Command == upload:
		table(newPivot(s.Rows).section())
		if rows := phaseRows(s.Rows); len(phasesOf(rows, varied(s.Rows))) > 0 {
			p.sections = append(p.sections, phaseSection(rows, varied(s.Rows)))
		}
	default:
		table(listSection(s))
		if rows := stageRows(s); len(rows) > 0 {
			p.sections = append(p.sections, stageSection(rows, varied(measured(s.Rows))))
		}
	}
	return p
}
