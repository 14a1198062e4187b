package gen

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	for _, tt := range []struct {
		text  string
		bytes int64
	}{
		{"0", 0},
		{"1000", 1000},
		{"10B", 10},
		{"1kB", 1000},
		{"1KiB", 1024},
		{"1MB", 1_000_000},
		{"1GiB", 1 << 30},
		{"2TiB", 2 << 40},
		{"10^6", 1_000_000},
		{"10^0", 1},
		{"2^20", 1 << 20},
		{"10^3MB", 1_000_000_000},
		{"1.5MB", 1_500_000},
		{"0.5KiB", 512},
		{"10 MB", 10_000_000},
		{"1mb", 1_000_000},
		{"1KB", 1000},
		{"9223372036854775807", math.MaxInt64},
		{"2^62", 1 << 62},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseSize(" " + tt.text + " ")
			if want := (Size{tt.text, tt.bytes}); got != want || err != nil {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func TestParseSizeSaysWhatIsWrong(t *testing.T) {
	const syntax = "not a size: write one like 1000, 10B, 1kB, 1KiB, 1.5MB or 10^6"
	const tooLarge = "too large: more than 2^63-1 bytes"
	for _, tt := range []struct{ text, want string }{
		{"", syntax},
		{"-1", syntax},
		{"1e6", syntax},
		{"kB", syntax},
		{"1..2", syntax},
		{"10^", syntax},
		{"0^5", syntax},
		{"1M", `unit "M" is unclear: write MB, or the binary MiB`},
		{"1k", `unit "k" is unclear: write kB, or the binary KiB`},
		{"1PB", `unit "PB" is unknown: use B, kB, MB, GB, TB or KiB, MiB, GiB, TiB`},
		{"1.5B", "not a whole number of bytes"},
		{"000", "starts with a zero: write a thousand as 1000 or 1kB, a comma separates sizes"},
		{"10^19", tooLarge},
		{"10^256", tooLarge},
		{"99999999999999999999^1", tooLarge},
		{"9223372036854775808", tooLarge},
		{"10^12TiB", tooLarge},
		{strings.Repeat("1", 65), "too long"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			_, err := ParseSize(tt.text)
			if want := fmt.Sprintf("size %q: %s", tt.text, tt.want); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestParseSizes(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"10,1kB", "10=10 1kB=1000"},
		{"10^1..10^3", "10^1=10 10^2=100 10^3=1000"},
		{"2^10..2^10", "2^10=1024"},
		{"1kB..16MB*4", "1kB=1000 4kB=4000 16kB=16000 64kB=64000 256kB=256000 1.024MB=1024000 4.096MB=4096000 16MB=16000000"},
		{"1KiB..1MiB*32", "1KiB=1024 32KiB=32768 1MiB=1048576"},
		{"1KiB..2.5MiB*1536", "1KiB=1024 1.5MiB=1572864 2.5MiB=2621440"},
		{"1B..5KiB*2", "1B=1 2B=2 4B=4 8B=8 16B=16 32B=32 64B=64 128B=128 256B=256 512B=512 1KiB=1024 2KiB=2048 4KiB=4096 5KiB=5120"},
		{"333B..6MB*7", "333B=333 2.331kB=2331 16.317kB=16317 114.219kB=114219 799.533kB=799533 5596.731kB=5596731 6MB=6000000"},
		{"100MB..1GB*2", "100MB=100000000 200MB=200000000 400MB=400000000 800MB=800000000 1GB=1000000000"},
		{"10B..1MB*100", "10B=10 1kB=1000 100kB=100000 1MB=1000000"},
		{"250kB..1000kB*2", "250kB=250000 500kB=500000 1000kB=1000000"},
		{"1..100*10", "1=1 10=10 100=100"},
		{"10^1..10^5*100", "10^1=10 1000=1000 10^5=100000"},
		{" 1 B .. 4 B * 2 , 0", "1 B=1 2B=2 4 B=4 0=0"},
		{"0,10^1..10^2,1kB..2kB*2", "0=0 10^1=10 10^2=100 1kB=1000 2kB=2000"},
		{"1kB,10^2..10^3", "1kB=1000 10^2=100"},
		{"4611686018427387904..9223372036854775807*2", "4611686018427387904=4611686018427387904 9223372036854775807=9223372036854775807"},
		{"1kB..1000B*2", "1kB=1000"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			sizes, err := ParseSizes(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range sizes {
				got = append(got, fmt.Sprintf("%s=%d", s, s.Bytes))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestParseSizesSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", `size ""`},
		{"1kB,", `size ""`},
		{"1,000", `size "000": starts with a zero`},
		{"1kB..16MB", `range "1kB..16MB": needs a step, as in 1kB..16MB*4, or two powers of one base, as in 10^1..10^9`},
		{"10^1..2^20", "two powers of one base"},
		{"10^1kB..10^2kB", "needs a step"},
		{"1^1..1^9", "the powers of 1 do not grow"},
		{"16MB..1kB*4", "its end is smaller than its start"},
		{"1kB..16MB*1", `step "1" is not a whole number of 2 or more`},
		{"1kB..16MB*x", `step "x"`},
		{"0..16MB*4", "list 0 by itself"},
		{"x..1", `range "x..1": size "x"`},
		{"1..x", `range "1..x": size "x"`},
	} {
		t.Run(tt.text, func(t *testing.T) {
			_, err := ParseSizes(tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestFormatBytes(t *testing.T) {
	for _, tt := range []struct {
		bytes int64
		want  string
	}{
		{0, "0 B"},
		{1, "1 B"},
		{999, "999 B"},
		{1000, "1 kB"},
		{1024, "1 KiB"},
		{1500, "1.5 kB"},
		{1536, "1536 B"},
		{11_487, "11487 B"},
		{64 << 10, "64 KiB"},
		{100_000, "100 kB"},
		{1 << 20, "1 MiB"},
		{1<<20 - 1, "1048575 B"},
		{1_024_000, "1024 kB"},
		{10_000_000, "10 MB"},
		{1 << 30, "1 GiB"},
		{20_000_000_000, "20 GB"},
		{math.MaxInt64, "9223372036854775807 B"},
	} {
		if got := FormatBytes(tt.bytes); got != tt.want {
			t.Errorf("FormatBytes(%d) is %q, want %q", tt.bytes, got, tt.want)
		}
	}
}

func FuzzFormatBytes(f *testing.F) {
	for _, n := range []int64{0, 1, 1000, 1024, 1500, 1 << 20, math.MaxInt64} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		if n < 0 {
			return
		}
		text := FormatBytes(n)
		if got, err := ParseSize(text); got.Bytes != n || err != nil {
			t.Errorf("%d is %q, read back as %d, %v", n, text, got.Bytes, err)
		}
	})
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"0", "10B", "1kB", "1.5MiB", "10^6", "2^62", "1 GB", "1M", "0.0000000001TiB", "1_000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		size, err := ParseSize(s)
		if err != nil {
			if size != (Size{}) {
				t.Errorf("%+v beside the error %v", size, err)
			}
			return
		}
		if size.Bytes < 0 || size.Text != strings.TrimSpace(s) {
			t.Errorf("%q is %+v", s, size)
		}
		if n, ok := new(big.Int).SetString(size.Text, 10); ok && n.Int64() != size.Bytes {
			t.Errorf("%q is %d bytes", s, size.Bytes)
		}
	})
}

func FuzzParseSizes(f *testing.F) {
	for _, s := range []string{"10,1kB", "10^1..10^9", "1kB..16MB*4", "0,1..9*3", "2^0..2^62", "1^0..1^9", ".."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sizes, err := ParseSizes(s)
		if err != nil {
			return
		}
		seen := make(map[int64]bool)
		for _, size := range sizes {
			if seen[size.Bytes] {
				t.Errorf("%q gives %d bytes twice", s, size.Bytes)
			}
			seen[size.Bytes] = true
			if again, err := ParseSize(size.Text); again != size || err != nil {
				t.Errorf("%q gives %+v, which reads as %+v, %v", s, size, again, err)
			}
		}
		if len(sizes) == 0 {
			t.Errorf("%q gives no size", s)
		}
	})
}
