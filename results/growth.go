package results

import "math"

// fillGrowth sets each row's growth of the median from the row with the next
// smaller number of matches that is otherwise the same.
func fillGrowth(rows []Row) {
	for i := range rows {
		var before *Row
		for j := range rows {
			if sameBut(&rows[i], &rows[j], "matches") && rows[j].number("matches") < rows[i].number("matches") &&
				(before == nil || rows[j].number("matches") > before.number("matches")) {
				before = &rows[j]
			}
		}
		if before != nil && before.Median > 0 && !math.IsNaN(rows[i].Median) {
			rows[i].Growth = rows[i].Median/before.Median - 1
		}
	}
}

// sameBut says whether two rows are of the same server and differ in no level
// but that of the factor.
func sameBut(a, b *Row, factor string) bool {
	if a.Server != b.Server || len(a.Cell.Levels) != len(b.Cell.Levels) {
		return false
	}
	for _, l := range a.Cell.Levels {
		other, ok := b.Level(l.Factor)
		if !ok || l.Factor != factor && l.Text != other.Text {
			return false
		}
	}
	return true
}
