package results

import (
	"math"
	"testing"
)

func TestFigures(t *testing.T) {
	for _, tt := range []struct{ name, got, want string }{
		{"digits of nothing", digits(0), "0"},
		{"digits of a small number", digits(0.0123), "0.012"},
		{"digits below one", digits(0.4567), "0.46"},
		{"digits that round up to one", digits(0.9964), "1.00"},
		{"digits of one place", digits(1.234), "1.23"},
		{"digits of two places", digits(12.34), "12.3"},
		{"digits that round up a place", digits(9.997), "10.0"},
		{"digits of three places", digits(123.4), "123"},
		{"digits of many places", digits(1234567.8), "1234568"},
		{"digits of very little", digits(0.0000123), "1.2e-05"},
		{"digits of no number", digits(math.NaN()), "?"},

		{"seconds", duration(36.594), "36.6 s"},
		{"milliseconds", duration(0.0125), "12.5 ms"},
		{"microseconds", duration(0.000210), "210 µs"},
		{"nanoseconds", duration(0.0000000051), "5.10 ns"},
		{"no time", duration(0), "0 ms"},

		{"ratio", factor(2.0667), "2.07x"},
		{"large ratio", factor(67.64), "68x"},
		{"small ratio", factor(0.0965), "0.10x"},

		{"rate", rate(27.6e6), "27.6"},
		{"slow rate", rate(60e3), "0.06"},
		{"hardly a rate", rate(900), "<.01"},

		{"interval", spread(10, 9.5, 10.2), "-5+2%"},
		{"even interval", spread(10, 9.51, 10.5), "±5%"},
		{"very wide interval", spread(1, 0.56, 2.28), "-44+128%"},
		{"no interval", spread(1, math.NaN(), math.NaN()), "±∞"},

		{"bytes", bytesText(12), "12.0 B"},
		{"kilobytes", bytesText(262144), "262 kB"},
		{"megabytes", bytesText(1.5e6), "1.50 MB"},
		{"gigabytes", bytesText(17.2e9), "17.2 GB"},

		{"plain seconds", plain(0.1+0.2, "s"), "0.3"},
		{"half a nanosecond", plain(0.0000000005, "s"), "0.0000000005"},
		{"plain bytes", plain(1e12, "B"), "1000000000000"},
		{"plain ratio", plain(1.0/3, "ratio"), "0.333333"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got %q, want %q", tt.got, tt.want)
			}
		})
	}
}
