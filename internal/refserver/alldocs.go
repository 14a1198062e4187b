package refserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

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
	space        namespace
}

// namespace is a part of the documents that can be listed: all of them but the
// local ones, the design documents, the local ones.
type namespace struct {
	bucket []byte
	prefix string // of every id in it
	last   string // sorts right after every id with that prefix
}

var (
	everyDoc   = namespace{bucket: bucketDocs}
	designDocs = namespace{bucketDocs, "_design/", "_design0"}
	localDocs  = namespace{bucketLocal, localPrefix, "_local0"}
)

// alive says whether a record is that of a document that is there.
func (n namespace) alive(v []byte) bool { return n.local() || v[0] == 1 }

func (n namespace) local() bool { return n.prefix == localPrefix }

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
	p := &rowParams{limit: math.MaxInt, space: everyDoc}
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
	if !strings.HasPrefix(id, p.space.prefix) {
		return false, false
	}
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

func (x *exchange) allDocs(db *database) error    { return x.listDocs(db, everyDoc) }
func (x *exchange) designDocs(db *database) error { return x.listDocs(db, designDocs) }
func (x *exchange) localDocs(db *database) error  { return x.listDocs(db, localDocs) }

// listDocs serves /{db}/_all_docs and its like.
func (x *exchange) listDocs(db *database, space namespace) error {
	if x.method != http.MethodGet && x.method != http.MethodPost {
		return x.notAllowed("GET,HEAD,POST")
	}
	p, err := x.rowParams()
	if err != nil {
		return err
	}
	p.space = space
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
	id      string
	rev     rev
	deleted bool
	doc     *document // when asked for
}

func (x *exchange) docsInRange(db *database, p *rowParams) error {
	var head []byte
	var from []byte // where the next transaction goes on
	if err := db.view(func(t *readTx) error {
		total := t.total(p.space)
		before, first := seekRow(t.tx.Bucket(p.space.bucket).Cursor(), p)
		from = append([]byte(nil), first...)
		head = append(head, `{"total_rows":`...)
		head = append(head, countText(total)...)
		head = append(head, `,"offset":`...)
		head = append(head, countText(min(before+int64(p.skip), total))...)
		if p.updateSeq {
			head = append(head, `,"update_seq":"`+db.seqText(t.counters().updateSeq)+`"`...)
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

// total is how many documents there are; CouchDB does not count local ones.
func (t *readTx) total(space namespace) (n int64) {
	switch {
	case space.local():
		return uncounted
	case space.prefix == "":
		return t.counters().docs
	}
	cur := t.tx.Bucket(space.bucket).Cursor()
	for k, v := cur.Seek([]byte(space.prefix)); k != nil && string(k) < space.last; k, v = cur.Next() {
		if space.alive(v) {
			n++
		}
	}
	return n
}

const uncounted = -1

func countText(n int64) string {
	if n == uncounted {
		return "null"
	}
	return strconv.FormatInt(n, 10)
}

// seekRow moves to the first row of the range and says how many rows come before
// it.
func seekRow(cur *bolt.Cursor, p *rowParams) (before int64, first []byte) {
	k, v := cur.Seek([]byte(p.space.prefix))
	step, past := cur.Next, func(k []byte) bool { return string(k) < *p.start }
	if p.descending {
		step, past = cur.Prev, func(k []byte) bool { return string(k) > *p.start }
		if k, v = cur.Last(); p.space.last != "" {
			if k, _ = cur.Seek([]byte(p.space.last)); k == nil {
				k, v = cur.Last()
			} else {
				k, v = cur.Prev()
			}
		}
	}
	for ; k != nil && strings.HasPrefix(string(k), p.space.prefix) && p.start != nil && past(k); k, v = step() {
		if p.space.alive(v) {
			before++
		}
	}
	return before, k
}

// readRows reads rows from key from on, and the key to go on from, nil at the
// end.
func (db *database) readRows(p *rowParams, from []byte, most int) (rows []docRow, next []byte, err error) {
	err = db.view(func(t *readTx) error {
		cur := t.tx.Bucket(p.space.bucket).Cursor()
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
			if !p.space.alive(v) {
				continue
			}
			if p.skip > 0 {
				p.skip--
				continue
			}
			row, err := t.row(string(k), p)
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

// row reads the row of a document; one without a revision is not there.
func (t *readTx) row(id string, p *rowParams) (docRow, error) {
	row := docRow{id: id}
	if p.space.local() {
		if d := t.local(id); d != nil {
			row.rev = d.rev()
			if p.includeDocs {
				row.doc = d
			}
		}
		return row, nil
	}
	d, err := t.doc(id)
	if err != nil || d == nil {
		return row, err
	}
	leaves := d.tree.leaves()
	winner := &d.tree.nodes[leaves[0]]
	row.rev, row.deleted = winner.rev, winner.deleted
	if !p.includeDocs || row.deleted {
		return row, nil
	}
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
	if p.space.prefix != "" {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k json.RawMessage) bool {
			var id string
			return json.Unmarshal(k, &id) != nil || !strings.HasPrefix(id, p.space.prefix)
		})
	}
	var total int64
	if err := db.view(func(t *readTx) error {
		total = t.total(p.space)
		return nil
	}); err != nil {
		return err
	}
	w := x.stream(http.StatusOK)
	w.WriteString(`{"total_rows":` + countText(total) + `,"offset":null`)
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
	var row docRow
	if json.Unmarshal(key, &id) == nil {
		if err := db.view(func(t *readTx) (err error) {
			row, err = t.row(id, p)
			return err
		}); err != nil {
			return err
		}
	}
	switch {
	case row.rev.id == "":
		w.WriteString(`{"key":`)
		w.Write(key)
		_, err := w.WriteString(`,"error":"not_found"}`)
		return err
	case row.deleted:
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
