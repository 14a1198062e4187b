package refserver

import (
	"sync"

	bolt "go.etcd.io/bbolt"
)

// commits makes concurrent writers share a transaction, and with it the wait for
// the disk: while one transaction is being written, the operations that arrive
// queue up and go into the next one together. A lone writer does not wait for
// company.
type commits struct {
	mu    sync.Mutex
	queue []*operation
	busy  bool // somebody runs the queue
}

type operation struct {
	apply func(*writeTx) error
	err   error
	done  chan struct{}
}

// update runs apply in a write transaction and returns when it is durable. An
// apply that returns an error must not have changed anything: the transaction it
// shares is committed all the same.
func (db *database) update(apply func(*writeTx) error) error {
	op := &operation{apply: apply, done: make(chan struct{})}
	c := &db.commits
	c.mu.Lock()
	c.queue = append(c.queue, op)
	lead := !c.busy
	c.busy = true
	c.mu.Unlock()
	if lead {
		if db.commitQueued() {
			go func() {
				for db.commitQueued() {
				}
			}()
		}
	}
	<-op.done
	return op.err
}

// commitQueued commits what is queued and says whether more has come meanwhile.
// When it says no, somebody else may become the one who runs the queue.
func (db *database) commitQueued() bool {
	c := &db.commits
	c.mu.Lock()
	ops := c.queue
	c.queue = nil
	c.mu.Unlock()

	err := db.bolt.Update(func(btx *bolt.Tx) error {
		tx, err := db.writeTx(btx)
		if err != nil {
			return err
		}
		for _, op := range ops {
			op.err = op.apply(tx)
		}
		return tx.finish()
	})
	if err == nil {
		db.announce()
	}
	for _, op := range ops {
		if err != nil {
			op.err = db.explain(err)
		}
		close(op.done)
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = len(c.queue) > 0
	return c.busy
}
