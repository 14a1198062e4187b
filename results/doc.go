// Package results turns samples into what is read: it writes and reads
// recordings, summarises cells as rows, compares them, and prints tables.
//
// It knows nothing of servers, uploads or replication: a record says by name
// what was varied and measured, and the list of columns says how each is
// summarised and shown.
package results
