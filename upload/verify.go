package upload

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"couchgauge/gen"
	"couchgauge/internal/couch"

	"github.com/klauspost/compress/gzip"
)

// verifier compares what the server stored with what was sent, after the
// clock has stopped, over connections of its own.
type verifier struct {
	client  *couch.Client
	digests *digests
	bytes   bool // compare all bytes, not digests
}

// stored is a document as the server shows it.
type stored struct {
	Rev         string          `json:"_rev"`
	Attachments map[string]stub `json:"_attachments"`
}

// stub is an attachment in it (CouchDB docs, "Attachments"). Only the content
// type and the length are sure to be there (U12).
type stub struct {
	ContentType   string `json:"content_type"`
	RevPos        int    `json:"revpos,omitempty"`
	Digest        string `json:"digest,omitempty"` // "md5-" and base64; of the gzip where Encoding says so
	Length        *int64 `json:"length,omitempty"`
	Stub          bool   `json:"stub"`
	Encoding      string `json:"encoding,omitempty"`
	EncodedLength int64  `json:"encoded_length,omitempty"`
}

// stubs is the JSON object by which a later revision keeps the attachments.
func (s stored) stubs() ([]byte, error) {
	kept := map[string]stub{}
	for name, a := range s.Attachments {
		a.Encoding, a.EncodedLength, a.Stub = "", 0, true
		kept[name] = a
	}
	return json.Marshal(kept)
}

// open reads a document without its attachments' bytes.
func (v *verifier) open(ctx context.Context, db, id string) (stored, error) {
	var s stored
	err := v.client.JSON(ctx, http.MethodGet, couch.DocPath(db, id)+"?att_encoding_info=true", nil, &s)
	return s, err
}

// check compares the attachments that doc was given. sentGzip: they were sent
// compressed, for the server to keep them so. An error means that something
// differs, or that it could not be compared.
func (v *verifier) check(ctx context.Context, db string, doc Document, sentGzip bool) error {
	s, err := v.open(ctx, db, doc.ID)
	var refusal *couch.Error
	if errors.As(err, &refusal) && refusal.Status == http.StatusNotFound {
		return fmt.Errorf("verify: %w: a sink keeps nothing, it can only be measured without verification", err)
	}
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	for _, a := range doc.Attachments {
		found, ok := s.Attachments[a.Name]
		if !ok {
			return fmt.Errorf("stored document differs: attachment %q is missing in %s", a.Name, doc.ID)
		}
		if err := v.compare(ctx, db, doc.ID, a, found, sentGzip); err != nil {
			return err
		}
	}
	return nil
}

// compare compares one attachment by what its stub tells, and by its bytes
// where that is not enough.
func (v *verifier) compare(ctx context.Context, db, id string, a Attachment, found stub, sentGzip bool) error {
	size := a.Size
	digest := func(gzip bool) (string, error) {
		s, err := v.digests.of(ctx, a.Attachment, gzip)
		return "md5-" + base64.StdEncoding.EncodeToString(s.md5[:]), err
	}
	if sentGzip && found.Encoding == Gzip {
		// CouchDB then gives the compressed length as the length.
		s, err := v.digests.of(ctx, a.Attachment, true)
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		if found.Length != nil && *found.Length == s.length {
			size = s.length
		}
	}
	if found.Length != nil && *found.Length != size {
		return fmt.Errorf("stored attachment %q differs: %d bytes instead of %d", a.Name, *found.Length, size)
	}
	if v.bytes || found.Digest == "" || found.Length == nil {
		return v.compareBytes(ctx, db, id, a)
	}
	if found.Encoding != "" && !sentGzip {
		return nil // the digest is of bytes that the server made (fact 9)
	}
	want, err := digest(found.Encoding == Gzip)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if found.Digest == want {
		return nil
	}
	return v.compareBytes(ctx, db, id, a) // it may be a digest of another kind
}

// compareBytes reads the attachment back.
func (v *verifier) compareBytes(ctx context.Context, db, id string, a Attachment) error {
	resp, err := v.client.Do(ctx, couch.Request{
		Method: http.MethodGet,
		Path:   couch.AttachmentPath(db, id, a.Name),
		Header: http.Header{"Accept": {"*/*"}},
	})
	what := fmt.Sprintf("verify: get attachment %q of", a.Name)
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, db, err)
	}
	if err := couch.Check(resp, what, db); err != nil {
		return err
	}
	defer resp.Body.Close()
	var body io.Reader = resp.Body
	if resp.Header.Get("Content-Encoding") == Gzip {
		if body, err = gzip.NewReader(body); err != nil {
			return fmt.Errorf("%s %s: %w", what, db, err)
		}
	}
	at, same, err := sameBytes(body, a.Open())
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, db, err)
	}
	if !same {
		return fmt.Errorf("stored attachment %q differs from byte %d on", a.Name, at)
	}
	return nil
}

// sameBytes compares two streams up to where they differ. Its error is got's.
func sameBytes(got io.Reader, want *gen.Reader) (at int64, same bool, err error) {
	buffers := make([]byte, 2*gen.BufferSize)
	g, w := buffers[:gen.BufferSize], buffers[gen.BufferSize:]
	for {
		n, err := io.ReadFull(got, g)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return at, false, err
		}
		m, _ := io.ReadFull(want, w) // it fails at its end only
		if !bytes.Equal(g[:n], w[:m]) {
			i := 0
			for i < min(n, m) && g[i] == w[i] {
				i++
			}
			return at + int64(i), false, nil
		}
		at += int64(n)
		if n < len(g) {
			return at, true, nil
		}
	}
}
