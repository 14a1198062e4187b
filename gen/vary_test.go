package gen

import (
	"math/rand/v2"
	"testing"
)

func TestScale8IsTheByteTimesCountOver256(t *testing.T) {
	words := rand.New(rand.NewPCG(1, 1))
	for _, count := range []uint64{1, 9, 10, 26, 256} {
		for _, word := range []uint64{0, 1<<64 - 1, words.Uint64(), words.Uint64(), words.Uint64()} {
			got := scale8(word, count)
			for i := range 8 {
				if got, want := got>>(8*i)&0xff, (word>>(8*i)&0xff)*count>>8; got != want {
					t.Errorf("scale8(%#x, %d): byte %d is %d, want %d", word, count, i, got, want)
				}
			}
		}
	}
}
