// Package couch is one CouchDB-compatible server as couchgauge sees it: how it
// is reached, what it is, what it can do, how it is set up, and which of its
// databases are ours.
//
// Requests go out through kivik's chttp on connections of our own ([Conn]),
// which count the bytes of HTTP and know when the last one moved. A [Client]
// has its own connections, so that one measurement never inherits another's.
//
// It knows nothing of cells, samples, methods or tables, and prints nothing.
// Credentials never leave it: no error, name or text made here holds them.
package couch
