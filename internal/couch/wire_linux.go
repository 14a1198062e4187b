package couch

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// unsent is how many bytes the kernel has taken but the peer has not yet
// acknowledged: tcp(7), SIOCOUTQ. A slow link empties megabytes of it while no
// Write happens (case U6).
func unsent(c net.Conn) int {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	raw.Control(func(fd uintptr) {
		if q, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err == nil {
			n = q
		}
	})
	return n
}
