package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// ErrPartial says that a recording ends before its end record: the run was
// killed, or is still going on. What came before it is good.
var ErrPartial = errors.New("the recording is partial")

const (
	// maxLine bounds the memory that one record may take.
	maxLine = 64 << 20
	// maxWindow is more than any encoder level asks for; it bounds what a
	// hostile file may make us allocate.
	maxWindow = 32 << 20
)

// zstdMagic starts every zstd frame (RFC 8878, section 3.1.1).
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// Read passes the records of a recording to each, one by one, in bounded
// memory. It takes the file as Create writes it or the same lines
// decompressed. A recording that was cut off is read up to its last whole
// record and then ends in ErrPartial; an error of each ends it at once.
func Read(r io.Reader, each func(Record) error) error {
	in := bufio.NewReader(r)
	magic, _ := in.Peek(len(zstdMagic))
	if !bytes.Equal(magic, zstdMagic) {
		return readLines(in, each)
	}
	dec, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return fmt.Errorf("read the recording: %w", err)
	}
	defer dec.Close()
	return readLines(dec, each)
}

// readLines reads JSON Lines: a run first, then anything, an end last.
func readLines(r io.Reader, each func(Record) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	lines.Split(wholeLines)
	n, ended := 0, false
	for lines.Scan() {
		n++
		rec, err := decode(lines.Bytes())
		if err != nil {
			return fmt.Errorf("read line %d of the recording: %w", n, err)
		}
		run, isRun := rec.(*Run)
		switch {
		case n == 1 && !isRun:
			return errors.New("this is not a recording of couchgauge: it does not start with a run record")
		case n > 1 && isRun:
			return fmt.Errorf("read line %d of the recording: a second run record", n)
		case ended:
			return fmt.Errorf("read line %d of the recording: a record of type %s after the end record", n, rec.Kind())
		case isRun && run.Format > FormatVersion:
			return fmt.Errorf("the recording has format version %d; this couchgauge reads up to %d", run.Format, FormatVersion)
		}
		_, ended = rec.(*End)
		if err := each(rec); err != nil {
			return err
		}
	}
	err := lines.Err()
	switch {
	case n == 0 && err != nil:
		return fmt.Errorf("read the recording: %w", err)
	case n == 0:
		return errors.New("this is not a recording of couchgauge: it holds no record")
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("read line %d of the recording: %w", n+1, err)
	case err != nil:
		return fmt.Errorf("%w: it breaks off after %d records: %w", ErrPartial, n, err)
	case !ended:
		return fmt.Errorf("%w: it has no end record after its %d records", ErrPartial, n)
	}
	return nil
}

// wholeLines is a bufio.SplitFunc for lines that end in a newline; what
// follows the last newline is a record that was not written to its end.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

func decode(line []byte) (Record, error) {
	kind, err := kindOf(line)
	if err != nil {
		return nil, err
	}
	rec := newRecord(kind)
	if rec == nil {
		return nil, fmt.Errorf("unknown record type %q", kind)
	}
	if err := json.Unmarshal(line, rec); err != nil {
		return nil, err
	}
	return rec, nil
}

// kindOf returns a record's type: at once where it comes first, as we write
// it, otherwise by parsing the line.
func kindOf(line []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`)); ok {
		if kind, _, ok := bytes.Cut(rest, []byte(`"`)); ok && newRecord(string(kind)) != nil {
			return string(kind), nil
		}
	}
	var record struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(line, &record)
	return record.Type, err
}

func newRecord(kind string) Record {
	switch kind {
	case "run":
		return new(Run)
	case "cell":
		return new(Cell)
	case "sample":
		return new(Sample)
	case "server":
		return new(Reading)
	case "event":
		return new(Event)
	case "end":
		return new(End)
	}
	return nil
}
