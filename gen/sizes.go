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
//	1kB..16MB*4       a range with one level per factor, none above its end
//
// The levels keep their order; of several with the same number of bytes, the
// first stays. The members of a range are written as its start is: 10^2, 4kB.
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

// byFactor returns low, low·step, low·step² … up to high.
func byFactor(low, high Size, step string) ([]Size, error) {
	factor, err := strconv.ParseInt(strings.TrimSpace(step), 10, 64)
	if err != nil || factor < 2 {
		return nil, fmt.Errorf("step %q is not a whole number of 2 or more", step)
	}
	if low.Bytes == 0 {
		return nil, errors.New("a factor does not lead away from 0: list 0 by itself, as in 0,1kB..16MB*4")
	}
	levels := []Size{low}
	for n := low.Bytes; n <= high.Bytes/factor; {
		n *= factor
		levels = append(levels, Size{Text: likeText(low.Text, n), Bytes: n})
	}
	if last := &levels[len(levels)-1]; last.Bytes == high.Bytes {
		last.Text = high.Text
	}
	return levels, nil
}

// likeText writes n bytes with a unit if text has one.
func likeText(text string, n int64) string {
	if strings.ContainsAny(text, "Bb") {
		return formatBytes(n, "")
	}
	return strconv.FormatInt(n, 10)
}
