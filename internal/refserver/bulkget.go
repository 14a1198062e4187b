package refserver

import (
	"bufio"
	"encoding/json"
	"net/http"
)

// bulkGetItem is one document asked for by _bulk_get.
type bulkGetItem struct {
	id    json.RawMessage // as it is repeated in the answer
	docID string
	all   bool // no revision was named
	rev   rev
	since []rev
	err   *bulkGetError
}

// bulkGetError is why an item has no document. rev is repeated as it was given.
type bulkGetError struct {
	rev           json.RawMessage
	error, reason string
}

var jsonNull = json.RawMessage("null")

// bulkGet serves _bulk_get: many documents, each at a revision or at all its
// leaves.
func (x *exchange) bulkGet(db *database) error {
	if x.method != http.MethodPost {
		return x.notAllowed("POST")
	}
	if err := x.wantJSON(); err != nil {
		return err
	}
	b, err := x.body()
	if err != nil {
		return err
	}
	if !json.Valid(b) {
		return errBadJSON
	}
	var body map[string]json.RawMessage
	if json.Unmarshal(b, &body) != nil {
		return badRequest("Request body must be a JSON object")
	}
	var docs []json.RawMessage
	if body["docs"] == nil || json.Unmarshal(body["docs"], &docs) != nil {
		return badRequest("Missing JSON list of 'docs'.")
	}
	for _, name := range []string{"open_revs", "new_edits", "w", "rev", "atts_since"} {
		if x.has(name) {
			return badRequest(`"` + name + `" query parameter is not acceptable`)
		}
	}
	o, err := x.docOptions()
	if err != nil {
		return err
	}
	items := make([]bulkGetItem, len(docs))
	for i := range docs {
		items[i] = parseBulkGetItem(docs[i])
	}
	if !x.accepts("application/json") && (x.accepts("multipart/mixed") || x.accepts("multipart/related")) {
		return x.bulkGetParts(db, items, o)
	}
	w := x.stream(http.StatusOK)
	w.WriteString(`{"results":[`)
	for i := range items {
		if i > 0 {
			w.WriteByte(',')
		}
		if err := db.writeBulkGetItem(w, &items[i], o); err != nil {
			return err
		}
	}
	w.WriteString("]}\n")
	return w.Flush()
}

func parseBulkGetItem(raw json.RawMessage) (it bulkGetItem) {
	it.id = jsonNull
	fail := func(rev json.RawMessage, error, reason string) bulkGetItem {
		it.err = &bulkGetError{rev, error, reason}
		return it
	}
	var props map[string]json.RawMessage
	if json.Unmarshal(raw, &props) != nil || len(props) == 0 {
		return fail(jsonNull, "bad_request", "document must be a JSON object")
	}
	if props["id"] == nil {
		return fail(jsonNull, "bad_request", "document id missed")
	}
	it.id = props["id"]
	if json.Unmarshal(it.id, &it.docID) != nil || it.id[0] != '"' {
		return fail(jsonNull, "illegal_docid", "Document id must be a string")
	}
	if err := checkDocID(it.docID); err != nil {
		api := err.(*apiError) // checkDocID has no other
		return fail(jsonNull, api.error, api.reason)
	}
	it.all = props["rev"] == nil
	if !it.all {
		var text string
		var err error
		if json.Unmarshal(props["rev"], &text) != nil {
			err = errRevFormat
		} else {
			it.rev, err = parseRev(text)
		}
		if err != nil {
			return fail(props["rev"], "bad_request", errRevFormat.reason)
		}
	}
	if list := props["atts_since"]; list != nil {
		if list[0] != '[' {
			return fail(list, "bad_request", "att_since value must be array of revs.")
		}
		var err error
		if it.since, err = parseRevList(string(list)); err != nil {
			return fail(list, "bad_request", errRevFormat.reason)
		}
	}
	return it
}

// options are those of the request with those of the item.
func (it *bulkGetItem) options(o docOptions) docOptions {
	if len(it.since) > 0 {
		o.attsSince, o.attachments = it.since, true
	}
	return o
}

// open reads what the item asks for.
func (it *bulkGetItem) open(db *database, o docOptions) (opened []openedRev, err error) {
	if it.err != nil {
		return nil, nil
	}
	err = db.view(func(t *readTx) (err error) {
		if isLocal(it.docID) {
			if d := t.local(it.docID); d != nil && it.all {
				opened = []openedRev{{doc: d}}
			}
			return nil
		}
		opened, err = t.revisions(it.docID, []rev{it.rev}, it.all, o)
		return err
	})
	if err == nil && len(opened) == 0 {
		it.err = &bulkGetError{json.RawMessage(`"undefined"`), "not_found", "missing"}
	}
	return opened, err
}

func (e *bulkGetError) append(b []byte, id json.RawMessage) []byte {
	b = append(append(b, `{"id":`...), id...)
	b = append(append(b, `,"rev":`...), e.rev...)
	b = append(append(b, `,"error":`...), appendJSONString(nil, e.error)...)
	b = append(append(b, `,"reason":`...), appendJSONString(nil, e.reason)...)
	return append(b, '}')
}

func (db *database) writeBulkGetItem(w *bufio.Writer, it *bulkGetItem, o docOptions) error {
	o = it.options(o)
	opened, err := it.open(db, o)
	if err != nil {
		return err
	}
	w.WriteString(`{"id":`)
	w.Write(it.id)
	w.WriteString(`,"docs":[`)
	if it.err != nil {
		w.WriteString(`{"error":`)
		w.Write(it.err.append(nil, it.id))
		w.WriteByte('}')
	}
	for i, r := range opened {
		if i > 0 {
			w.WriteByte(',')
		}
		if r.doc == nil {
			w.WriteString(`{"error":`)
			w.Write(missingItem(r.rev).append(nil, it.id))
		} else {
			w.WriteString(`{"ok":`)
			if err := db.writeJSON(w, r.doc, o); err != nil {
				return err
			}
		}
		w.WriteByte('}')
	}
	_, err = w.WriteString("]}")
	return err
}

func missingItem(r rev) *bulkGetError {
	return &bulkGetError{appendJSONString(nil, r.String()), "not_found", "missing"}
}

// bulkGetParts answers with a part for each document, its attachments in parts
// of their own.
func (x *exchange) bulkGetParts(db *database, items []bulkGetItem, o docOptions) error {
	kind := "multipart/mixed"
	if !x.accepts(kind) {
		kind = "multipart/related"
	}
	outer := "--" + randomHex(16)
	x.common()
	x.setHeader("Content-Type", kind+`; boundary="`+outer+`"`)
	w := x.begin(http.StatusOK)
	fail := func(e *bulkGetError, id json.RawMessage) {
		w.WriteString("\r\n--" + outer + "\r\nContent-Type: application/json; error=\"true\"\r\n\r\n")
		w.Write(e.append(nil, id))
	}
	for i := range items {
		it := &items[i]
		opened, err := it.open(db, it.options(o))
		if err != nil {
			return err
		}
		if it.err != nil {
			fail(it.err, it.id)
		}
		for _, r := range opened {
			if r.doc == nil {
				fail(missingItem(r.rev), it.id)
				continue
			}
			inner := "--" + randomHex(16)
			body, err := db.related(r.doc, it.options(o), inner)
			if err != nil {
				return err
			}
			w.WriteString("\r\n--" + outer)
			if len(body.atts) > 0 {
				w.WriteString("\r\nX-Doc-Id: " + r.doc.id + "\r\nX-Rev-Id: " + r.rev.String())
			}
			w.WriteString("\r\nContent-Type: " + body.contentType() + "\r\n\r\n")
			if err := body.writeTo(w); err != nil {
				return err
			}
		}
	}
	if len(items) > 0 {
		w.WriteString("\r\n--" + outer + "--\r\n")
	}
	return w.Flush()
}
