package refserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	bolt "go.etcd.io/bbolt"
)

// rowParams are the parameters of a list of rows, from the query or, for POST,
// the body.
type rowParams struct {
	start, end   *string
	keys         []json.RawMessage
	hasKeys      bool
	limit, skip  int
	descending   bool
	exclusiveEnd bool
	includeDocs  bool
	updateSeq    bool
	doc          docOptions
}

var errKeys = badRequest("`keys` parameter must be an array.")

func queryError(reason string) error {
	return &apiError{http.StatusBadRequest, "query_parse_error", reason}
}

// rowParams reads the query.
func (x *exchange) rowParams() (*rowParams, error) {
	raw := map[string]json.RawMessage{}
	for name := range x.params {
		raw[name] = json.RawMessage(x.query(name))
	}
	p := &rowParams{limit: math.MaxInt}
	return p, p.set(raw)
}

// set takes over the parameters that are named in raw.
func (p *rowParams) set(raw map[string]json.RawMessage) error {
	for name, v := range raw {
		var err error
		switch name {
		case "startkey", "start_key", "endkey", "end_key", "key":
			var k any
			if json.Unmarshal(v, &k) != nil {
				return errBadJSON
			}
			s, _ := k.(string) // any other type sorts before every id
			if name[0] != 'e' {
				p.start = &s
			}
			if name[0] != 's' {
				p.end = &s
			}
		case "keys":
			p.hasKeys = true
			if json.Unmarshal(v, &p.keys) != nil {
				return errKeys
			}
		case "limit":
			p.limit, err = nonNegative(v)
		case "skip":
			p.skip, err = nonNegative(v)
		case "descending":
			p.descending, err = boolean(v)
		case "inclusive_end":
			var inclusive bool
			inclusive, err = boolean(v)
			p.exclusiveEnd = !inclusive
		case "include_docs":
			p.includeDocs, err = boolean(v)
		case "update_seq":
			p.updateSeq, err = boolean(v)
		case "conflicts":
			p.doc.conflicts, err = boolean(v)
		case "attachments":
			p.doc.attachments, err = boolean(v)
		case "att_encoding_info":
			p.doc.attEncodingInfo, err = boolean(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func nonNegative(v json.RawMessage) (int, error) {
	n, err := strconv.Atoi(string(bytes.Trim(v, `"`)))
	if err != nil {
		return 0, queryError("Invalid value for integer: \"" + string(bytes.Trim(v, `"`)) + "\"")
	}
	if n < 0 {
		return 0, queryError("Invalid value for positive integer: \"" + strconv.Itoa(n) + "\"")
	}
	return n, nil
}

func boolean(v json.RawMessage) (bool, error) {
	switch string(bytes.Trim(v, `"`)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, queryError("Invalid boolean parameter: \"" + string(bytes.Trim(v, `"`)) + "\"")
}

// inside says whether an id is in the range, and whether ids after it, in the
// direction of the list, can be.
func (p *rowParams) inside(id string) (in, goOn bool) {
	if p.end == nil {
		return true, true
	}
	past := id > *p.end
	if p.descending {
		past = id < *p.end
	}
	if past || p.exclusiveEnd && id == *p.end {
		return false, false
	}
	return true, true
}

// cut is the part of a sorted list that the parameters ask for.
func (p *rowParams) cut(names []string) []string {
	out := []string{}
	skip := p.skip
	for i := range names {
		name := names[i]
		if p.descending {
			name = names[len(names)-1-i]
		}
		if p.start != nil && (name < *p.start && !p.descending || name > *p.start && p.descending) {
			continue
		}
		in, goOn := p.inside(name)
		if !goOn || len(out) >= p.limit {
			break
		}
		if !in {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		out = append(out, name)
	}
	return out
}

// allDocs serves /{db}/_all_docs.
func (x *exchange) allDocs(db *database) error {
	if x.method != http.MethodGet && x.method != http.MethodPost {
		return x.notAllowed("GET,HEAD,POST")
	}
	p, err := x.rowParams()
	if err != nil {
		return err
	}
	if x.method == http.MethodPost {
		if err := x.wantJSON(); err != nil {
			return err
		}
		var body map[string]json.RawMessage
		b, err := x.body()
		if err != nil {
			return err
		}
		if !json.Valid(b) {
			return errBadJSON
		}
		if json.Unmarshal(b, &body) != nil {
			return badRequest("Request body must be a JSON object")
		}
		if err := p.set(body); err == errKeys {
			return badRequest("`keys` body member must be an array.")
		} else if err != nil {
			return err
		}
	}
	if x.has("key") && p.start != nil {
		p.end = p.start
	}
	if p.hasKeys {
		return x.docsOfKeys(db, p)
	}
	return x.docsInRange(db, p)
}

// rowsAtOnce is how many rows are read in one transaction, and rowBytesAtOnce
// after how many bytes it ends.
const (
	rowsAtOnce     = 500
	rowBytesAtOnce = 1 << 20
)

// docRow is a row of _all_docs.
type docRow struct {
	id  string
	rev rev
	doc *document // when asked for
}

func (x *exchange) docsInRange(db *database, p *rowParams) error {
	var head []byte
	var from []byte // where the next transaction goes on
	if err := db.view(func(t *readTx) error {
		c := t.counters()
		cur := t.tx.Bucket(bucketDocs).Cursor()
		offset, first := seekRow(cur, p, c.docs)
		from = append([]byte(nil), first...)
		head = append(head, `{"total_rows":`...)
		head = strconv.AppendInt(head, c.docs, 10)
		head = append(head, `,"offset":`...)
		head = strconv.AppendInt(head, min(offset+int64(p.skip), c.docs), 10)
		if p.updateSeq {
			head = append(head, `,"update_seq":"`+db.seqText(c.updateSeq)+`"`...)
		}
		return nil
	}); err != nil {
		return err
	}
	w := x.stream(http.StatusOK)
	w.Write(head)
	w.WriteString(",\"rows\":[\r\n")
	sent := 0
	for from != nil && sent < p.limit {
		var rows []docRow
		var err error
		if rows, from, err = db.readRows(p, from, p.limit-sent); err != nil {
			return err
		}
		for i := range rows {
			if sent++; sent > 1 {
				w.WriteString(",\r\n")
			}
			if err := db.writeRow(w, &rows[i], p); err != nil {
				return err
			}
		}
	}
	w.WriteString("\r\n]}\n")
	return w.Flush()
}

// seekRow moves to the first row of the range and says how many rows come before
// it.
func seekRow(cur *bolt.Cursor, p *rowParams, total int64) (before int64, first []byte) {
	alive := func(v []byte) bool { return v[0] == 1 }
	k, v := cur.First()
	if p.descending {
		k, v = cur.Last()
		for ; k != nil && p.start != nil && string(k) > *p.start; k, v = cur.Prev() {
			if alive(v) {
				before++
			}
		}
		return before, k
	}
	for ; k != nil && p.start != nil && string(k) < *p.start; k, v = cur.Next() {
		if alive(v) {
			before++
		}
	}
	return before, k
}

// readRows reads rows from key from on, and the key to go on from, nil at the
// end.
func (db *database) readRows(p *rowParams, from []byte, most int) (rows []docRow, next []byte, err error) {
	err = db.view(func(t *readTx) error {
		cur := t.tx.Bucket(bucketDocs).Cursor()
		k, v := cur.Seek(from)
		step := cur.Next
		if p.descending {
			step = cur.Prev
			if k == nil || !bytes.Equal(k, from) {
				k, v = cur.Prev()
			}
		}
		size := 0
		for ; k != nil; k, v = step() {
			if _, goOn := p.inside(string(k)); !goOn || len(rows) >= most {
				return nil
			}
			if len(rows) >= rowsAtOnce || size > rowBytesAtOnce {
				next = append([]byte(nil), k...)
				return nil
			}
			if v[0] == 0 {
				continue
			}
			if p.skip > 0 {
				p.skip--
				continue
			}
			d, err := decodeDocRecord(v)
			if err != nil {
				return err
			}
			row, err := t.row(string(k), d, p)
			if err != nil {
				return err
			}
			if row.doc != nil {
				size += len(row.doc.body)
			}
			rows = append(rows, row)
		}
		return nil
	})
	return rows, next, err
}

func (t *readTx) row(id string, d *docRecord, p *rowParams) (docRow, error) {
	leaves := d.tree.leaves()
	row := docRow{id: id, rev: d.tree.nodes[leaves[0]].rev}
	if !p.includeDocs || d.tree.nodes[leaves[0]].deleted {
		return row, nil
	}
	var err error
	if row.doc, err = t.load(id, d, leaves[0]); err == nil {
		row.doc.meta = docMeta(d, leaves, p.doc)
	}
	return row, err
}

func (db *database) writeRow(w *bufio.Writer, row *docRow, p *rowParams) error {
	b := appendJSONString([]byte(`{"id":`), row.id)
	b = append(b, `,"key":`...)
	b = appendJSONString(b, row.id)
	b = append(b, `,"value":{"rev":"`...)
	b = append(b, row.rev.String()...)
	b = append(b, `"}`...)
	if row.doc != nil {
		w.Write(append(b, `,"doc":`...))
		if err := db.writeJSON(w, row.doc, p.doc); err != nil {
			return err
		}
		b = b[:0]
	}
	_, err := w.Write(append(b, '}'))
	return err
}

// docsOfKeys answers with one row for each key, found or not.
func (x *exchange) docsOfKeys(db *database, p *rowParams) error {
	keys := p.keys
	if p.descending {
		keys = nil
		for i := range p.keys {
			keys = append(keys, p.keys[len(p.keys)-1-i])
		}
	}
	keys = keys[min(p.skip, len(keys)):]
	keys = keys[:min(p.limit, len(keys))]
	var total int64
	if err := db.view(func(t *readTx) error {
		total = t.counters().docs
		return nil
	}); err != nil {
		return err
	}
	w := x.stream(http.StatusOK)
	w.WriteString(`{"total_rows":` + strconv.FormatInt(total, 10) + `,"offset":null`)
	if p.updateSeq {
		w.WriteString(`,"update_seq":null`)
	}
	w.WriteString(",\"rows\":[\r\n")
	for i, key := range keys {
		if i > 0 {
			w.WriteString(",\r\n")
		}
		if err := db.writeKeyRow(w, key, p); err != nil {
			return err
		}
	}
	w.WriteString("\r\n]}\n")
	return w.Flush()
}

func (db *database) writeKeyRow(w *bufio.Writer, key json.RawMessage, p *rowParams) error {
	var id string
	var d *docRecord
	var row docRow
	if json.Unmarshal(key, &id) == nil {
		if err := db.view(func(t *readTx) (err error) {
			if d, err = t.doc(id); d != nil {
				row, err = t.row(id, d, p)
			}
			return err
		}); err != nil {
			return err
		}
	}
	switch {
	case d == nil:
		w.WriteString(`{"key":`)
		w.Write(key)
		_, err := w.WriteString(`,"error":"not_found"}`)
		return err
	case d.tree.deleted():
		b := appendJSONString([]byte(`{"id":`), id)
		b = append(appendJSONString(append(b, `,"key":`...), id), `,"value":{"rev":"`+row.rev.String()+`","deleted":true}`...)
		if p.includeDocs {
			b = append(b, `,"doc":null`...)
		}
		_, err := w.Write(append(b, '}'))
		return err
	}
	return db.writeRow(w, &row, p)
}
