package gen

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ParseSizes reads a list of sizes and ranges, separated by commas:
//
//	10,1kB            two sizes
//	10^1..10^9        a range with one level per power
//	1kB..16MB*4       a range with one level per factor, and its end: 1kB,4kB…4.096MB,16MB
//
// The levels keep their order; of several with the same number of bytes, the
// first stays. The ends of a range are written as given. Between them stand
// powers where the ends are powers, plain numbers where the start is one, and
// else numbers of the largest unit in which three decimals say them: 1.024MB.
func ParseSizes(s string) ([]Size, error) {
	var sizes []Size
	seen := make(map[int64]bool)
	for item := range strings.SplitSeq(s, ",") {
		levels, err := parseItem(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		for _, level := range levels {
			if !seen[level.Bytes] {
				seen[level.Bytes] = true
				sizes = append(sizes, level)
			}
		}
	}
	return sizes, nil
}

// parseItem reads a size or a range.
func parseItem(item string) ([]Size, error) {
	first, rest, isRange := strings.Cut(item, "..")
	if !isRange {
		size, err := ParseSize(item)
		return []Size{size}, err
	}
	last, step, hasStep := strings.Cut(rest, "*")
	low, err := ParseSize(first)
	if err != nil {
		return nil, fmt.Errorf("range %q: %w", item, err)
	}
	high, err := ParseSize(last)
	if err != nil {
		return nil, fmt.Errorf("range %q: %w", item, err)
	}
	if low.Bytes > high.Bytes {
		return nil, fmt.Errorf("range %q: its end is smaller than its start", item)
	}
	var levels []Size
	if hasStep {
		levels, err = byFactor(low, high, step)
	} else {
		levels, err = byPower(low, high)
	}
	if err != nil {
		return nil, fmt.Errorf("range %q: %w", item, err)
	}
	return levels, nil
}

// powerSyntax is a power without a unit.
var powerSyntax = regexp.MustCompile(`^([1-9][0-9]*)\^([0-9]+)$`)

// byPower returns the powers from low to high, which are powers of one base.
func byPower(low, high Size) ([]Size, error) {
	from, to := powerSyntax.FindStringSubmatch(low.Text), powerSyntax.FindStringSubmatch(high.Text)
	if from == nil || to == nil || from[1] != to[1] {
		return nil, errors.New("needs a step, as in 1kB..16MB*4, or two powers of one base, as in 10^1..10^9")
	}
	base := from[1]
	if base == "1" {
		return nil, errors.New("the powers of 1 do not grow")
	}
	first, err := strconv.Atoi(from[2])
	if err != nil {
		return nil, err
	}
	last, err := strconv.Atoi(to[2])
	if err != nil {
		return nil, err
	}
	var levels []Size
	for exponent := first; exponent <= last; exponent++ {
		level, err := ParseSize(base + "^" + strconv.Itoa(exponent))
		if err != nil {
			return nil, err
		}
		levels = append(levels, level)
	}
	return levels, nil
}

// byFactor returns low, low·step, low·step² … below high, and high.
func byFactor(low, high Size, step string) ([]Size, error) {
	factor, err := strconv.ParseInt(strings.TrimSpace(step), 10, 64)
	if err != nil || factor < 2 {
		return nil, fmt.Errorf("step %q is not a whole number of 2 or more", step)
	}
	if low.Bytes == 0 {
		return nil, errors.New("a factor does not lead away from 0: list 0 by itself, as in 0,1kB..16MB*4")
	}
	levels := []Size{low}
	for n := low.Bytes; n <= (high.Bytes-1)/factor; {
		n *= factor
		levels = append(levels, Size{Text: between(low, high, n), Bytes: n})
	}
	return append(levels, high), nil
}

// between writes n bytes as a level between low and high: a plain number where
// low is one, else in the units of low, or of high where low has only bytes.
func between(low, high Size, n int64) string {
	if !strings.ContainsAny(low.Text, "Bb") {
		return strconv.FormatInt(n, 10)
	}
	model := low.Text
	if !strings.ContainsAny(model, "KkMmGgTt") {
		model = high.Text
	}
	return formatIn(n, strings.ContainsAny(model, "Ii"))
}
