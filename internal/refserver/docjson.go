package refserver

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// docReader reads documents from a JSON text into edits. Attachment data goes to
// the database's blobs while it arrives; the rest of a document is held.
type docReader struct {
	db     *database
	limits limits
	json   *jsonReader
	// sink has attachment data thrown away, and everything but the members that
	// the answer needs.
	sink bool

	usual int // bytes of the last document: the next will need about as many
}

// parsedDoc is a document as it was written on the wire.
type parsedDoc struct {
	edit
	hasID bool
	// err is what is wrong with the document although its JSON is right: it is
	// reported only after all JSON was read, as CouchDB does.
	err error
	// follows are the indexes in atts of those whose bytes come after the
	// document, in order of the JSON's members (fact 5).
	follows []int
	tooBig  bool
}

func (p *parsedDoc) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// document reads the next value as a document.
func (d *docReader) document() (*parsedDoc, error) {
	p := &parsedDoc{}
	c, err := d.json.token()
	if err != nil {
		return p, err
	}
	if c != '{' {
		_, err := d.json.value(nil)
		p.fail(badRequest("Document must be a JSON object"))
		return p, err
	}
	p.body = make([]byte, 0, d.usual)
	defer func() { d.usual = len(p.body) }()
	var revs json.RawMessage
	err = d.json.members(func(name string, raw []byte) error {
		if !strings.HasPrefix(name, "_") || strings.HasPrefix(name, "_replication_") || name == "_access" {
			return d.member(p, raw)
		}
		if name == "_attachments" {
			return d.attachments(p)
		}
		v, err := d.json.value(nil)
		if err != nil {
			return err
		}
		switch name {
		case "_id":
			d.setID(p, v)
		case "_rev":
			d.setRev(p, v)
		case "_deleted":
			if err := json.Unmarshal(v, &p.deleted); err != nil {
				p.fail(docValidation("Bad special document member: _deleted"))
			}
		case "_revisions":
			revs = v
		case "_revs_info", "_local_seq", "_conflicts", "_deleted_conflicts":
		default:
			p.fail(docValidation("Bad special document member: " + name))
		}
		return nil
	})
	if err == nil && revs != nil {
		p.setRevisions(revs)
	}
	if p.tooBig && p.err == nil {
		p.err = documentTooLarge(p.id)
	}
	return p, err
}

// member keeps an ordinary member, name and value as written.
func (d *docReader) member(p *parsedDoc, raw []byte) error {
	if d.sink || p.tooBig {
		_, err := d.json.value(nil)
		return err
	}
	if len(p.body) > 0 {
		p.body = append(p.body, ',')
	}
	p.body = append(append(p.body, raw...), ':')
	var err error
	p.body, err = d.json.value(p.body)
	if int64(len(p.body))+2 > d.limits.documentSize {
		p.tooBig, p.body = true, nil
	}
	return err
}

func (d *docReader) setID(p *parsedDoc, v []byte) {
	if json.Unmarshal(v, &p.id) != nil || v[0] != '"' {
		p.fail(illegalDocID("Document id must be a string"))
		return
	}
	p.hasID = true
	if err := checkDocID(p.id); err != nil {
		p.fail(err)
	}
}

func (d *docReader) setRev(p *parsedDoc, v []byte) {
	var text string
	if json.Unmarshal(v, &text) != nil {
		p.fail(errRevFormat)
		return
	}
	r, err := parseRev(text)
	if err != nil {
		p.fail(err)
		return
	}
	p.pos, p.ids = r.pos, []string{r.id}
}

// setRevisions takes the history from _revisions, which overrides _rev.
func (p *parsedDoc) setRevisions(v []byte) {
	var h struct {
		Start json.RawMessage `json:"start"`
		IDs   json.RawMessage `json:"ids"`
	}
	var start int
	var ids []json.RawMessage
	if json.Unmarshal(v, &h) != nil || json.Unmarshal(h.Start, &start) != nil || start < 0 {
		p.fail(docValidation("_revisions.start isn't an integer."))
		return
	}
	if json.Unmarshal(h.IDs, &ids) != nil || ids == nil {
		p.fail(docValidation("_revisions.ids isn't a array."))
		return
	}
	p.pos, p.ids = start, nil
	for _, raw := range ids {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			p.fail(docValidation("RevId isn't a string"))
			return
		}
		id, ok := parseRevID(start, text)
		if !ok {
			p.fail(docValidation("RevId isn't a valid hexadecimal"))
			return
		}
		p.ids = append(p.ids, id)
	}
	if len(p.ids) > max(start, 1) {
		p.ids = p.ids[:max(start, 1)] // a history has no more revisions than its generation
	}
}

// attachments reads the _attachments member.
func (d *docReader) attachments(p *parsedDoc) error {
	c, err := d.json.token()
	if err != nil {
		return err
	}
	if c != '{' {
		_, err := d.json.value(nil)
		p.fail(docValidation("Bad special document member: _attachments"))
		return err
	}
	return d.json.members(func(name string, _ []byte) error {
		if c, err := d.json.token(); err != nil {
			return err
		} else if c != '{' { // CouchDB passes over it
			_, err := d.json.value(nil)
			return err
		}
		if err := checkAttachmentName(name); err != nil {
			p.fail(err)
		}
		if hasAttachment(p.atts, name) {
			p.fail(badRequest("Duplicate attachments"))
		}
		return d.attachment(p, name)
	})
}

func hasAttachment(atts []newAttachment, name string) bool {
	for i := range atts {
		if atts[i].name == name {
			return true
		}
	}
	return false
}

// attachmentMembers are the members of an attachment, the data apart.
type attachmentMembers struct {
	ContentType   *string `json:"content_type"`
	Digest        string  `json:"digest"`
	Encoding      string  `json:"encoding"`
	Length        *int64  `json:"length"`
	EncodedLength *int64  `json:"encoded_length"`
	Revpos        *int    `json:"revpos"`
	Stub          bool    `json:"stub"`
	Follows       bool    `json:"follows"`
}

func (d *docReader) attachment(p *parsedDoc, name string) (err error) {
	var m attachmentMembers
	var data *blobWriter
	defer func() {
		if err != nil {
			data.discard()
		}
	}()
	var badData error = errBase64 // no data at all
	members := []byte{'{'}
	err = d.json.members(func(member string, raw []byte) error {
		if member != "data" || m.Stub || m.Follows {
			if len(members) > 1 {
				members = append(members, ',')
			}
			members = append(append(members, raw...), ':')
			start := len(members)
			var err error
			if members, err = d.json.value(members); err != nil {
				return err
			}
			if member == "content_type" { // needed before the data
				m.ContentType = nil
				_ = json.Unmarshal(members[start:], &m.ContentType)
			}
			return nil
		}
		if d.sink {
			badData = nil
			return d.json.base64(io.Discard)
		}
		var err error
		if data, err = d.newBlob(name, m.contentType()); err != nil {
			return err
		}
		if err = d.json.base64(data); errors.Is(err, errBase64) {
			badData = err
			return nil
		} else if err != nil {
			return err
		}
		badData = nil
		return data.finish()
	})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(append(members, '}'), &m); err != nil {
		p.fail(badRequest("Invalid attachment " + name))
	}
	a := newAttachment{attachment: attachment{name: name, contentType: m.contentType()}, stubRevpos: noRevpos}
	if m.Revpos != nil {
		a.revpos, a.stubRevpos = *m.Revpos, *m.Revpos
	}
	switch {
	case m.Stub:
		a.stub = true
	case m.Follows:
		m.expect(&a)
		if a.stored > d.limits.attachmentSize {
			p.fail(attachmentTooLarge(name))
		}
		p.follows = append(p.follows, len(p.atts))
	case badData != nil:
		data.discard()
		p.fail(badRequest("Invalid attachment data for " + name))
	case data != nil:
		if data, err = d.settleCompression(data, a.contentType); err != nil {
			return err
		}
		a.data = data
		data.describe(&a.attachment)
	}
	p.atts = append(p.atts, a)
	return nil
}

func (m *attachmentMembers) contentType() string {
	if m.ContentType == nil {
		return defaultContentType
	}
	return *m.ContentType
}

// expect notes what the JSON announces of bytes that follow. A negative length
// means that none was given.
func (m *attachmentMembers) expect(a *newAttachment) {
	a.length, a.stored = -1, -1
	if m.Length != nil {
		a.length, a.stored = *m.Length, *m.Length
	}
	if m.Encoding == gzipped.String() {
		a.encoding = gzipped
		if m.EncodedLength != nil {
			a.stored = *m.EncodedLength
		}
	}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Digest, "md5-")); err == nil {
		copy(a.digest[:], sum)
	}
}

func (d *docReader) newBlob(name, contentType string) (*blobWriter, error) {
	return newBlobWriter(d.db.blobDir(), d.db.fsync, name, d.limits.attachmentSize, d.limits.compressible.MatchString(contentType))
}

// settleCompression stores data as its content type asks for, which may have
// come after it.
func (d *docReader) settleCompression(data *blobWriter, contentType string) (*blobWriter, error) {
	if data.gz == nil && d.limits.compressible.MatchString(contentType) {
		return data.recompress()
	}
	return data, nil
}

// checkDocID holds a document id to CouchDB's rules.
func checkDocID(id string) error {
	switch {
	case id == "":
		return illegalDocID("Document id must not be empty")
	case id == "_design/" || id == "_local/":
		return illegalDocID("Illegal document id `" + id + "`")
	case !utf8.ValidString(id):
		return illegalDocID("Document id must be valid UTF-8")
	case strings.HasPrefix(id, "_design/") || isLocal(id):
		return nil
	case strings.HasPrefix(id, "_"):
		return illegalDocID("Only reserved document ids may start with underscore.")
	}
	return nil
}
