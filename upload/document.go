package upload

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// document adds doc as JSON. rest writes what an attachment's object holds
// besides its content type. _id stands in it for PouchDB Server (fact 5).
func (b *Body) document(doc Document, newEdits bool, rest func(Attachment)) {
	b.text(`{"_id":` + jsonString(doc.ID))
	if rev := doc.writtenRev(newEdits); rev != "" {
		b.text(`,"_rev":` + jsonString(rev))
	}
	b.text(`,"_attachments":{`)
	comma := ""
	if stubs := bytes.TrimSpace(doc.Stubs); len(stubs) > 2 {
		b.text(string(stubs[1 : len(stubs)-1])) // without its braces
		comma = ","
	}
	for _, a := range doc.Attachments {
		b.text(comma + jsonString(a.Name) + `:{"content_type":` + jsonString(a.Type) + ",")
		rest(a)
		b.text("}")
		comma = ","
	}
	b.text("}}")
}

// inlineDocument adds doc with its attachments' bytes in base64.
func (b *Body) inlineDocument(doc Document, newEdits bool) {
	b.document(doc, newEdits, func(a Attachment) {
		b.text(`"data":"`)
		b.base64(a.Attachment)
		b.text(`"`)
	})
}

// writtenRev is the _rev that doc is written with: the one that it has, or,
// with new_edits=false, the one that it is to get.
func (doc Document) writtenRev(newEdits bool) string {
	if newEdits {
		return doc.Rev
	}
	sum := md5.Sum([]byte(doc.ID))
	return "1-" + hex.EncodeToString(sum[:])
}

func jsonString(s string) string {
	j, _ := json.Marshal(s) // a string always has a JSON form
	return string(j)
}

func newEditsQuery(newEdits bool) string {
	if newEdits {
		return ""
	}
	return "new_edits=false"
}

// oneAnswer reads {"ok":true,"id":…,"rev":…}, whatever content type it came
// with (U12). PouchDB Server answers new_edits=false with an empty array.
func oneAnswer(body []byte) ([]string, error) {
	body = bytes.TrimSpace(body)
	if string(body) == "[]" {
		return nil, nil
	}
	if rev, ok := revOf(body); ok {
		return []string{rev}, nil
	}
	var answer struct{ Rev, Error, Reason string }
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, notUnderstood(body, err)
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("%s: %s", answer.Error, answer.Reason)
	}
	if answer.Rev == "" {
		return nil, notUnderstood(body, errors.New("it has no rev"))
	}
	return []string{answer.Rev}, nil
}

// revOf takes the revision from an answer in exactly CouchDB's form, which is
// all that most small uploads need. No quote in an id looks like the one that
// is searched: JSON escapes it.
func revOf(body []byte) (string, bool) {
	const ok, key, end = `{"ok":true,`, `"rev":"`, `"}`
	at := bytes.LastIndex(body, []byte(key))
	if at < 0 || !bytes.HasPrefix(body, []byte(ok)) || !bytes.HasSuffix(body, []byte(end)) {
		return "", false
	}
	rev := body[at+len(key) : len(body)-len(end)]
	return string(rev), len(rev) > 0 && bytes.IndexByte(rev, '"') < 0
}

func notUnderstood(body []byte, err error) error {
	return fmt.Errorf("the answer is not CouchDB's JSON: %.80q: %w", body, err)
}
