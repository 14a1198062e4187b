//go:build !unix

package couch

import "net"

// quiet cannot tell here: a connection that was closed is found out when it is
// used.
func quiet(net.Conn) bool { return true }
