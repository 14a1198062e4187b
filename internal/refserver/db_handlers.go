package refserver

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Defaults of cluster/q and cluster/n. There is one node, and so one copy.
const (
	defaultShards = 2
	copies        = 1
)

func (x *exchange) createDB(name string) error {
	if err := x.needAdmin(); err != nil {
		return err
	}
	q, err := x.positive("q", defaultShards)
	if err != nil {
		return err
	}
	if _, err := x.positive("n", copies); err != nil {
		return err
	}
	if err := x.s.store.create(name, q, copies); err != nil {
		return err
	}
	x.s.replicatorDBs.watch(name)
	x.setHeader("Location", x.location(name))
	return x.json(http.StatusCreated, okTrue)
}

func (x *exchange) positive(name string, def int) (int, error) {
	if !x.has(name) {
		return def, nil
	}
	n, err := strconv.Atoi(x.query(name))
	if err != nil || n < 1 {
		return 0, badRequest("The `" + name + "` value should be a positive integer.")
	}
	return n, nil
}

func (x *exchange) deleteDB(name string) error {
	if err := x.needAdmin(); err != nil {
		return err
	}
	if x.has("rev") {
		return badRequest("You tried to DELETE a database with a ?=rev parameter. " +
			"Did you mean to DELETE a document instead?")
	}
	if err := x.s.store.remove(name); err != nil {
		return err
	}
	return x.json(http.StatusOK, okTrue)
}

// diskFormat is the disk_format_version that CouchDB 3.5 reports.
const diskFormat = 8

func (x *exchange) dbInfo(db *database) error {
	info, err := db.info()
	if err != nil {
		return err
	}
	return x.json(http.StatusOK, info)
}

// info is what GET /{db} tells.
func (db *database) info() (object, error) {
	var c counters
	if err := db.view(func(t *readTx) error {
		c = t.counters()
		return nil
	}); err != nil {
		return nil, err
	}
	st, err := os.Stat(filepath.Join(db.dir, boltFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNoDatabase
	}
	if err != nil {
		return nil, err
	}
	quorum := db.n/2 + 1
	return object{
		{"instance_start_time", strconv.FormatInt(db.created, 10)},
		{"db_name", db.name},
		{"purge_seq", db.seqText(0)},
		{"update_seq", db.seqText(c.updateSeq)},
		{"sizes", object{{"file", st.Size() + c.fileBytes}, {"external", c.external}, {"active", c.active}}},
		{"props", object{}},
		{"doc_del_count", c.deleted},
		{"doc_count", c.docs},
		{"disk_format_version", diskFormat},
		{"compact_running", false},
		{"cluster", object{{"q", db.q}, {"n", db.n}, {"w", quorum}, {"r", quorum}}},
	}, nil
}

// maxInfos is how many databases a _dbs_info request may name.
const maxInfos = 100

// dbsInfo serves /_dbs_info: the info of the databases named, or of all in a
// range.
func (x *exchange) dbsInfo() error {
	if err := x.needAdmin(); err != nil {
		return err
	}
	var names []string
	switch x.method {
	case http.MethodGet:
		p, err := x.rowParams()
		if err != nil {
			return err
		}
		if names, err = x.s.store.names(); err != nil {
			return err
		}
		names = p.cut(names)
	case http.MethodPost:
		var body struct{ Keys []string }
		if err := x.bodyJSON(&body); err != nil {
			return err
		}
		if names = body.Keys; names == nil {
			return badRequest("`keys` member must exist.")
		}
		if len(names) > maxInfos {
			return badRequest("`keys` member exceed maximum number of databases")
		}
	default:
		return x.notAllowed("GET,HEAD,POST")
	}
	infos := make([]object, len(names))
	for i, name := range names {
		infos[i] = object{{"key", name}, {"error", "not_found"}}
		db, err := x.s.store.database(name)
		if err == nil {
			var info object
			if info, err = db.info(); err == nil {
				infos[i] = object{{"key", name}, {"info", info}}
			}
		}
		if err != nil && err != error(errNoDatabase) {
			return err
		}
	}
	return x.json(http.StatusOK, infos)
}

// seqPrefix is how many bytes of a database's uuid a sequence carries, so that a
// sequence of another database is known as such.
const seqPrefix = 6

// seqText writes a sequence as CouchDB does: its number, for people, and
// something opaque, for the server.
func (db *database) seqText(seq uint64) string {
	b := make([]byte, 0, 2*8)
	if uuid, err := hex.DecodeString(db.uuid); err == nil {
		b = append(b, uuid[:seqPrefix]...)
	}
	b = binary.AppendUvarint(b, seq)
	return strconv.FormatUint(seq, 10) + "-" + base64.RawURLEncoding.EncodeToString(b)
}

var errSequence = badRequest("Malformed sequence supplied in 'since' parameter.")

// parseSeq reads a sequence. That of another database is 0: everything is new.
func (db *database) parseSeq(text string) (uint64, error) {
	if text == "0" {
		return 0, nil
	}
	text = strings.Trim(text, `"`)
	if _, opaque, found := strings.Cut(text, "-"); found {
		text = opaque
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) <= seqPrefix {
		return 0, errSequence
	}
	seq, n := binary.Uvarint(b[seqPrefix:])
	if n != len(b)-seqPrefix {
		return 0, errSequence
	}
	if !strings.HasPrefix(db.uuid, hex.EncodeToString(b[:seqPrefix])) {
		return 0, nil
	}
	return seq, nil
}

func (x *exchange) ensureFullCommit(db *database) error {
	if x.method != http.MethodPost {
		return x.notAllowed("POST")
	}
	if err := x.wantJSON(); err != nil {
		return err
	}
	return x.json(http.StatusCreated, object{{"ok", true}, {"instance_start_time", strconv.FormatInt(db.created, 10)}})
}

// compact accepts and does nothing: bbolt reuses the space of what was deleted,
// and old revisions stay readable as they do in a CouchDB before it compacts.
func (x *exchange) compact(db *database) error {
	if x.method != http.MethodPost {
		return x.notAllowed("POST")
	}
	if err := x.wantJSON(); err != nil {
		return err
	}
	if err := x.needAdmin(); err != nil {
		return err
	}
	return x.json(http.StatusAccepted, okTrue)
}

func (x *exchange) revsLimit(db *database) error {
	switch x.method {
	case http.MethodGet:
		limit := 0
		if err := db.view(func(t *readTx) error {
			limit = t.revsLimit()
			return nil
		}); err != nil {
			return err
		}
		return x.json(http.StatusOK, limit)
	case http.MethodPut:
		var limit int
		if err := x.bodyJSON(&limit); err != nil {
			return err
		}
		if err := x.needAdmin(); err != nil {
			return err
		}
		if limit < 1 {
			return badRequest("`revs_limit` must be a positive integer")
		}
		return x.putMeta(db, keyRevsLimit, strconv.AppendInt(nil, int64(limit), 10))
	}
	return x.notAllowed("PUT,GET")
}

// putMeta stores a setting of a database and answers.
func (x *exchange) putMeta(db *database, key, value []byte) error {
	if err := db.update(func(t *writeTx) error {
		t.limit = 0
		return t.put(bucketMeta, key, value)
	}); err != nil {
		return err
	}
	return x.json(http.StatusOK, okTrue)
}

// defaultSecurity is what a database has that was not given a security object.
var defaultSecurity = object{
	{"members", object{{"roles", adminRoles}}},
	{"admins", object{{"roles", adminRoles}}},
}

func (x *exchange) security(db *database) error {
	switch x.method {
	case http.MethodGet:
		var raw json.RawMessage
		if err := db.view(func(t *readTx) error {
			raw = t.security()
			return nil
		}); err != nil {
			return err
		}
		if raw == nil {
			return x.json(http.StatusOK, defaultSecurity)
		}
		return x.json(http.StatusOK, raw)
	case http.MethodPut:
		b, err := x.body()
		if err != nil {
			return err
		}
		if !json.Valid(b) {
			return errBadJSON
		}
		if err := x.needAdmin(); err != nil {
			return err
		}
		var fields struct {
			Admins, Members *struct{ Names, Roles []string }
		}
		if json.Unmarshal(b, &fields) != nil {
			return badRequest("Security object must be an object with admins and members of names and roles")
		}
		return x.putMeta(db, keySecurity, b)
	}
	return x.notAllowed("PUT,GET")
}
