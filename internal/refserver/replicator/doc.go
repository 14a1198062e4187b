// Package replicator is the replicator of the reference server: the jobs that
// were asked for by _replicate or by a document of a replicator database, the
// scheduler that runs them, and what _scheduler and _active_tasks tell of them.
// It behaves as CouchDB 3.5's couch_replicator does, in its words; the copying
// itself is done by replicate/engine.
//
// What it must not know: how documents are stored and how requests are
// answered. A Documents is told of changes to replication documents and writes
// their outcome through a Store; a Scheduler reads its settings through
// Settings whenever it needs one, so that a change holds from then on.
//
// Different from CouchDB, on purpose:
//   - jobs have no fair shares between databases ([replicator.shares])
//   - a filter function is read when a job starts, not again every minute
//   - peers are given Basic credentials, never a session's cookie, and their
//     certificates are verified
//   - the counters of a history are those of its own session, not added to
//     those before it; documents that the engine took from the feed count as
//     read and written, not as asked for by _bulk_get
//   - changes_pending is a number wherever the source tells it
//   - replicator databases are seen as soon as they are there, where a CouchDB
//     looks for new ones every half minute
//   - who waits for the answer of _replicate while the job is cancelled is told
//     so, where CouchDB 3.5 leaves the request open
package replicator
