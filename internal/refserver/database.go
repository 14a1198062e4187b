package refserver

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// database is one open database.
type database struct {
	name  string
	dir   string
	fsync bool
	bolt  *bolt.DB

	uuid    string
	created int64 // Unix seconds
	q, n    int   // as asked for when it was created

	commits commits
	stopped <-chan struct{} // closed when the server's feeds must end

	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, by every commit
	gone    chan struct{} // closed by close
}

var (
	bucketMeta   = []byte("meta")
	bucketDocs   = []byte("docs")
	bucketSeqs   = []byte("seqs")
	bucketBodies = []byte("bodies")
	bucketBlobs  = []byte("blobs")
	bucketFiles  = []byte("files") // names of the blob files that records refer to
	bucketLocal  = []byte("local")

	keyUUID      = []byte("uuid")
	keyCreated   = []byte("created")
	keyShards    = []byte("q")
	keyCopies    = []byte("n")
	keyCounters  = []byte("counters")
	keyRevsLimit = []byte("revs_limit")
	keySecurity  = []byte("security")
)

const (
	boltFile   = "db.bolt"
	blobFolder = "blobs"

	// mappedBytes is the address space reserved for a bbolt file. Growing past
	// it makes a writer wait for the readers, which are all short.
	mappedBytes = 256 << 20
)

func boltOptions(noFsync bool) *bolt.Options {
	return &bolt.Options{
		Timeout:         time.Second, // a second server on the same folder is told
		NoSync:          noFsync,
		NoGrowSync:      noFsync,
		NoFreelistSync:  true,
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: mappedBytes,
		NoStatistics:    true,
	}
}

// initDatabase writes an empty database into folder dir.
func initDatabase(dir string, q, n int, noFsync bool) error {
	if err := os.Mkdir(filepath.Join(dir, blobFolder), 0o700); err != nil {
		return err
	}
	b, err := bolt.Open(filepath.Join(dir, boltFile), 0o600, boltOptions(noFsync))
	if err != nil {
		return err
	}
	err = b.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{bucketMeta, bucketDocs, bucketSeqs, bucketBodies, bucketBlobs, bucketFiles, bucketLocal} {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		meta := tx.Bucket(bucketMeta)
		var uuid [16]byte
		rand.Read(uuid[:])
		return errors.Join(
			meta.Put(keyUUID, []byte(hex.EncodeToString(uuid[:]))),
			meta.Put(keyCreated, strconv.AppendInt(nil, time.Now().Unix(), 10)),
			meta.Put(keyShards, strconv.AppendInt(nil, int64(q), 10)),
			meta.Put(keyCopies, strconv.AppendInt(nil, int64(n), 10)),
		)
	})
	if err := errors.Join(err, b.Close()); err != nil {
		return err
	}
	if noFsync {
		return nil
	}
	return syncDir(dir)
}

// openDatabase opens the database in folder dir; os.ErrNotExist when there is
// none. Blobs that a crash left without a reference are removed.
func openDatabase(dir, name string, noFsync bool, stopped <-chan struct{}) (*database, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	b, err := bolt.Open(filepath.Join(dir, boltFile), 0o600, boltOptions(noFsync))
	if err != nil {
		return nil, fmt.Errorf("open database %q: %w", name, err)
	}
	db := &database{
		name: name, dir: dir, fsync: !noFsync, bolt: b, stopped: stopped,
		changed: make(chan struct{}), gone: make(chan struct{}),
	}
	err = b.View(func(tx *bolt.Tx) error {
		meta := tx.Bucket(bucketMeta)
		db.uuid = string(meta.Get(keyUUID))
		var errs [3]error
		db.created, errs[0] = strconv.ParseInt(string(meta.Get(keyCreated)), 10, 64)
		db.q, errs[1] = strconv.Atoi(string(meta.Get(keyShards)))
		db.n, errs[2] = strconv.Atoi(string(meta.Get(keyCopies)))
		return errors.Join(errors.Join(errs[:]...), db.removeLeftovers(tx))
	})
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("open database %q: %w", name, err)
	}
	return db, nil
}

func (db *database) removeLeftovers(tx *bolt.Tx) error {
	entries, err := os.ReadDir(db.blobDir())
	if err != nil {
		return err
	}
	files := tx.Bucket(bucketFiles)
	for _, e := range entries {
		if files.Get([]byte(e.Name())) == nil {
			if err := os.Remove(filepath.Join(db.blobDir(), e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (db *database) blobDir() string { return filepath.Join(db.dir, blobFolder) }

func (db *database) close() error {
	close(db.gone)
	return db.bolt.Close()
}

// explain turns the error of a transaction on a database that was deleted
// meanwhile into the 404 that it is.
func (db *database) explain(err error) error {
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return errNoDatabase
	}
	return err
}

// announce wakes the feeds that wait for a commit.
func (db *database) announce() {
	db.mu.Lock()
	close(db.changed)
	db.changed = make(chan struct{})
	db.mu.Unlock()
}

// nextCommit is closed by the next commit. Take it before reading, so that no
// commit is missed.
func (db *database) nextCommit() <-chan struct{} {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.changed
}

// counters are the numbers that are kept instead of counted.
type counters struct {
	updateSeq uint64
	nextBody  uint64
	nextBlob  uint64
	docs      int64 // documents alive
	deleted   int64 // documents deleted
	external  int64 // bytes of the leaves, decoded
	active    int64 // bytes of the leaves, as stored
	fileBytes int64 // bytes in blob files
}

func (c *counters) encode() []byte {
	b := make([]byte, 0, 64)
	for _, n := range []uint64{c.updateSeq, c.nextBody, c.nextBlob, uint64(c.docs), uint64(c.deleted),
		uint64(c.external), uint64(c.active), uint64(c.fileBytes)} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return b
}

func decodeCounters(v []byte) (c counters) {
	if len(v) < 64 {
		return c // a database that was never written to
	}
	at := func(i int) uint64 { return binary.BigEndian.Uint64(v[8*i:]) }
	return counters{at(0), at(1), at(2), int64(at(3)), int64(at(4)), int64(at(5)), int64(at(6)), int64(at(7))}
}

// readTx is a consistent view of a database. It must be short: nothing is sent
// to a client inside one.
type readTx struct {
	db *database
	tx *bolt.Tx
}

func (db *database) view(fn func(*readTx) error) error {
	return db.explain(db.bolt.View(func(tx *bolt.Tx) error {
		return fn(&readTx{db, tx})
	}))
}

func (t *readTx) counters() counters {
	return decodeCounters(t.tx.Bucket(bucketMeta).Get(keyCounters))
}

// doc is the record of a document, nil when there never was one.
func (t *readTx) doc(id string) (*docRecord, error) {
	v := t.tx.Bucket(bucketDocs).Get([]byte(id))
	if v == nil {
		return nil, nil
	}
	return decodeDocRecord(v)
}

func (t *readTx) content(key uint64) (*content, error) {
	return decodeContent(t.tx.Bucket(bucketBodies).Get(bodyKey(key)))
}

func bodyKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

const defaultRevsLimit = 1000

func (t *readTx) revsLimit() int {
	if n, err := strconv.Atoi(string(t.tx.Bucket(bucketMeta).Get(keyRevsLimit))); err == nil {
		return n
	}
	return defaultRevsLimit
}

// security is the security object as it was put, nil when it never was.
func (t *readTx) security() []byte {
	return append([]byte(nil), t.tx.Bucket(bucketMeta).Get(keySecurity)...)
}

// writeTx is a readTx that may write. Several operations share one (see commits).
type writeTx struct {
	readTx
	count counters
	limit int // of revisions, zero until asked for
}

func (db *database) writeTx(tx *bolt.Tx) (*writeTx, error) {
	t := &writeTx{readTx: readTx{db, tx}}
	t.count = t.counters()
	for _, name := range [][]byte{bucketSeqs, bucketBodies, bucketBlobs} {
		tx.Bucket(name).FillPercent = 1 // keys only ever grow
	}
	return t, nil
}

func (t *writeTx) finish() error {
	return t.tx.Bucket(bucketMeta).Put(keyCounters, t.count.encode())
}

func (t *writeTx) put(bucket, key, value []byte) error {
	return t.tx.Bucket(bucket).Put(key, value)
}
