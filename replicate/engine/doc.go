// Package engine is couchgauge's own CouchDB replicator: the published
// replication protocol as a pipeline with a timer for every stage. It is the
// ceiling against which a server's replicator is read, so it is written to be
// as fast as the two servers allow, and to lose nothing.
//
// It knows two databases by URL and nothing else: not couchgauge's other
// packages, not tables, recordings or what is being measured.
//
// # Use
//
//	r := engine.New(engine.Peer{URL: "http://host:5984/a"}, engine.Peer{URL: "http://host:5984/b"}, engine.Options{CreateTarget: true})
//	result, err := r.Run(ctx)
//
// Progress may be called at any time while Run works.
//
// # Protocol
//
// The steps are those of the CouchDB documentation, "Replication Protocol":
//
//  1. Both databases are asked for their information; the target is created
//     when asked for.
//  2. A replication id is made from everything that decides what is copied.
//     The checkpoints _local/<id> of both sides are compared, by session and
//     then by history, for the sequence that both remember.
//  3. The source's _changes are streamed from there.
//  4. _revs_diff asks the target which revisions it lacks.
//  5. Those are read: by _bulk_get where a document's attachments are small
//     or known to the target, else by GET with open_revs, streamed.
//  6. They are written with new_edits=false: by _bulk_docs, or by a
//     multipart/related PUT that streams the attachments.
//  7. _ensure_full_commit on both sides, then the new checkpoints.
//
// # What is not asked
//
// A target that never held a document lacks every revision: step 4 is left
// out until the feed has reached its end once.
//
// A revision of the first generation has no history to ask for. Against such
// an empty target the feed can carry the documents (include_docs), and a
// document that has one leaf, of generation 1, not deleted and without
// attachments, is written as it came. All others take the way above. When
// fewer than half of the documents profit, the feed is opened again without
// them. Where the source is large, a trial on its first documents decides
// between the feed and _bulk_get: which is cheaper depends on the server.
//
// An attachment that a possible ancestor at the target has already (by its
// revpos) travels as a stub.
//
// # Pipeline
//
//	changes -> diff -> read -> write
//
// The stages run at once, with short queues between them. A batch of the feed
// is done when all its documents are written, or counted as failed; the
// checkpoint is the last sequence before which every batch is done. Memory is
// bounded by the batches: never by a database's length, never by an
// attachment's.
//
// JSON is cut, not decoded: documents are found in an answer by their
// brackets and their bytes are passed on.
//
// # Failures
//
// 5xx, 408, 429, lost and silent connections are tried again with growing
// pauses, as Retry-After says where it is sent. What one document is refused
// for (forbidden, too large, gone from the source) is counted and named in
// the Result, and the replication goes on. All else ends Run with an error;
// the next Run goes on from the checkpoint.
//
// Servers without _bulk_get are read document by document. Servers that
// answer open_revs with JSON have their attachments read one by one.
// Attachments stored compressed stay so between servers that name themselves
// CouchDB; for others they are decompressed on the way.
package engine
