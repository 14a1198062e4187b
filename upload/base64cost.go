package upload

import (
	"fmt"
	"time"

	"couchgauge/gen"

	"github.com/segmentio/asm/base64"
)

// base64Cost is how long this machine takes to encode the attachment's bytes,
// and to decode them again: the client's own part of the method base64. The
// time of making the bytes is in neither.
func base64Cost(a gen.Attachment) (encode, decode time.Duration, err error) {
	src := a.Open()
	raw := make([]byte, min(encodeChunk, a.Size))
	text := make([]byte, base64.StdEncoding.EncodedLen(len(raw)))
	back := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	for left := a.Size; left > 0; left -= int64(len(raw)) {
		raw = raw[:min(int64(len(raw)), left)]
		if _, err := src.ReadAt(raw, a.Size-left); err != nil {
			return 0, 0, err
		}
		text = text[:base64.StdEncoding.EncodedLen(len(raw))]
		start := time.Now()
		base64.StdEncoding.Encode(text, raw)
		encoded := time.Now()
		n, err := base64.StdEncoding.Decode(back, text)
		decode += time.Since(encoded)
		encode += encoded.Sub(start)
		if err != nil || n != len(raw) {
			return 0, 0, fmt.Errorf("decode our own base64: %d bytes of %d: %w", n, len(raw), err)
		}
	}
	return encode, decode, nil
}
