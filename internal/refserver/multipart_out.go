package refserver

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strconv"
)

// followOptions are the options of a document whose attachments are sent in
// parts after it. They are sent as stored, so their encoding is told.
func followOptions(o docOptions) docOptions {
	o.attachments, o.follows, o.attEncodingInfo = true, true, true
	return o
}

// included are the attachments whose bytes are sent.
func (d *document) included() []*attachment {
	var out []*attachment
	for i := range d.atts {
		if d.atts[i].revpos > d.stubsUpTo {
			out = append(out, &d.atts[i])
		}
	}
	return out
}

// relatedBody is a document as multipart/related; without attachments to send it
// is the JSON alone.
type relatedBody struct {
	db       *database
	boundary string
	json     []byte
	atts     []*attachment
}

func (db *database) related(d *document, o docOptions, boundary string) (*relatedBody, error) {
	var buf bytes.Buffer
	w := bufio.NewWriter(&buf)
	if err := db.writeJSON(w, d, followOptions(o)); err != nil {
		return nil, err
	}
	w.Flush()
	return &relatedBody{db, boundary, buf.Bytes(), d.included()}, nil
}

func (b *relatedBody) contentType() string {
	if len(b.atts) == 0 {
		return "application/json"
	}
	return `multipart/related; boundary="` + b.boundary + `"`
}

func (b *relatedBody) head() string {
	return "--" + b.boundary + "\r\nContent-Type: application/json\r\n\r\n"
}

func (b *relatedBody) delim() string { return "\r\n--" + b.boundary }

func (b *relatedBody) partHead(a *attachment) string {
	s := "\r\nContent-Disposition: attachment; filename=\"" + a.name + "\"" +
		"\r\nContent-Type: " + a.contentType +
		"\r\nContent-Length: " + strconv.FormatInt(a.stored, 10)
	if a.encoding != identity {
		s += "\r\nContent-Encoding: " + a.encoding.String()
	}
	return s + "\r\n\r\n"
}

func (b *relatedBody) length() int64 {
	n := int64(len(b.json))
	if len(b.atts) == 0 {
		return n
	}
	n += int64(len(b.head()) + len(b.delim()) + len("--"))
	for _, a := range b.atts {
		n += int64(len(b.partHead(a))) + a.stored + int64(len(b.delim()))
	}
	return n
}

func (b *relatedBody) writeTo(w *bufio.Writer) error {
	if len(b.atts) == 0 {
		_, err := w.Write(b.json)
		return err
	}
	w.WriteString(b.head())
	w.Write(b.json)
	w.WriteString(b.delim())
	for _, a := range b.atts {
		w.WriteString(b.partHead(a))
		src, err := b.db.openBlob(a)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, src)
		src.Close()
		if err != nil {
			return err
		}
		w.WriteString(b.delim())
	}
	_, err := w.WriteString("--")
	return err
}

// sendRelated answers with a document and its attachments.
func (x *exchange) sendRelated(db *database, d *document, o docOptions) error {
	body, err := db.related(d, o, randomHex(16))
	if err != nil {
		return err
	}
	x.common()
	x.setHeader("Content-Type", body.contentType())
	x.setHeader("Content-Length", strconv.FormatInt(body.length(), 10))
	w := x.begin(http.StatusOK)
	if x.r.Method == http.MethodHead {
		return nil
	}
	if err := body.writeTo(w); err != nil {
		return err
	}
	return w.Flush()
}

// sendMixed answers with several revisions, each in a part of its own.
func (x *exchange) sendMixed(db *database, revs []openedRev, o docOptions) error {
	outer, inner := randomHex(16), randomHex(16)
	x.common()
	x.setHeader("Content-Type", `multipart/mixed; boundary="`+outer+`"`)
	w := x.begin(http.StatusOK)
	w.WriteString("--" + outer)
	for _, r := range revs {
		if r.doc == nil {
			w.WriteString("\r\nContent-Type: application/json; error=\"true\"\r\n\r\n" +
				`{"missing":"` + r.rev.String() + `"}` + "\r\n--" + outer)
			continue
		}
		body, err := db.related(r.doc, o, inner)
		if err != nil {
			return err
		}
		w.WriteString("\r\nContent-Type: " + body.contentType() + "\r\n\r\n")
		if err := body.writeTo(w); err != nil {
			return err
		}
		w.WriteString("\r\n--" + outer)
	}
	w.WriteString("--")
	return w.Flush()
}
