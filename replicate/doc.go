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
// A driver only runs jobs; a topology only says which database replicates to
// which; a filter only says which documents pass. Each is an entry in a list.
// None of them times, verifies or prints.
//
// The package must not know flags, tables or exit codes.
package replicate
