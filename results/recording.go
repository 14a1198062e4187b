package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// flushEvery bounds what a killed run loses.
const flushEvery = time.Second

// Recording writes a run to a file as it happens: JSON Lines, compressed with
// zstd (docs/recording.md). It is a Sink that may be used from several
// goroutines. The first error stays: every later Write and Close returns it.
type Recording struct {
	mu    sync.Mutex
	file  io.WriteCloser
	zstd  *zstd.Encoder
	line  bytes.Buffer
	json  *json.Encoder
	dirty bool
	err   error

	stop chan struct{} // ends flushOn
}

var errClosed = errors.New("the recording is closed")

// Create starts a recording at path, replacing a file that is there, and
// writes its header, the run.
func Create(path string, run *Run) (*Recording, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("create the recording: %w", err)
	}
	ticker := time.NewTicker(flushEvery)
	r, err := newRecording(file, run, ticker.C)
	if err != nil {
		file.Close()
		return nil, err
	}
	return r, nil
}

// newRecording records to file and flushes whenever tick fires.
func newRecording(file io.WriteCloser, run *Run, tick <-chan time.Time) (*Recording, error) {
	enc, err := zstd.NewWriter(file, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, fmt.Errorf("start the recording: %w", err)
	}
	r := &Recording{file: file, zstd: enc, stop: make(chan struct{})}
	r.json = json.NewEncoder(&r.line)
	r.json.SetEscapeHTML(false)
	if err := r.Write(run); err != nil {
		return nil, err
	}
	if err := r.flush(); err != nil {
		return nil, err
	}
	go r.flushOn(tick)
	return r, nil
}

// Write appends one record. It is on disk after the next flush, within a
// second.
func (r *Recording) Write(rec Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	line, err := r.encode(rec)
	if err == nil {
		_, err = r.zstd.Write(line)
		r.dirty = true
	}
	if err != nil {
		r.err = fmt.Errorf("record a %s: %w", rec.Kind(), err)
	}
	return r.err
}

// Close writes the end of the file. A recording that was not closed is
// readable up to its last flush.
func (r *Recording) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == errClosed {
		return nil
	}
	close(r.stop)
	err := r.err
	if e := r.zstd.Close(); err == nil && e != nil {
		err = fmt.Errorf("finish the recording: %w", e)
	}
	if e := r.file.Close(); err == nil && e != nil {
		err = fmt.Errorf("close the recording: %w", e)
	}
	r.err = errClosed
	return err
}

// encode returns the record's line, with "type" first. It is valid until the
// next call.
func (r *Recording) encode(rec Record) ([]byte, error) {
	r.line.Reset()
	fmt.Fprintf(&r.line, `{"type":%q,`, rec.Kind())
	head := r.line.Len()
	if err := r.json.Encode(rec); err != nil {
		return nil, err
	}
	line := r.line.Bytes()
	copy(line[head:], line[head+1:]) // the object's own brace
	return line[:len(line)-1], nil
}

// flush hands everything so far to the file.
func (r *Recording) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || !r.dirty {
		return r.err
	}
	r.dirty = false
	if err := r.zstd.Flush(); err != nil {
		r.err = fmt.Errorf("write the recording: %w", err)
	}
	return r.err
}

func (r *Recording) flushOn(tick <-chan time.Time) {
	for {
		select {
		case <-r.stop:
			return
		case <-tick:
			r.flush() // the error stays in r
		}
	}
}
