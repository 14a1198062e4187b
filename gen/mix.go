package gen

// golden is 2^64 divided by the golden ratio, made odd: the step between the
// words of a stream.
const golden = 0x9e3779b97f4a7c15

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", 2014): a bijection in which each bit of z
// changes about half of the bits of the result.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// keyOf folds parts into one key. Their order matters.
func keyOf(parts ...uint64) uint64 {
	var key uint64
	for _, part := range parts {
		key = mix(key + golden + mix(part+golden))
	}
	return key
}

// stream is SplitMix64: the n-th word after a key k is mix(k + n·golden), so
// a stream can start anywhere.
type stream uint64

func (s *stream) next() uint64 {
	*s += golden
	return mix(uint64(*s))
}
