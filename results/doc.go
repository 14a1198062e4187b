// Package results turns samples into what is read: it writes and reads
// recordings, summarises cells as rows, compares them, and prints tables.
//
// It knows nothing of servers, uploads or replication: a record says by name
// what was varied and measured, and the list of columns says how each is
// summarised and shown.
//
// Records (record.go) go into sinks: a Recording keeps them in a file, which
// Read gives back, and a Collector makes the rows and warnings of a Summary,
// which Print shows. Each of these grows by one file and one line in a list:
//
//   - a figure of a row: columns
//   - a way to print: formats
//   - something to warn of: checks
package results
