package refserver

import "testing"

func FuzzParseRanges(f *testing.F) {
	for _, s := range []string{"bytes=0-4", "bytes=0-", "bytes=-3", "bytes=1-1,3-", "bytes=", "bytes=5-2", "bytes=-", "x", "bytes=99999999999999999999-", "bytes=-0"} {
		f.Add(s, int64(10))
	}
	f.Fuzz(func(t *testing.T, header string, size int64) {
		if size < 0 {
			return
		}
		ranges, err := parseRanges(header, size)
		if err != nil && len(ranges) > 0 {
			t.Fatalf("%q of %d: both %v and %v", header, size, ranges, err)
		}
		for _, r := range ranges {
			if r.from < 0 || r.to >= size || r.length() < 1 {
				t.Fatalf("%q of %d: %v is not in it", header, size, r)
			}
		}
	})
}
