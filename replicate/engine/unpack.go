package engine

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"
)

// plainTarget tells whether the target may not know attachments that are
// stored compressed: it does not name itself CouchDB, whose own word for them
// (encoding, encoded_length) is all that there is.
func (r *Replication) plainTarget() bool {
	s, _ := r.target.server.Load().(string)
	return !strings.Contains(strings.ToLower(s), "couch")
}

// unpack describes compressed parts as what they are decompressed.
func unpack(atts []part) error {
	for i := range atts {
		a := &atts[i]
		if a.encoding == "" {
			continue
		}
		if a.encoding != "gzip" {
			return fmt.Errorf("attachment %q: encoding %q is not known", a.name, a.encoding)
		}
		a.content = &gunzip{r: a.content}
		a.encoding, a.encoded = "", 0
	}
	return nil
}

// gunzip decompresses r, opening it when it is first read.
type gunzip struct {
	r io.Reader
	z *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.z == nil {
		z, err := gzip.NewReader(g.r)
		if err != nil {
			return 0, fmt.Errorf("decompress an attachment: %w", err)
		}
		g.z = z
	}
	return g.z.Read(p)
}
