package gen

import (
	"fmt"
	"strings"
)

// Content is a kind of attachment bytes.
type Content string

// The kinds of content.
const (
	Random Content = "random" // does not compress, repeats no 4 KiB block within 1 GiB
	Text   Content = "text"   // compresses like text: 3 to 8 times from about 16 kB on
	Zeros  Content = "zeros"
)

// source makes the bytes of one attachment.
type source interface {
	// fill fills p with the bytes from offset off on. It may be called by
	// several goroutines at a time.
	fill(p []byte, off int64)
}

// contents lists every kind and how to make it from a key and a size in bytes.
var contents = []struct {
	name Content
	open func(key uint64, size int64) source
}{
	{Random, openRandom},
	{Text, openText},
	{Zeros, openZeros},
}

// Contents lists the kinds that ParseContent knows.
func Contents() []Content {
	var names []Content
	for _, c := range contents {
		names = append(names, c.name)
	}
	return names
}

// ParseContent returns the kind of that name.
func ParseContent(s string) (Content, error) {
	var known []string
	for _, c := range contents {
		if string(c.name) == s {
			return c.name, nil
		}
		known = append(known, string(c.name))
	}
	return "", fmt.Errorf("content %q is unknown: use one of %s", s, strings.Join(known, ", "))
}
