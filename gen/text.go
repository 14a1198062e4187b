package gen

import "sync"

// textBlock is the length in bytes of a block of text. Blocks are made
// independently of each other, so that a reader can start anywhere; a read
// costs whole blocks, so reads should be longer than one.
const textBlock = 4 << 10

// text is English-like content: sentences of common words, one on a line. A
// block ends in a newline and is cut where it ends.
type text struct {
	key   uint64
	words *[len(vocabulary)]word
}

func openText(key uint64, _ int64) source { return text{key, wordTable()} }

// word is a word of the vocabulary in a form that is copied in moves of
// known length, several times as fast as copying strings: text has to come
// faster than a network takes it.
type word struct {
	bytes  [31]byte
	length uint8
}

// wordTable returns the vocabulary as words.
var wordTable = sync.OnceValue(func() *[len(vocabulary)]word {
	var table [len(vocabulary)]word
	for i, s := range vocabulary {
		table[i].length = uint8(copy(table[i].bytes[:], s))
	}
	return &table
})

// textBuffer has room for a block and for the words that cross its end.
type textBuffer [textBlock + 64]byte

func (t text) fill(p []byte, off int64) {
	var buf textBuffer
	for len(p) > 0 {
		number, start := off/textBlock, off%textBlock
		t.write(&buf, uint64(number))
		n := copy(p, buf[start:textBlock])
		p, off = p[n:], off+int64(n)
	}
}

// write writes the block of that number.
func (t text) write(buf *textBuffer, number uint64) {
	s := stream(keyOf(t.key, number))
	for at := 0; at < textBlock; {
		at = t.writeSentence(buf, at, &s)
	}
	buf[textBlock-1] = '\n'
}

// writeSentence writes 4 to 15 words at an offset, as far as the block goes,
// and returns the offset behind them.
func (t text) writeSentence(buf *textBuffer, at int, s *stream) int {
	start := at
	left := 4 + s.next()%12
	for left > 0 && at < textBlock {
		r := s.next()
		for range min(left, 4) {
			w := t.pick(r)
			*(*[31]byte)(buf[at:]) = w.bytes
			at = min(at+int(w.length), textBlock)
			r >>= 16
			left--
		}
	}
	buf[start] -= 'a' - 'A'
	buf[at-1] = '.'
	buf[at] = '\n'
	return at + 1
}

// pick picks a word by the low 16 bits of r. A product of two uniform numbers
// is mostly small, so the first words of the vocabulary are the most frequent,
// as in a language.
func (t text) pick(r uint64) *word {
	return &t.words[(r&0xff)*(r>>8&0xff)*uint64(len(t.words))>>16]
}
