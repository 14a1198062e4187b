package results

// impossible says why cells cannot be measured, each reason once.
func impossible(s *Summary) []string {
	var reasons []string
	rows := map[string][]*Row{}
	for _, r := range s.where(func(r *Row) bool { return r.Cell.Impossible != "" }) {
		reason := r.Cell.Impossible
		if rows[reason] == nil {
			reasons = append(reasons, reason)
		}
		rows[reason] = append(rows[reason], r)
	}
	var notes []string
	for _, reason := range reasons {
		notes = append(notes, "n/a: "+s.names(rows[reason])+": not possible: "+reason)
	}
	return notes
}
