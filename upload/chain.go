package upload

import "couchgauge/internal/rounds"

// chain is what is scheduled: the cells whose samples follow each other on one
// document. Without Append it is one cell.
type chain struct {
	subjects []*subject
	ledger   rounds.Ledger
}

// chains groups the cells that differ by their ordinal only, which follow
// each other.
func chains(subjects []*subject) []*chain {
	var list []*chain
	for _, s := range subjects {
		if s.Ordinal <= 1 {
			list = append(list, &chain{})
		}
		last := list[len(list)-1]
		last.subjects = append(last.subjects, s)
	}
	return list
}
