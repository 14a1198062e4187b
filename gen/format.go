package gen

import (
	"math"
	"math/big"
	"strconv"
)

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

// RoundBytes returns about n bytes, n ≥ 0, in decimal units with three digits,
// for people: "407 MB", "1.43 GB", "999 B".
func RoundBytes(n int64) string {
	value, unit := float64(n), 0
	names := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	for value >= 999.5 {
		value /= 1000
		unit++
	}
	decimals := 0
	if unit > 0 {
		decimals = max(0, 2-int(math.Log10(value)))
	}
	return strconv.FormatFloat(value, 'f', decimals, 64) + " " + names[unit]
}
