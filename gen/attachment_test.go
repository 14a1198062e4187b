package gen

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"testing"
)

// A digest that changes here changes what recordings mean.
func TestAttachmentIsTheSameEverywhere(t *testing.T) {
	for _, tt := range []struct {
		attachment Attachment
		md5        string
	}{
		{Attachment{Random, 42, 0, 0}, "d41d8cd98f00b204e9800998ecf8427e"},
		{Attachment{Random, 42, 1, 0}, "7c0b8029c8bcebe338b92ceb504f912a"},
		{Attachment{Random, 42, 1_000_000, 0}, "5f69d73e2de495feaf1bfb0fcce219fc"},
		{Attachment{Random, 42, 1_000_000, 1}, "36eb9d5b3ad1f492c8a5f4924565867f"},
		{Attachment{Random, 43, 1_000_000, 0}, "cdaf956cb28735f2db171e80cb0306f8"},
		{Attachment{Random, 42, 10_000_000, 0}, "f2d7178d884ba43add50f0666ea1089e"},
		{Attachment{Text, 42, 10, 0}, "4b2baa46ed4bf2fec7adac588492c22f"},
		{Attachment{Text, 42, 1_000_000, 0}, "32a30c243bc575690f174487b5bd8b98"},
		{Attachment{Text, 42, 1_000_000, 1}, "d70073e3467c459b002bf1fc81cad469"},
		{Attachment{Text, 43, 1_000_000, 0}, "7fab24db7ede7c9b97a7feeb0b2211cb"},
		// head -c 1000000 /dev/zero | md5sum
		{Attachment{Zeros, 42, 1_000_000, 0}, "879f4bba57ed37c9ec5e5aedf9864698"},
		{Attachment{Zeros, 7, 1_000_000, 3}, "879f4bba57ed37c9ec5e5aedf9864698"},
	} {
		t.Run(fmt.Sprintf("%+v", tt.attachment), func(t *testing.T) {
			sum, err := tt.attachment.MD5(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(sum[:]); got != tt.md5 {
				t.Errorf("MD5 is %s, want %s", got, tt.md5)
			}
		})
	}
}

func TestMD5EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Attachment{Content: Zeros, Size: 1 << 40}.MD5(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// all returns the bytes of a.
func all(t testing.TB, a Attachment) []byte {
	t.Helper()
	b, err := io.ReadAll(a.Open())
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(b)) != a.Size {
		t.Fatalf("%+v has %d bytes", a, len(b))
	}
	return b
}

func TestEveryFieldChangesTheBytes(t *testing.T) {
	for _, content := range []Content{Random, Text} {
		base := Attachment{content, 1, 5000, 1}
		for name, other := range map[string]Attachment{
			"seed":   {content, 2, 5000, 1},
			"size":   {content, 1, 5001, 1},
			"number": {content, 1, 5000, 2},
		} {
			if bytes.HasPrefix(all(t, other), all(t, base)[:100]) {
				t.Errorf("%s: another %s gives the same bytes", content, name)
			}
		}
	}
}
