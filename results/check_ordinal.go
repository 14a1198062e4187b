package results

import (
	"cmp"
	"fmt"
	"slices"
)

// ordinalGrowth is from which factor on a later attachment counts as slower
// than the first.
const ordinalGrowth = 1.2

// findOrdinal tells when attachments added one after another to one document
// get slower (case U2).
func findOrdinal(s *Summary) []string {
	var found []string
	for _, first := range s.where(func(r *Row) bool { return r.number("ordinal") == 1 && len(r.times) > 0 }) {
		series := s.where(func(r *Row) bool { return sameBut(first, r, "ordinal") && len(r.times) > 0 })
		slices.SortFunc(series, func(a, b *Row) int { return cmp.Compare(a.number("ordinal"), b.number("ordinal")) })
		last := series[len(series)-1]
		rising := slices.IsSortedFunc(series, func(a, b *Row) int { return cmp.Compare(a.Median, b.Median) })
		if len(series) < 3 || !rising || last.Median < ordinalGrowth*first.Median || !(mannWhitney(last.times, first.times) < 1-confidence) {
			continue
		}
		found = append(found, fmt.Sprintf("%s: each attachment added to the document takes longer than the one before; number %s takes %s times as long as number 1: put them into one request (multipart) or into documents of their own",
			s.names([]*Row{first}), last.levelText("ordinal"), digits(last.Median/first.Median)))
	}
	return found
}
