package refserver

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"couchgauge/internal/refserver/replicator"
)

// replicatorDB is the replicator database that is there from the start; any
// other database whose name ends in "/_replicator" is one too.
const replicatorDB = "_replicator"

const designPrefix = "_design/"

func isReplicatorDB(name string) bool {
	return name == replicatorDB || strings.HasSuffix(name, "/"+replicatorDB)
}

// replicatorSetting reads a setting of the section [replicator].
func (s *Server) replicatorSetting(key string) (string, bool) { return s.config.get("replicator", key) }

// replicatorDBs follows the replicator databases and tells of their documents.
type replicatorDBs struct {
	store     *store
	documents *replicator.Documents

	stop    chan struct{}
	work    sync.WaitGroup
	mu      sync.Mutex
	closed  bool
	watched map[string]chan struct{} // by name; closed when that watch has ended
}

// startReplicator starts the scheduler, and what documents of replicator
// databases ask for. A sink keeps no documents and has no such database.
func (s *Server) startReplicator() error {
	uuid, _ := s.config.get("couchdb", "uuid")
	s.replicator = replicator.NewScheduler(s.replicatorSetting, uuid, nodeName)
	s.documents = replicator.NewDocuments(s.replicator, &stateWriter{s.store})
	s.replicatorDBs = &replicatorDBs{
		store: s.store, documents: s.documents, stop: make(chan struct{}), watched: map[string]chan struct{}{},
	}
	if s.opts.Discard {
		return nil
	}
	if err := s.store.create(replicatorDB, defaultShards, copies); err != nil && err != errFileExists {
		return err
	}
	names, err := s.store.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		s.replicatorDBs.watch(name)
	}
	return nil
}

// stopReplicator ends all jobs and waits for their last checkpoints.
func (s *Server) stopReplicator() {
	w := s.replicatorDBs
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.stop)
	}
	w.mu.Unlock()
	w.work.Wait()
	s.replicator.Close()
}

// watch follows a database, if it is a replicator database, until it is deleted.
func (w *replicatorDBs) watch(name string) {
	if !isReplicatorDB(name) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	before := w.watched[name] // of a database of the same name, deleted meanwhile
	done := make(chan struct{})
	w.watched[name] = done
	w.work.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		w.follow(name)
	})
}

func (w *replicatorDBs) follow(name string) {
	db, err := w.store.database(name)
	if err != nil {
		return // deleted already
	}
	for last := uint64(0); ; {
		commit := db.nextCommit()
		var docs []changedDoc
		if err := db.view(func(t *readTx) (err error) {
			docs, err = t.changedDocs(last)
			return err
		}); err != nil {
			break // the database is being closed
		}
		for _, d := range docs {
			last = d.seq
			if !strings.HasPrefix(d.id, designPrefix) {
				// A document that cannot be written stays as it is: there is no
				// other place to say what is wrong with it.
				_ = w.documents.Changed(name, d.id, d.body)
			}
		}
		if len(docs) > 0 {
			continue // there may be more
		}
		select {
		case <-commit:
			continue
		case <-w.stop:
			return
		case <-db.gone:
		}
		break
	}
	select {
	case <-w.stop:
	default:
		w.documents.DatabaseGone(name)
	}
}

// changedDoc is a change with the document's JSON, nil when it was deleted.
type changedDoc struct {
	seq  uint64
	id   string
	body json.RawMessage
}

// changedDocs reads the next changes after a sequence.
func (t *readTx) changedDocs(after uint64) (out []changedDoc, err error) {
	cur := t.tx.Bucket(bucketSeqs).Cursor()
	for k, v := cur.Seek(bodyKey(after + 1)); k != nil && len(out) < rowsAtOnce; k, v = cur.Next() {
		c, err := decodeChange(k, v)
		if err != nil {
			return nil, err
		}
		d := changedDoc{seq: binary.BigEndian.Uint64(k), id: c.id}
		if !c.leaves[0].deleted {
			doc, err := t.winner(c.id, docOptions{})
			if err != nil {
				return nil, err
			}
			d.body = doc.object()
		}
		out = append(out, d)
	}
	return out, nil
}

// object is the document's members, without those that CouchDB adds.
func (d *document) object() json.RawMessage { return json.RawMessage("{" + string(d.body) + "}") }

// beforeWrite is what CouchDB does with documents of a replicator database
// before it stores them: they get an owner, and those that no job can be made of
// are refused. One of them refuses the request.
func (x *exchange) beforeWrite(db *database, edits []*edit) error {
	if !isReplicatorDB(db.name) {
		return nil
	}
	for _, e := range edits {
		if strings.HasPrefix(e.id, designPrefix) || isLocal(e.id) {
			continue
		}
		if err := x.checkReplication(e); err != nil {
			for _, e := range edits {
				e.discard()
			}
			return err
		}
	}
	return nil
}

func (x *exchange) checkReplication(e *edit) error {
	text := (&document{body: e.body}).object()
	var fields struct {
		Owner json.RawMessage  `json:"owner"`
		State replicator.State `json:"_replication_state"`
	}
	_ = json.Unmarshal(text, &fields) // another shape has neither
	if fields.Owner == nil || string(fields.Owner) == "null" {
		var owner any = json.RawMessage("null")
		if x.user.name != "" {
			owner = x.user.name
		}
		var err error
		if e.body, err = setMembers(e.body, []replicator.Member{{Name: "owner", Value: owner}}); err != nil {
			return err
		}
	}
	if e.deleted || fields.State == replicator.Failed {
		return nil
	}
	if _, invalid := replicator.Parse(text, x.s.replicatorSetting); invalid != nil {
		return forbidden(invalid.Forbidden())
	}
	return nil
}

// stateWriter writes the states of replications into their documents.
type stateWriter struct{ store *store }

// SetMembers implements replicator.Store.
func (w *stateWriter) SetMembers(name, id string, change []replicator.Member) error {
	for {
		db, err := w.store.database(name)
		if err != nil {
			return goneIsFine(err)
		}
		var d *document
		if err := db.view(func(t *readTx) (err error) {
			d, err = t.winner(id, docOptions{})
			return err
		}); err != nil {
			return goneIsFine(err)
		}
		e := &edit{id: id, pos: d.pos, ids: d.ids[:1]}
		for _, a := range d.atts {
			e.atts = append(e.atts, newAttachment{attachment: a})
		}
		if e.body, err = setMembers(d.body, change); err != nil {
			return err
		}
		out, err := db.write([]*edit{e})
		if err != nil {
			return goneIsFine(err)
		}
		if out[0].err != errConflict {
			return out[0].err
		}
	}
}

// goneIsFine passes over the errors of what was deleted meanwhile.
func goneIsFine(err error) error {
	if errors.Is(err, errNoDatabase) || errors.Is(err, errMissing) || errors.Is(err, errDeleted) {
		return nil
	}
	return err
}

// setMembers changes members of a document's body; the others stay as they
// were written.
func setMembers(body []byte, change []replicator.Member) ([]byte, error) {
	o, err := parseObject((&document{body: body}).object())
	if err != nil {
		return nil, err
	}
	for _, c := range change {
		o = o.set(c.Name, c.Value)
	}
	text, err := marshal(o)
	if err != nil {
		return nil, err
	}
	return text[1 : len(text)-1], nil
}
