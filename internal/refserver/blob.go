package refserver

import (
	"bytes"
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
)

// smallBlob is the largest number of stored bytes that live in the bbolt file.
const smallBlob = 64 << 10

// blobRef says where the bytes of an attachment are: under key in the blobs
// bucket, or, when file is not empty, in a file of the database's blob folder.
// Neither means no bytes at all.
type blobRef struct {
	key  uint64
	file string
}

// blobWriter takes the bytes of one attachment as they arrive. Their digest and
// lengths are known after finish; a blob that will not be referenced is removed
// by discard.
type blobWriter struct {
	dir   string
	fsync bool
	limit int64  // most bytes that may be written
	name  string // of the attachment, for the error

	gz      *gzip.Writer // when the bytes are compressed
	plain   hash.Hash    // MD5 of the bytes before compression, when asked for
	sum     hash.Hash    // MD5 of the bytes as stored
	length  int64        // bytes before compression
	stored  int64        // bytes as stored
	small   []byte       // stored bytes, until there are too many
	file    *os.File
	closed  bool
	encoded encoding // of the bytes as stored
}

// gzipLevel is CouchDB's default attachments/compression_level.
const gzipLevel = 8

// gzipUnix is what CouchDB's zlib calls its system in a gzip header. The digest
// covers it.
const gzipUnix = 3

// newBlobWriter begins a blob in folder dir. compress has it stored gzipped.
func newBlobWriter(dir string, fsync bool, name string, limit int64, compress bool) (*blobWriter, error) {
	w := &blobWriter{dir: dir, fsync: fsync, limit: limit, name: name, sum: md5.New()}
	if compress {
		gz, err := gzip.NewWriterLevel(storeWriter{w}, gzipLevel)
		if err != nil {
			return nil, fmt.Errorf("store attachment %q: %w", name, err)
		}
		gz.OS = gzipUnix
		w.gz, w.encoded = gz, gzipped
		w.plain = md5.New()
	}
	return w, nil
}

// Write takes the next bytes. Its error is the 413 of an attachment over the
// limit, or the disk's.
func (w *blobWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > w.limit-w.length {
		return 0, attachmentTooLarge(w.name)
	}
	w.length += int64(len(p))
	if w.gz != nil {
		w.plain.Write(p)
		return w.gz.Write(p)
	}
	return len(p), w.store(p)
}

// storeWriter is the compressor's way to the disk.
type storeWriter struct{ w *blobWriter }

func (s storeWriter) Write(p []byte) (int, error) { return len(p), s.w.store(p) }

func (w *blobWriter) store(p []byte) error {
	w.sum.Write(p)
	w.stored += int64(len(p))
	if w.file == nil && len(w.small)+len(p) <= smallBlob {
		w.small = append(w.small, p...)
		return nil
	}
	if w.file == nil {
		if err := w.spill(); err != nil {
			return err
		}
	}
	if _, err := w.file.Write(p); err != nil {
		return fmt.Errorf("store attachment %q: %w", w.name, err)
	}
	return nil
}

// spill moves a blob that has grown from memory to a file.
func (w *blobWriter) spill() error {
	var id [12]byte
	rand.Read(id[:])
	f, err := os.OpenFile(filepath.Join(w.dir, hex.EncodeToString(id[:])), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("store attachment %q: %w", w.name, err)
	}
	w.file = f
	if _, err := f.Write(w.small); err != nil {
		return fmt.Errorf("store attachment %q: %w", w.name, err)
	}
	w.small = nil
	return nil
}

// finish ends the blob and makes it durable, so that a record may refer to it.
func (w *blobWriter) finish() error {
	if w.closed {
		return nil
	}
	if w.gz != nil {
		if err := w.gz.Close(); err != nil {
			return err
		}
	}
	w.closed = true
	if w.file == nil {
		return nil
	}
	if w.fsync {
		if err := w.file.Sync(); err != nil {
			return fmt.Errorf("store attachment %q: %w", w.name, err)
		}
		if err := syncDir(w.dir); err != nil {
			return fmt.Errorf("store attachment %q: %w", w.name, err)
		}
	}
	if err := w.file.Close(); err != nil {
		return fmt.Errorf("store attachment %q: %w", w.name, err)
	}
	return nil
}

// discard removes a blob that nothing will refer to.
func (w *blobWriter) discard() {
	if w == nil || w.file == nil {
		return
	}
	if !w.closed {
		w.file.Close()
		w.closed = true
	}
	os.Remove(w.file.Name())
	w.file = nil
}

// fileName is the blob's file, "" while it is small.
func (w *blobWriter) fileName() string {
	if w.file == nil {
		return ""
	}
	return filepath.Base(w.file.Name())
}

// describe fills a with what the finished blob turned out to be.
func (w *blobWriter) describe(a *attachment) {
	copy(a.digest[:], w.sum.Sum(nil))
	a.length, a.stored, a.encoding = w.length, w.stored, w.encoded
}

// recompress copies a finished, uncompressed blob to a compressed one: for the
// inline attachment whose content_type came after its data. The uncompressed one
// is gone then, whatever the outcome.
func (w *blobWriter) recompress() (*blobWriter, error) {
	defer w.discard()
	gz, err := newBlobWriter(w.dir, w.fsync, w.name, w.limit, true)
	if err != nil {
		return nil, err
	}
	src, err := w.reopen()
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if _, err = io.Copy(gz, src); err == nil {
		err = gz.finish()
	}
	if err != nil {
		gz.discard()
		return nil, fmt.Errorf("compress attachment %q: %w", w.name, err)
	}
	return gz, nil
}

func (w *blobWriter) reopen() (io.ReadCloser, error) {
	if w.file == nil {
		return io.NopCloser(bytes.NewReader(w.small)), nil
	}
	f, err := os.Open(w.file.Name())
	if err != nil {
		return nil, fmt.Errorf("read attachment %q: %w", w.name, err)
	}
	return f, nil
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
