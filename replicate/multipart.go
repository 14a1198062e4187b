package replicate

import (
	"fmt"
	"io"
	"strings"

	"couchgauge/gen"
)

// boundary parts a multipart body. Generated content cannot hold it: it would
// have to repeat 32 chosen bytes.
const boundary = "couchgauge-5b0c7a3f9d2e4816-fill"

// multipart is a multipart/related body: a document, and its attachments in
// the order of its _attachments (fact 5). Nothing of an attachment is held.
type multipart struct {
	document    []byte
	attachments []gen.Attachment
}

func (multipart) contentType() string {
	return `multipart/related; boundary="` + boundary + `"`
}

// head is what stands before part i; 0 is the document.
func (m multipart) head(i int) string {
	if i == 0 {
		return "--" + boundary + "\r\nContent-Type: application/json\r\n\r\n"
	}
	a := m.attachments[i-1]
	return fmt.Sprintf("\r\n--%s\r\nContent-Disposition: attachment; filename=\"%s\"\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		boundary, gen.AttachmentName(i-1), contentType(a.Content), a.Size)
}

const tail = "\r\n--" + boundary + "--"

// length is the exact length of the body in bytes.
func (m multipart) length() int64 {
	n := int64(len(m.head(0)) + len(m.document) + len(tail))
	for i, a := range m.attachments {
		n += int64(len(m.head(i+1))) + a.Size
	}
	return n
}

// open returns a reader of the whole body.
func (m multipart) open() io.Reader {
	parts := []io.Reader{strings.NewReader(m.head(0)), strings.NewReader(string(m.document))}
	for i, a := range m.attachments {
		parts = append(parts, strings.NewReader(m.head(i+1)), a.Open())
	}
	return io.MultiReader(append(parts, strings.NewReader(tail))...)
}
