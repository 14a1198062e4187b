package gen

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// FormatBytes returns the shortest text that says exactly n bytes, n ≥ 0:
// "10 MB", "64 KiB", "1048575 B". Of texts of one length it takes the one with
// the larger unit. ParseSize reads it back.
func FormatBytes(n int64) string {
	var shortest string
	for _, u := range units {
		if u.bytes > max(n, 1) {
			continue
		}
		number, _ := inUnit(n, u)
		if text := number + " " + u.name; shortest == "" || len(text) < len(shortest) {
			shortest = text
		}
	}
	return shortest
}

// formatIn returns exactly n bytes, n > 0, in the largest unit, of the decimal
// or of the binary ones, that needs three decimals at most: "4.096MB", "1.5KiB".
func formatIn(n int64, binary bool) string {
	for _, u := range units {
		if u.bytes > n || u.bytes > 1 && strings.Contains(u.name, "i") != binary {
			continue
		}
		if number, decimals := inUnit(n, u); decimals <= 3 {
			return number + u.name
		}
	}
	return ""
}

// inUnit is exactly n bytes as a number of a unit, and its decimals.
func inUnit(n int64, u unit) (number string, decimals int) {
	r := big.NewRat(n, u.bytes)
	decimals, _ = r.FloatPrec() // exact: units have no divisors but 2 and 5
	return r.FloatString(decimals), decimals
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
