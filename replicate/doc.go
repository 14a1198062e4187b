// Package replicate measures replication between CouchDB-compatible servers:
// it fills source databases of a given shape, has jobs replicate them in a
// topology under chosen settings, times the jobs, and proves leaf by leaf that
// what arrived is what was there.
//
// Plan says what is varied and gives the cells. Prepare checks, before any
// load, what would make the figures worthless: addresses that the replicating
// server cannot reach, options it ignores, its random start-up delay. A
// Session then takes the samples.
//
// # A sample
//
// Its targets are new databases. Its sources are shared by all samples, unless
// a sample changes them (topology all, updates, continuous jobs): then they are
// filled anew. Filling is outside the time, and a row of its own.
//
// The duration lasts from the first job's submit until the last one is done,
// as its server tells by itself: nothing is learnt from polling. startup_s is
// the time until the first change was seen at a target, so that it holds the
// server's random delay and its set-up, and with a filter the time to the first
// document that passes. docs_per_s and bytes_per_s are what the targets have in
// the end, divided by the duration; counters are the jobs' own words, and one
// that a job leaves null is not known (facts 24 and 27).
//
// Documents are made with new_edits=false and revisions of our own, so that
// histories, conflicts and deletions are as wanted. Each has a rank, if there
// are filters, by which a built-in filter passes exactly its share of them.
//
// # Verification
//
// What a target must hold is read from the source, with the filter of the job:
// the leaves of its _changes. See compareLeaves for how two such sets are
// compared in bounded memory, and attachmentCheck for attachments.
//
// # Adding to it
//
// A driver only runs jobs; a topology only says which database replicates to
// which; a filter only says which documents pass. Each is an entry in a list.
// None of them times, verifies or prints.
//
// The package must not know flags, tables or exit codes.
package replicate
