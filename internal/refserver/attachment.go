package refserver

import (
	"crypto/md5"
	"encoding/base64"
	"regexp"
	"strings"
	"unicode/utf8"
)

// encoding is how an attachment's bytes are stored.
type encoding byte

const (
	identity encoding = iota
	gzipped
)

func (e encoding) String() string {
	if e == gzipped {
		return "gzip"
	}
	return "identity"
}

// attachment is one attachment of a revision. Revisions of a document share the
// bytes: blob says where they are.
type attachment struct {
	name, contentType string
	revpos            int            // generation it was attached in
	digest            [md5.Size]byte // MD5 of the bytes as stored
	length            int64          // bytes, decoded; unknown for what came gzipped: then length == stored
	stored            int64          // bytes, as stored
	encoding          encoding
	blob              blobRef
}

func (a *attachment) digestText() string {
	return base64.StdEncoding.EncodeToString(a.digest[:])
}

const defaultContentType = "application/octet-stream"

// findAttachment is the attachment of that name, or nil.
func findAttachment(atts []attachment, name string) *attachment {
	for i := range atts {
		if atts[i].name == name {
			return &atts[i]
		}
	}
	return nil
}

// checkAttachmentName refuses the names that CouchDB refuses.
func checkAttachmentName(name string) error {
	switch {
	case strings.HasPrefix(name, "_"):
		return badRequest("Attachment name '" + name + "' starts with prohibited character '_'")
	case !utf8.ValidString(name):
		return badRequest("Attachment name is not UTF-8 encoded")
	}
	return nil
}

// compressibleTypes makes a matcher of the setting attachments/compressible_types,
// a list like "text/*, application/json": a star matches anything, parameters
// after a semicolon do not matter, nor does case.
func compressibleTypes(setting string) *regexp.Regexp {
	var alts []string
	for t := range strings.SplitSeq(setting, ",") {
		if t = strings.TrimSpace(t); t != "" {
			alts = append(alts, strings.ReplaceAll(regexp.QuoteMeta(t), `\*`, ".*"))
		}
	}
	if len(alts) == 0 {
		return regexp.MustCompile(`$.^`)
	}
	return regexp.MustCompile(`(?is)^\s*(?:` + strings.Join(alts, "|") + `)(?:\s*;.*)?\s*$`)
}
