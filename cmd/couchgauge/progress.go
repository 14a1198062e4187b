package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is what a run tells while it goes on.
type progress interface {
	Samples() (done, of int64)
	Bytes() (sent, of int64)
	Doing() string
}

// showProgress draws a bar of the bytes on w, if it is a terminal, until the
// returned function is called.
func showProgress(w io.Writer, p progress) (done func()) {
	if !terminal(w) {
		return func() {}
	}
	_, total := p.Bytes()
	bar := progressbar.NewOptions64(total, progressbar.OptionSetWriter(w), progressbar.OptionShowBytes(true),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20), progressbar.OptionThrottle(200*time.Millisecond))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(200 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				bar.Clear()
				return
			case <-ticker.C:
				sent, total := p.Bytes()
				bar.ChangeMax64(max(1, total))
				bar.Describe(p.Doing())
				bar.Set64(min(sent, total))
			}
		}
	}()
	return func() { close(stop); <-stopped }
}
