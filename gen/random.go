package gen

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
)

// The lengths of the two rings. Both are prime, so their XOR repeats after
// ringA·ringB bytes, a little over 8 GiB.
const (
	ringA = 1<<16 + 1
	ringB = 1<<17 - 1
)

// rings is random content: byte i is a[i mod len(a)] XOR b[i mod len(b)].
// It competes with the network for a core, so it has to be cheap. Tried on an
// EPYC core, in GB/s: ChaCha8 0.9, SplitMix64 2.4, AES-CTR 4.4, these rings
// 15 (they fit the L2 cache, and XORBytes is vectorised); a copy makes 23.
// Rings of 32 KiB are slower, for their shorter runs, and repeat after 1 GiB.
type rings struct{ a, b []byte }

// openRandom makes rings no longer than the content, so that a small
// attachment costs little. They are filled by AES-CTR.
func openRandom(key uint64, size int64) source {
	var aesKey, iv [aes.BlockSize]byte
	binary.LittleEndian.PutUint64(aesKey[:], key)
	block, err := aes.NewCipher(aesKey[:])
	if err != nil {
		panic(err) // its only error is a key of another length
	}
	a, b := min(size, ringA), min(size, ringB)
	both := make([]byte, a+b)
	cipher.NewCTR(block, iv[:]).XORKeyStream(both, both)
	return &rings{both[:a], both[a:]}
}

func (r *rings) fill(p []byte, off int64) {
	for len(p) > 0 {
		a := r.a[off%int64(len(r.a)):]
		b := r.b[off%int64(len(r.b)):]
		n := min(len(p), len(a), len(b))
		subtle.XORBytes(p, a[:n], b[:n])
		p, off = p[n:], off+int64(n)
	}
}
