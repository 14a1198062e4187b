package replicate

// rankEnd is one more than the greatest rank.
const rankEnd = 1_000_000_000

// rank gives document n a place in [0, rankEnd) by turning its decimal digits
// round: document 1 gets 100,000,000, document 12 gets 210,000,000. So the
// documents whose rank is below a share of rankEnd are spread evenly, and are
// exactly that share of any 10^k documents in a row.
func rank(n int64) int64 {
	r := int64(0)
	for unit := int64(rankEnd / 10); unit > 0; unit /= 10 {
		r += n % 10 * unit
		n /= 10
	}
	return r
}

// chosenOf counts the documents below docs that are among the given share. The
// last digit of a document's number is the first of its rank: those that end in
// a smaller digit than the limit begins with are in, those that end in a greater
// one are not, and the others are decided by the digits before.
func chosenOf(docs int64, share float64) int64 {
	n := int64(0)
	limit := rankLimit(share)
	for unit := int64(rankEnd / 10); docs > 0; unit /= 10 {
		if unit == 0 || limit >= 10*unit {
			if limit > 0 {
				n += docs
			}
			return n
		}
		last := limit / unit
		for digit := range last {
			n += (docs - digit + 9) / 10
		}
		docs, limit = (docs-last+9)/10, limit%unit
	}
	return n
}

// chosen says whether document n is among the given share (0 to 1).
func chosen(n int64, share float64) bool {
	return rank(n) < rankLimit(share)
}

// rankField is the field of every document that holds its rank, for filters.
const rankField = "rank"

// rankLimit is the rank from which on documents are not among the share.
func rankLimit(share float64) int64 { return int64(share*rankEnd + 0.5) }
