package main

import (
	"io"
	"time"

	"couchgauge/replicate"
	"couchgauge/upload"

	"github.com/schollz/progressbar/v3"
)

// redraw is how often a bar is drawn.
const redraw = 200 * time.Millisecond

// showBytes draws how many bytes of the uploads were sent on w, if it is a
// terminal, until the returned function is called.
func showBytes(w io.Writer, p *upload.Progress) (done func()) {
	return showBar(w, p.Doing, p.Bytes, progressbar.OptionShowBytes(true))
}

// showDocuments draws how many documents have arrived at the targets, likewise.
func showDocuments(w io.Writer, p *replicate.Progress) (done func()) {
	if terminal(w) {
		p.Watch()
	}
	return showBar(w, p.Doing, p.Documents, progressbar.OptionShowCount())
}

func showBar(w io.Writer, doing func() string, far func() (have, of int64), options ...progressbar.Option) (done func()) {
	if !terminal(w) {
		return func() {}
	}
	bar := progressbar.NewOptions64(1, append(options, progressbar.OptionSetWriter(w),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20), progressbar.OptionThrottle(redraw))...)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(redraw)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				bar.Clear() // a bar that cannot be drawn is no loss
				return
			case <-ticker.C:
				have, of := far()
				bar.ChangeMax64(max(1, of))
				bar.Describe(doing())
				bar.Set64(min(have, max(1, of)))
			}
		}
	}()
	return func() { close(stop); <-stopped }
}
