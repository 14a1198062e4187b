package couch

import (
	"net/url"
	"strings"
	"testing"
)

func TestEscapes(t *testing.T) {
	for _, test := range []struct{ name, got, want string }{
		{"segment", EscapeSegment("a+b c/d%e~f-g_h.i"), "a%2Bb%20c%2Fd%25e~f-g_h.i"},
		{"non-ASCII", EscapeSegment("Kолян.txt"), "K%D0%BE%D0%BB%D1%8F%D0%BD.txt"},
		{"dots", EscapeSegment("..") + " " + EscapeSegment("."), "%2E%2E %2E"},
		{"document", EscapeDocID("a/b+c"), "a%2Fb%2Bc"},
		{"design document", EscapeDocID("_design/a/b"), "_design/a%2Fb"},
		{"local document", EscapeDocID("_local/a b"), "_local/a%20b"},
		{"path", AttachmentPath("couchgauge/x+y", "d/1", "e/f 100%.bin"), "couchgauge%2Fx%2By/d%2F1/e%2Ff%20100%25.bin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("got %s, want %s", test.got, test.want)
			}
		})
	}
}

func FuzzEscapeSegment(f *testing.F) {
	for _, s := range []string{"", "..", "a/b", "a+b", "%2F", "Kолян", "\xff\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := EscapeSegment(s)
		if strings.ContainsAny(e, "/+ ?#") {
			t.Errorf("%q holds what must be escaped", e)
		}
		if back, err := url.PathUnescape(e); err != nil || back != s {
			t.Errorf("%q came back as %q, %v", s, back, err)
		}
	})
}
