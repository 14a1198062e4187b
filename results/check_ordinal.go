package results

import (
	"cmp"
	"fmt"
	"slices"
)

// ordinalGrowth is from which factor on a later attachment counts as slower
// than the first.
const ordinalGrowth = 1.2

// maxFalling is the share of the pairs of attachments of which the later one
// may be faster all the same: noise.
const maxFalling = 0.2

// rising says whether later rows take longer, but for a few pairs.
func rising(series []*Row) bool {
	falling, pairs := 0, 0
	for i, before := range series {
		for _, after := range series[i+1:] {
			pairs++
			if after.Median < before.Median {
				falling++
			}
		}
	}
	return float64(falling) <= maxFalling*float64(pairs)
}

// findOrdinal tells when attachments added one after another to one document
// get slower (case U2).
func findOrdinal(s *Summary) []string {
	var found []string
	others := slices.DeleteFunc(varied(s.Rows), func(f string) bool { return f == "ordinal" })
	for _, first := range s.where(func(r *Row) bool { return r.number("ordinal") == 1 && len(r.times) > 0 }) {
		series := s.where(func(r *Row) bool { return sameBut(first, r, "ordinal") && len(r.times) > 0 })
		slices.SortFunc(series, func(a, b *Row) int { return cmp.Compare(a.number("ordinal"), b.number("ordinal")) })
		last := series[len(series)-1]
		if len(series) < 3 || !rising(series) || last.Median < ordinalGrowth*first.Median || !(mannWhitney(last.times, first.times) < 1-confidence) {
			continue
		}
		found = append(found, fmt.Sprintf("%s: attachments added one after another to a document take longer and longer: number %s takes %s times as long as number 1: put them into one request (multipart) or into documents of their own",
			first.name(others), last.levelText("ordinal"), digits(last.Median/first.Median)))
	}
	return found
}
