package gen

import "math/big"

// FormatBytes returns the shortest text that says exactly n bytes, n ≥ 0:
// "10 MB", "64 KiB", "1048575 B". Of texts of one length it takes the one with
// the larger unit. ParseSize reads it back.
func FormatBytes(n int64) string { return formatBytes(n, " ") }

// formatBytes is FormatBytes with sep between number and unit.
func formatBytes(n int64, sep string) string {
	var shortest string
	for _, u := range units {
		if u.bytes > max(n, 1) {
			continue
		}
		number := big.NewRat(n, u.bytes)
		decimals, _ := number.FloatPrec() // exact: units have no divisors but 2 and 5
		text := number.FloatString(decimals) + sep + u.name
		if shortest == "" || len(text) < len(shortest) {
			shortest = text
		}
	}
	return shortest
}
