package refserver

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// changesQuery is what a _changes request asks for.
type changesQuery struct {
	feed        string // normal, longpoll, continuous, eventsource
	since       uint64
	limit       int
	descending  bool
	allLeaves   bool // style=all_docs
	includeDocs bool
	doc         docOptions
	seqInterval int           // every how many rows have a sequence, 0: all
	heartbeat   time.Duration // 0: none, the feed ends after timeout
	timeout     time.Duration
	filter      changesFilter // nil: everything
}

// changesFilter says whether a change passes; doc reads the revision at one of
// its leaves.
type changesFilter func(c *change, doc func(leaf int) (*document, error)) (passes []bool, err error)

// maxWait is chttpd/changes_timeout: a feed waits no longer than that without
// a sign of life.
const maxWait = 60 * time.Second

func (x *exchange) changes(db *database) error {
	if x.method != http.MethodGet && x.method != http.MethodPost {
		return x.notAllowed("GET,POST,HEAD")
	}
	q, err := x.changesQuery(db)
	if err != nil {
		return err
	}
	f := &feed{x: x, db: db, q: q, last: q.since}
	switch q.feed {
	case "normal":
		return f.normal()
	case "longpoll":
		return f.longpoll()
	}
	return f.continuous()
}

func (x *exchange) changesQuery(db *database) (*changesQuery, error) {
	q := &changesQuery{
		feed: "normal", limit: math.MaxInt, timeout: maxWait,
		descending:  x.query("descending") == "true",
		includeDocs: x.query("include_docs") == "true",
		doc: docOptions{
			deleted:         true,
			conflicts:       x.query("conflicts") == "true",
			attachments:     x.query("attachments") == "true",
			attEncodingInfo: x.query("att_encoding_info") == "true",
		},
	}
	switch f := x.query("feed"); f {
	case "live":
		q.feed = "continuous"
	case "normal", "longpoll", "continuous", "eventsource":
		q.feed = f
	case "":
	default:
		return nil, badRequest("Supported `feed` types: normal, continuous, live, longpoll, eventsource")
	}
	switch x.query("style") {
	case "all_docs":
		q.allLeaves = true
	case "", "main_only":
	default:
		return nil, badRequest("Supported `style` values: main_only, all_docs")
	}
	if err := x.changesNumbers(q); err != nil {
		return nil, err
	}
	since := x.query("since")
	for _, id := range []string{x.query("last-event-id"), x.r.Header.Get("Last-Event-Id")} {
		if id != "" && q.feed == "eventsource" {
			since = id
		}
	}
	err := db.view(func(t *readTx) (err error) {
		if q.descending || since == "now" {
			q.since = t.counters().updateSeq
			return nil
		}
		if since != "" {
			q.since, err = db.parseSeq(since)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	q.filter, err = x.changesFilter(db, q)
	return q, err
}

func (x *exchange) changesNumbers(q *changesQuery) error {
	number := func(name string, least int, other, small string) (int, error) {
		n, err := strconv.Atoi(x.query(name))
		if err != nil {
			return 0, badRequest(other)
		}
		if n < least {
			return 0, badRequest(small)
		}
		return n, nil
	}
	var err error
	if x.has("limit") {
		if q.limit, err = number("limit", 0, "The limit parameter should be a non-negative integer",
			"The limit value should be a non-negative integer"); err != nil {
			return err
		}
	}
	if x.has("seq_interval") {
		if q.seqInterval, err = number("seq_interval", 1, "invalid_seq_interval", "invalid_seq_interval"); err != nil {
			return err
		}
	}
	if x.has("timeout") {
		n, err := number("timeout", 0, "The timeout parameter should be a non-negative integer",
			"The timeout value should be a non-negative integer")
		if err != nil {
			return err
		}
		q.timeout = min(maxWait, time.Duration(n)*time.Millisecond)
	}
	switch x.query("heartbeat") {
	case "":
	case "true":
		q.heartbeat = maxWait
	default:
		n, err := number("heartbeat", 1, "Invalid heartbeat value. Expecting a positive integer value (in milliseconds).",
			"The heartbeat value should be a positive integer (in milliseconds).")
		if err != nil {
			return err
		}
		q.heartbeat = min(maxWait, time.Duration(n)*time.Millisecond)
	}
	return nil
}

// changesFilter makes the filter of a request. The body of a POST is read here.
func (x *exchange) changesFilter(db *database, q *changesQuery) (changesFilter, error) {
	var body struct {
		DocIDs   json.RawMessage `json:"doc_ids"`
		Selector json.RawMessage `json:"selector"`
	}
	if x.method == http.MethodPost {
		if err := x.wantJSON(); err != nil {
			return nil, err
		}
		b, err := x.body()
		if err != nil {
			return nil, err
		}
		if len(b) > 0 {
			if !json.Valid(b) {
				return nil, errBadJSON
			}
			if json.Unmarshal(b, &body) != nil {
				return nil, badRequest("Request body must be a JSON object")
			}
		}
	}
	switch name := x.query("filter"); {
	case name == "":
		return nil, nil
	case name == "_doc_ids":
		list := body.DocIDs
		if x.method == http.MethodGet {
			list = json.RawMessage(x.query("doc_ids"))
		}
		var ids []string
		if json.Unmarshal(list, &ids) != nil || ids == nil {
			return nil, badRequest("`doc_ids` filter parameter is not a list of doc ids.")
		}
		return byID(func(id string) bool { return slices.Contains(ids, id) }), nil
	case name == "_design":
		return byID(func(id string) bool { return strings.HasPrefix(id, "_design/") }), nil
	case name == "_selector":
		if x.method != http.MethodPost {
			return nil, badRequest("Selector must be specified in POST payload")
		}
		s, err := compileSelector(body.Selector)
		if err != nil {
			return nil, err
		}
		return q.bySelector(s), nil
	case name == "_view":
		view, _, ok := strings.Cut(x.query("view"), "/")
		if !x.has("view") {
			return nil, badRequest("`view` filter parameter is not provided.")
		}
		if !ok {
			return nil, badRequest("`view` must be of the form `designname/viewname`")
		}
		return nil, db.noJavaScript(view, "views")
	case name[0] == '_':
		return nil, badRequest("unknown builtin filter name")
	default:
		ddoc, _, ok := strings.Cut(name, "/")
		if !ok {
			return nil, badRequest("`filter` must be of the form `designname/filtername`")
		}
		return nil, db.noJavaScript(ddoc, "filters")
	}
}

// noJavaScript is the error for what a design document's function would have to
// decide: that there is no such document, or that nothing here runs it.
func (db *database) noJavaScript(ddoc, member string) error {
	return db.view(func(t *readTx) error {
		d, err := t.winner("_design/"+ddoc, docOptions{})
		if err != nil {
			return err
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte("{"+string(d.body)+"}"), &fields); err != nil {
			return err
		}
		if fields[member] == nil {
			return notFound("missing json key: " + member)
		}
		return &apiError{http.StatusInternalServerError, "unknown_query_language", "javascript"}
	})
}

func byID(pass func(string) bool) changesFilter {
	return func(c *change, _ func(int) (*document, error)) ([]bool, error) {
		if !pass(c.id) {
			return nil, nil
		}
		return slices.Repeat([]bool{true}, len(c.leaves)), nil
	}
}

// bySelector tests the winner, or every leaf when all are asked for.
func (q *changesQuery) bySelector(s *selector) changesFilter {
	return func(c *change, doc func(int) (*document, error)) ([]bool, error) {
		passes := make([]bool, len(c.leaves))
		for i := range c.leaves {
			if i > 0 && !q.allLeaves {
				break
			}
			d, err := doc(i)
			if err != nil {
				return nil, err
			}
			if passes[i], err = s.matches(d); err != nil {
				return nil, err
			}
		}
		return passes, nil
	}
}

// feed is a _changes answer under way.
type feed struct {
	x     *exchange
	db    *database
	q     *changesQuery
	w     *bufio.Writer
	last  uint64 // sequence up to which changes were looked at
	until uint64 // sequence at which this look began: what is written meanwhile comes with the next
	rows  int    // sent
	end   bool   // there is nothing before the first sequence (descending)
}

// changeRow is a change to be sent.
type changeRow struct {
	seq     uint64
	id      string
	revs    []rev
	deleted bool
	doc     *document
}

// next reads the rows after f.last, some at a time; more says that there may be
// further ones.
func (f *feed) next() (rows []changeRow, more bool, err error) {
	err = f.db.view(func(t *readTx) error {
		cur := t.tx.Bucket(bucketSeqs).Cursor()
		k, v := cur.Seek(bodyKey(f.last + 1))
		step := cur.Next
		if f.q.descending {
			step = cur.Prev
			if f.end {
				k = nil
			} else if k, v = cur.Seek(bodyKey(f.last)); k == nil {
				k, v = cur.Last()
			} else if !bytes.Equal(k, bodyKey(f.last)) {
				k, v = cur.Prev()
			}
		}
		size := 0
		for n := 0; k != nil && binary.BigEndian.Uint64(k) <= f.until; k, v = step() {
			if len(rows) >= f.q.limit-f.rows {
				return nil
			}
			if n++; n > rowsAtOnce || size > rowBytesAtOnce {
				more = true
				return nil
			}
			c, err := decodeChange(k, v)
			if err != nil {
				return err
			}
			row, err := f.row(t, &c)
			if err != nil {
				return err
			}
			f.last = c.seq
			if f.q.descending {
				f.last--
				f.end = f.last == 0
			}
			if row != nil {
				if row.doc != nil {
					size += len(row.doc.body)
				}
				rows = append(rows, *row)
			}
		}
		return nil
	})
	return rows, more, err
}

// row makes the row of a change, nil when the filter holds it back.
func (f *feed) row(t *readTx, c *change) (*changeRow, error) {
	var record *docRecord
	var leaves []int
	open := func(i int) (*document, error) {
		if record == nil {
			var err error
			if record, err = t.doc(c.id); err != nil {
				return nil, err
			}
			leaves = record.tree.leaves()
		}
		return t.load(c.id, record, leaves[i])
	}
	row := &changeRow{seq: c.seq, id: c.id, deleted: c.leaves[0].deleted}
	var passes []bool
	if f.q.filter != nil {
		var err error
		if passes, err = f.q.filter(c, open); err != nil {
			return nil, err
		}
	}
	for i, l := range c.leaves {
		if i > 0 && !f.q.allLeaves {
			break
		}
		if f.q.filter == nil || i < len(passes) && passes[i] {
			row.revs = append(row.revs, l.rev)
		}
	}
	if len(row.revs) == 0 {
		return nil, nil
	}
	if f.q.includeDocs {
		d, err := open(0)
		if err != nil {
			return nil, err
		}
		d.meta = docMeta(record, leaves, f.q.doc)
		row.doc = d
	}
	return row, nil
}

// write sends a row, without what separates it from others.
func (f *feed) write(r *changeRow) error {
	f.rows++
	b := append(make([]byte, 0, 256), `{"seq":`...)
	if f.q.seqInterval > 1 && (f.q.limit-f.rows+1)%f.q.seqInterval != 0 {
		b = append(b, "null"...)
	} else {
		b = appendJSONString(b, f.db.seqText(r.seq))
	}
	b = append(b, `,"id":`...)
	b = appendJSONString(b, r.id)
	b = append(b, `,"changes":[`...)
	for i, v := range r.revs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"rev":`...)
		b = append(appendJSONString(b, v.String()), '}')
	}
	b = append(b, ']')
	if r.deleted {
		b = append(b, `,"deleted":true`...)
	}
	if r.doc != nil {
		f.w.Write(append(b, `,"doc":`...))
		if err := f.db.writeJSON(f.w, r.doc, f.q.doc); err != nil {
			return err
		}
		b = b[:0]
	}
	_, err := f.w.Write(append(b, '}'))
	return err
}

// each sends the rows that there are now, as separated by send.
func (f *feed) each(send func(*changeRow) error) error {
	if err := f.db.view(func(t *readTx) error {
		f.until = t.counters().updateSeq
		return nil
	}); err != nil {
		return err
	}
	for {
		rows, more, err := f.next()
		if err != nil {
			return err
		}
		for i := range rows {
			if err := send(&rows[i]); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

// listed sends rows as elements of an array.
func (f *feed) listed(r *changeRow) error {
	if f.rows > 0 {
		f.w.WriteString(",\r\n")
	}
	return f.write(r)
}

// pending counts the changes that are left.
func (f *feed) pending() (n int, err error) {
	err = f.db.view(func(t *readTx) error {
		cur := t.tx.Bucket(bucketSeqs).Cursor()
		if f.q.descending {
			for k, _ := cur.First(); k != nil && string(k) <= string(bodyKey(f.last)); k, _ = cur.Next() {
				n++
			}
			return nil
		}
		for k, _ := cur.Seek(bodyKey(f.last + 1)); k != nil; k, _ = cur.Next() {
			n++
		}
		return nil
	})
	return n, err
}

// lastSeq is the sequence from which a client goes on.
func (f *feed) lastSeq() string {
	if f.q.descending && f.rows > 0 {
		return f.db.seqText(f.last + 1)
	}
	return f.db.seqText(f.last)
}

func (f *feed) normal() error {
	f.w = f.x.stream(http.StatusOK)
	f.w.WriteString("{\"results\":[\n")
	if err := f.each(f.listed); err != nil {
		return err
	}
	return f.finishList()
}

func (f *feed) finishList() error {
	n, err := f.pending()
	if err != nil {
		return err
	}
	f.w.WriteString("\n],\n\"last_seq\":\"" + f.lastSeq() + "\",\"pending\":" + strconv.Itoa(n) + "}\n\n")
	return f.w.Flush()
}

// flush sends what is written, now.
func (f *feed) flush() error {
	if err := f.w.Flush(); err != nil {
		return err
	}
	return http.NewResponseController(f.x.w).Flush()
}

func (f *feed) longpoll() error {
	f.w = f.x.stream(http.StatusOK)
	f.w.WriteString("{\"results\":[\n")
	begin, told := time.Now(), false
	for {
		commit := f.db.nextCommit()
		if err := f.each(f.listed); err != nil {
			return err
		}
		if f.rows > 0 || f.q.descending || f.q.limit == 0 {
			return f.finishList()
		}
		if !told { // that there is nothing yet
			f.w.WriteString("\n")
			told = true
		}
		if err := f.flush(); err != nil {
			return err
		}
		switch f.wait(commit, begin) {
		case feedEnds:
			return f.finishList()
		case feedIdle:
			f.w.WriteString("\n")
		}
	}
}

// continuous sends a line, or an event, for each change as long as the client
// listens.
func (f *feed) continuous() error {
	events := f.q.feed == "eventsource"
	if events {
		f.x.setHeader("Content-Type", "text/event-stream")
		f.x.setHeader("Cache-Control", "no-cache")
	}
	f.w = f.x.stream(http.StatusOK)
	send := func(r *changeRow) error {
		if events {
			f.w.WriteString("data: ")
		}
		err := f.write(r)
		f.w.WriteByte('\n')
		if events {
			f.w.WriteString("id: \"" + f.db.seqText(r.seq) + "\"\n\n")
		}
		return err
	}
	begin := time.Now()
	for {
		commit := f.db.nextCommit()
		before := f.rows
		if err := f.each(send); err != nil {
			return err
		}
		if f.rows >= f.q.limit || f.q.descending {
			return f.finishLines(events)
		}
		if err := f.flush(); err != nil {
			return err
		}
		if f.rows > before {
			begin = time.Now()
		}
		switch f.wait(commit, begin) {
		case feedEnds:
			return f.finishLines(events)
		case feedIdle:
			if events {
				f.w.WriteString("event: heartbeat\ndata: \n")
			}
			f.w.WriteString("\n")
		}
	}
}

func (f *feed) finishLines(events bool) error {
	if events {
		return f.w.Flush()
	}
	n, err := f.pending()
	if err != nil {
		return err
	}
	f.w.WriteString("{\"last_seq\":\"" + f.lastSeq() + "\",\"pending\":" + strconv.Itoa(n) + "}\n\n")
	return f.w.Flush()
}

// feedState is why a feed stops waiting.
type feedState int

const (
	feedNews feedState = iota // something was committed
	feedIdle                  // it is time for a heartbeat
	feedEnds                  // nobody waits any longer
)

// wait waits for a commit, a heartbeat's time, or the end: of the timeout that
// began at begin, of the client, the database or the server.
func (f *feed) wait(commit <-chan struct{}, begin time.Time) feedState {
	idle := f.q.heartbeat
	if idle == 0 {
		idle = f.q.timeout - time.Since(begin)
	}
	timer := time.NewTimer(idle)
	defer timer.Stop()
	select {
	case <-commit:
		return feedNews
	case <-timer.C:
		if f.q.heartbeat > 0 {
			return feedIdle
		}
	case <-f.x.r.Context().Done():
	case <-f.db.gone:
	case <-f.db.stopped:
	}
	return feedEnds
}
