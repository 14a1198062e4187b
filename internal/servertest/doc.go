// Package servertest gives tests something to talk to: the servers that every
// behaviour is tried on (the reference server, PouchDB Server, and real
// CouchDBs where the environment names them), a server on plain TCP that
// answers by a script, and a proxy that counts bytes. The last two tell what
// was on the wire.
//
// It is imported by tests only, and must not know what is measured.
package servertest
