package refserver

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"

	"github.com/segmentio/asm/base64"
)

// docOptions say what of a document is sent. They are CouchDB's query
// parameters of the same names.
type docOptions struct {
	attachments      bool
	attEncodingInfo  bool
	revs             bool
	revsInfo         bool
	conflicts        bool
	deletedConflicts bool
	localSeq         bool
	latest           bool
	deleted          bool // a deleted document is an answer, too
	follows          bool // attachments come in parts after the JSON
	attsSince        []rev
}

// docMeta writes the metadata members of a winning revision, each with a comma
// before it.
func docMeta(d *docRecord, leaves []int, o docOptions) []byte {
	var b []byte
	t := &d.tree
	if o.revsInfo {
		b = append(b, `,"_revs_info":[`...)
		for k, i := range t.path(leaves[0]) {
			status := "available"
			if n := &t.nodes[i]; n.body == 0 {
				status = "missing"
			} else if n.deleted {
				status = "deleted"
			}
			if k > 0 {
				b = append(b, ',')
			}
			b = append(b, `{"rev":`...)
			b = appendJSONString(b, t.nodes[i].rev.String())
			b = append(b, `,"status":"`+status+`"}`...)
		}
		b = append(b, ']')
	}
	list := func(name string, deleted bool) {
		n := 0
		for _, i := range leaves[1:] {
			if t.nodes[i].deleted != deleted {
				continue
			}
			if n++; n == 1 {
				b = append(b, `,"`+name+`":[`...)
			} else {
				b = append(b, ',')
			}
			b = appendJSONString(b, t.nodes[i].rev.String())
		}
		if n > 0 {
			b = append(b, ']')
		}
	}
	if o.conflicts {
		list("_conflicts", false)
	}
	if o.deletedConflicts {
		list("_deleted_conflicts", true)
	}
	if o.localSeq {
		b = append(b, `,"_local_seq":`...)
		b = strconv.AppendUint(b, d.seq, 10)
	}
	return b
}

// appendJSONString appends s as a JSON string.
func appendJSONString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
			return appendEscaped(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendEscaped(b []byte, s string) []byte {
	var buf bufferWriter
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return append(b, `""`...) // cannot be: a string always encodes
	}
	return append(b, buf[:len(buf)-1]...)
}

type bufferWriter []byte

func (w *bufferWriter) Write(p []byte) (int, error) {
	*w = append(*w, p...)
	return len(p), nil
}

// appendHead appends a document's JSON up to its attachments: everything but
// `,"_attachments":{…}` and the closing brace.
func (d *document) appendHead(b []byte, o docOptions) []byte {
	b = append(b, `{"_id":`...)
	b = appendJSONString(b, d.id)
	if len(d.ids) > 0 {
		b = append(b, `,"_rev":`...)
		b = appendJSONString(b, d.rev().String())
	}
	if len(d.body) > 0 {
		b = append(b, ',')
		b = append(b, d.body...)
	}
	if d.deleted {
		b = append(b, `,"_deleted":true`...)
	}
	if o.revs && len(d.ids) > 0 {
		b = append(b, `,"_revisions":{"start":`...)
		b = strconv.AppendInt(b, int64(d.pos), 10)
		b = append(b, `,"ids":[`...)
		for i, id := range d.ids {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSONString(b, revIDText(d.pos, id))
		}
		b = append(b, "]}"...)
	}
	return append(b, d.meta...)
}

// appendAttachment appends one attachment's member up to where its data is, and
// says whether there is data: base64 of the decoded bytes, then `"}`.
func (d *document) appendAttachment(b []byte, a *attachment, o docOptions) (out []byte, data bool) {
	b = appendJSONString(b, a.name)
	b = append(b, `:{"content_type":`...)
	b = appendJSONString(b, a.contentType)
	b = append(b, `,"revpos":`...)
	b = strconv.AppendInt(b, int64(a.revpos), 10)
	b = append(b, `,"digest":"md5-`...)
	b = append(b, a.digestText()...)
	b = append(b, '"')
	switch {
	case !o.attachments || a.revpos <= d.stubsUpTo:
		b = append(b, `,"length":`...)
		b = strconv.AppendInt(b, a.length, 10)
		b = append(b, `,"stub":true`...)
	case o.follows:
		b = append(b, `,"length":`...)
		b = strconv.AppendInt(b, a.length, 10)
		b = append(b, `,"follows":true`...)
	default:
		data = true
	}
	if o.attEncodingInfo && a.encoding != identity {
		b = append(b, `,"encoding":"`+a.encoding.String()+`","encoded_length":`...)
		b = strconv.AppendInt(b, a.stored, 10)
	}
	if data {
		return append(b, `,"data":"`...), true
	}
	return append(b, '}'), false
}

// writeJSON writes a document as JSON. Attachments that are asked for are read
// from the database and encoded as they go out.
func (db *database) writeJSON(w *bufio.Writer, d *document, o docOptions) error {
	b := d.appendHead(nil, o)
	if len(d.atts) > 0 {
		b = append(b, `,"_attachments":{`...)
		for i := range d.atts {
			if i > 0 {
				b = append(b, ',')
			}
			var data bool
			if b, data = d.appendAttachment(b, &d.atts[i], o); data {
				if _, err := w.Write(b); err != nil {
					return err
				}
				if err := db.writeBase64(w, &d.atts[i]); err != nil {
					return err
				}
				b = append(b[:0], `"}`...)
			}
		}
		b = append(b, '}')
	}
	_, err := w.Write(append(b, '}'))
	return err
}

func (db *database) writeBase64(w io.Writer, a *attachment) error {
	src, err := db.openDecoded(a)
	if err != nil {
		return err
	}
	defer src.Close()
	in := make([]byte, 48<<10) // a multiple of three
	out := make([]byte, base64.StdEncoding.EncodedLen(len(in)))
	for {
		n, err := io.ReadFull(src, in)
		if n > 0 {
			m := base64.StdEncoding.EncodedLen(n)
			base64.StdEncoding.Encode(out[:m], in[:n])
			if _, err := w.Write(out[:m]); err != nil {
				return err
			}
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil
		default:
			return err
		}
	}
}
