package refserver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// benchServer is a server in this process with a database, and a client that
// keeps its connections.
func benchServer(b *testing.B, opts Options) (string, *http.Client) {
	_, base := openServer(b, opts)
	mustDo(b, 201, "PUT", base+"/db", jsonType, "")
	return base + "/db", &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, ReadBufferSize: 4 << 10, WriteBufferSize: 64 << 10}}
}

func send(b *testing.B, c *http.Client, method, url, contentType string, body io.Reader, want int) {
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := c.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != want {
		b.Fatal(resp.Status, err)
	}
	resp.Body.Close()
}

func BenchmarkRaw10Bytes(b *testing.B) {
	for _, opts := range []Options{{}, {Discard: true}} {
		b.Run(fmt.Sprintf("discard=%v", opts.Discard), func(b *testing.B) {
			db, c := benchServer(b, opts)
			var n atomic.Int64
			b.SetParallelism(8)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					send(b, c, "PUT", fmt.Sprintf("%s/%d/a", db, n.Add(1)), octetType, strings.NewReader("0123456789"), 201)
				}
			})
		})
	}
}

func BenchmarkBulk500x10kB(b *testing.B) {
	db, c := benchServer(b, Options{})
	b.SetBytes(500 * 10_000)
	text := strings.Repeat("some words of text ", 10_000/19)
	for i := 0; b.Loop(); i++ {
		var body bytes.Buffer
		body.WriteString(`{"docs":[`)
		for k := range 500 {
			if k > 0 {
				body.WriteByte(',')
			}
			fmt.Fprintf(&body, `{"_id":"%08d-%04d","text":"%s"}`, i, k, text)
		}
		body.WriteString("]}")
		send(b, c, "POST", db+"/_bulk_docs", jsonType, &body, 201)
	}
}

// zeros is a body of n zero bytes.
type zeros struct{ n int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.n == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.n)
	z.n -= n
	return int(n), nil
}

func BenchmarkRaw256MiB(b *testing.B) {
	for _, opts := range []Options{{}, {Discard: true}} {
		b.Run(fmt.Sprintf("discard=%v", opts.Discard), func(b *testing.B) {
			db, c := benchServer(b, opts)
			const size = 256 << 20
			b.SetBytes(size)
			for i := 0; b.Loop(); i++ {
				req, err := http.NewRequest("PUT", fmt.Sprintf("%s/%d/a", db, i), &zeros{size})
				if err != nil {
					b.Fatal(err)
				}
				req.ContentLength = size
				resp, err := c.Do(req)
				if err != nil || resp.StatusCode != 201 {
					b.Fatal(resp, err)
				}
				resp.Body.Close()
			}
		})
	}
}
