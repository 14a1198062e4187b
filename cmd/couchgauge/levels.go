package main

import (
	"fmt"
	"strconv"

	"couchgauge/gen"
)

// parseList parses each word of a flag that is a list of levels.
func parseList[T any](flag string, words []string, parse func(string) (T, error)) ([]T, error) {
	list := make([]T, 0, len(words)) // not nil: an empty list is no default
	for _, w := range words {
		v, err := parse(w)
		if err != nil {
			return nil, usagef("--%s: %w", flag, err)
		}
		list = append(list, v)
	}
	return list, nil
}

func parseSwitch(s string) (bool, error) {
	switch s {
	case "on":
		return true, nil
	case "off":
		return false, nil
	}
	return false, fmt.Errorf("%q: use on or off", s)
}

func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q: use a whole number from 1", s)
	}
	return n, nil
}

// parseBytes reads a limit such as "20GB".
func parseBytes(flag, s string) (int64, error) {
	size, err := gen.ParseSize(s)
	if err != nil {
		return 0, usagef("--%s: %w", flag, err)
	}
	return size.Bytes, nil
}
