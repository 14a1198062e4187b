package gen

import "testing"

func TestRoundBytes(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{0, "0 B"}, {999, "999 B"}, {1000, "1.00 kB"}, {999_499, "999 kB"}, {999_500, "1.00 MB"},
		{407_444_455, "407 MB"}, {1_431_655_870, "1.43 GB"}, {50_000_000_000, "50.0 GB"}, {1<<63 - 1, "9.22 EB"},
	} {
		if got := RoundBytes(c.n); got != c.want {
			t.Errorf("RoundBytes(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}
