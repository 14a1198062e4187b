package gen

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Size is a number of bytes as somebody wrote it.
type Size struct {
	Text  string // as given: "1kB", "10^3"
	Bytes int64
}

// String returns the size as it was given.
func (s Size) String() string { return s.Text }

// unit is a unit of size.
type unit struct {
	name  string
	bytes int64
}

// units lists the units from the largest to the byte, the decimal one of each
// pair first.
var units = []unit{
	{"TB", 1e12}, {"TiB", 1 << 40},
	{"GB", 1e9}, {"GiB", 1 << 30},
	{"MB", 1e6}, {"MiB", 1 << 20},
	{"kB", 1e3}, {"KiB", 1 << 10},
	{"B", 1},
}

// sizeSyntax is a number or a power, and perhaps a unit.
var sizeSyntax = regexp.MustCompile(`^(?:([0-9]+(?:\.[0-9]+)?)|([1-9][0-9]*)\^([0-9]+)) ?([A-Za-z]*)$`)

// maxSizeText bounds what ParseSize reads, in bytes.
const maxSizeText = 64

var errTooLarge = errors.New("too large: more than 2^63-1 bytes")

// ParseSize reads one size: 1000, 10B, 1kB, 1KiB, 1.5MB, 10^6, 2^20. The case
// of a unit does not matter. Sizes that are not whole bytes, or more than
// 2^63-1 of them, are errors.
func ParseSize(s string) (Size, error) {
	text := strings.TrimSpace(s)
	bytes, err := parseBytes(text)
	if err != nil {
		return Size{}, fmt.Errorf("size %q: %w", text, err)
	}
	return Size{Text: text, Bytes: bytes}, nil
}

func parseBytes(text string) (int64, error) {
	if len(text) > maxSizeText {
		return 0, errors.New("too long")
	}
	m := sizeSyntax.FindStringSubmatch(text)
	if m == nil {
		return 0, errors.New("not a size: write one like 1000, 10B, 1kB, 1KiB, 1.5MB or 10^6")
	}
	decimal, base, exponent, name := m[1], m[2], m[3], m[4]
	u, err := parseUnit(name)
	if err != nil {
		return 0, err
	}
	if decimal == "" {
		power, err := parsePower(base, exponent)
		if err != nil {
			return 0, err
		}
		return multiply(power, u.bytes)
	}
	if len(decimal) > 1 && decimal[0] == '0' && decimal[1] != '.' {
		return 0, errors.New("starts with a zero: write a thousand as 1000 or 1kB, a comma separates sizes")
	}
	return scale(decimal, u)
}

// scale returns a decimal number of units in bytes.
func scale(decimal string, u unit) (int64, error) {
	n, ok := new(big.Rat).SetString(decimal)
	if !ok {
		return 0, fmt.Errorf("%q is not a number", decimal)
	}
	n.Mul(n, new(big.Rat).SetInt64(u.bytes))
	if !n.IsInt() {
		return 0, errors.New("not a whole number of bytes")
	}
	if !n.Num().IsInt64() {
		return 0, errTooLarge
	}
	return n.Num().Int64(), nil
}

// parseUnit returns the unit of that name. No name means bytes.
func parseUnit(name string) (unit, error) {
	if name == "" {
		return unit{"B", 1}, nil
	}
	for _, u := range units {
		if strings.EqualFold(u.name, name) {
			return u, nil
		}
	}
	for _, u := range units {
		if prefix := u.name[:1]; u.bytes > 1 && strings.EqualFold(prefix, name) {
			return unit{}, fmt.Errorf("unit %q is unclear: write %s, or the binary %siB", name, u.name, strings.ToUpper(prefix))
		}
	}
	return unit{}, fmt.Errorf("unit %q is unknown: use B, kB, MB, GB, TB or KiB, MiB, GiB, TiB", name)
}

// parsePower returns base^exponent.
func parsePower(base, exponent string) (int64, error) {
	b, err := strconv.ParseInt(base, 10, 64)
	if err != nil {
		return 0, errTooLarge
	}
	e, err := strconv.ParseUint(exponent, 10, 8)
	if err != nil {
		return 0, errTooLarge
	}
	n := int64(1)
	for range e {
		if n, err = multiply(n, b); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// multiply returns a·b for a, b ≥ 0.
func multiply(a, b int64) (int64, error) {
	if b > 0 && a > math.MaxInt64/b {
		return 0, errTooLarge
	}
	return a * b, nil
}
