package main

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// prepared is one upload as couchgauge sends it, its body in a file, so that
// another tool can send the same.
type prepared struct {
	method      string
	target      string // path below the database, escaped, with the query
	contentType string
	file        string
	bytes       int64
}

// prepare has couchgauge upload once and keeps the request that carried more
// than size bytes.
func (b *bench) prepare(ctx context.Context, sink *server, method string, size int64) (prepared, error) {
	p := prepared{file: filepath.Join(b.temporary, "body")}
	target, err := url.Parse(sink.url)
	if err != nil {
		return p, err
	}
	var failed error
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // a form's Referer must name it (fact 6)
		if r.In.ContentLength < size {
			return
		}
		file, err := os.Create(p.file)
		if err != nil {
			failed = err
			return
		}
		_, p.target, _ = strings.Cut(r.In.URL.RequestURI()[1:], "/") // couchgauge's database goes
		p.method, p.bytes = r.In.Method, r.In.ContentLength
		p.contentType = r.In.Header.Get("Content-Type")
		r.Out.Body = keep{r.Out.Body, file}
	}})
	defer proxy.Close()
	if _, _, err := b.upload(ctx, proxy.URL, method, size); err != nil {
		return p, err
	}
	if failed != nil {
		return p, failed
	}
	info, err := os.Stat(p.file)
	if err != nil {
		return p, fmt.Errorf("prepare the body: couchgauge sent no request of %d bytes: %w", size, err)
	}
	if info.Size() != p.bytes {
		return p, fmt.Errorf("prepare the body: %d bytes kept of %d", info.Size(), p.bytes)
	}
	return p, nil
}

// keep is a body that is written to a file while it is read.
type keep struct {
	body io.ReadCloser
	file *os.File
}

func (k keep) Read(p []byte) (int, error) {
	n, err := k.body.Read(p)
	if _, bad := k.file.Write(p[:n]); bad != nil {
		return n, bad
	}
	return n, err
}

func (k keep) Close() error {
	if err := k.file.Close(); err != nil {
		return err
	}
	return k.body.Close()
}

// curl sends the prepared request and returns curl's own time of the transfer,
// in seconds, from its start: connecting is in it.
func (b *bench) curl(ctx context.Context, server *server, p prepared) (wall float64, u usage, err error) {
	output, u, err := b.command(ctx, "curl", "-sS", "-o", os.DevNull, "-X", p.method, "-T", p.file,
		"-H", "Content-Type: "+p.contentType, "-H", "Referer: "+server.url,
		"-w", "%{http_code} %{size_upload} %{time_total}", server.url+database+"/"+p.target).finish()
	if err != nil {
		return 0, u, err
	}
	words := strings.Fields(string(output))
	if len(words) != 3 || words[0] != "201" || words[1] != strconv.FormatInt(p.bytes, 10) {
		return 0, u, fmt.Errorf("curl: status, bytes and time are %q, want 201 and %d", output, p.bytes)
	}
	wall, err = strconv.ParseFloat(words[2], 64)
	return wall, u, err
}
