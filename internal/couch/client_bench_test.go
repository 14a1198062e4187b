package couch

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkUpload is what a request costs against a server that throws bodies
// away.
func BenchmarkUpload(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		buf := pieces.Get().(*[pieceSize]byte)
		defer pieces.Put(buf)
		for {
			if _, err := r.Body.Read(buf[:]); err != nil {
				break
			}
		}
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"ok":true}`)
	}))
	defer srv.Close()
	for _, size := range []struct {
		name string
		n    int64
	}{{"10B", 10}, {"1GiB", 1 << 30}} {
		b.Run(size.name, func(b *testing.B) {
			c := open(b, srv.URL, Options{User: "admin", Password: "secret", IdleTimeout: 60e9}).Client(TransportOptions{KeepAlive: true})
			defer c.Close()
			b.SetBytes(size.n)
			b.ReportAllocs()
			for b.Loop() {
				resp, err := c.Do(b.Context(), put(size.n))
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	b.Run("10B by net-http", func(b *testing.B) {
		hc := &http.Client{Transport: &http.Transport{}}
		b.ReportAllocs()
		for b.Loop() {
			req, _ := http.NewRequestWithContext(b.Context(), "PUT", srv.URL+"/db/doc/a.bin", bytes.NewReader(make([]byte, 10)))
			resp, err := hc.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	})
}
