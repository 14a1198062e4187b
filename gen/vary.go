package gen

import "encoding/binary"

// class is a range of characters that stand for one another.
type class struct {
	first byte
	count uint64
}

var (
	lower   = class{'a', 26}
	upper   = class{'A', 26}
	digit   = class{'0', 10}
	nonzero = class{'1', 9}
)

// lanes is eight bytes of a document, little-endian, and how they vary: a byte
// is its first character plus, where a mask covers it, a random number below
// 26, 10 or 9. Eight at a time, because documents have to be made much faster
// than a server takes them.
type lanes struct {
	first                    uint64
	below26, below10, below9 uint64
}

// set makes byte i vary in its class.
func (l *lanes) set(i int, c class) {
	mask := uint64(0xff) << (8 * i)
	l.first = l.first&^mask | uint64(c.first)<<(8*i)
	switch c.count {
	case 26:
		l.below26 |= mask
	case 10:
		l.below10 |= mask
	case 9:
		l.below9 |= mask
	}
}

// draw returns the eight bytes for a random word.
func (l *lanes) draw(random uint64) uint64 {
	word := l.first + scale8(random, 26)&l.below26
	if l.below10|l.below9 != 0 {
		word += scale8(random, 10)&l.below10 + scale8(random, 9)&l.below9
	}
	return word
}

// scale8 turns each of eight uniform bytes into a number below count, which is
// at most 256: the byte times count over 256.
func scale8(random, count uint64) uint64 {
	const even = 0x00ff00ff00ff00ff
	return (random&even)*count>>8&even | (random>>8&even)*count&^even
}

// vary writes the lanes to doc, which is as long as the template.
func (t *Template) vary(doc []byte, s stream) {
	for i := range t.lanes {
		word := t.lanes[i].draw(s.next())
		if len(doc) < 8 {
			var last [8]byte
			binary.LittleEndian.PutUint64(last[:], word)
			copy(doc, last[:])
			return
		}
		binary.LittleEndian.PutUint64(doc, word)
		doc = doc[8:]
	}
}
