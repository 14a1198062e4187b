//go:build unix

package couch

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock locks a file for as long as the process lives or has it open. It fails
// when another has it locked.
func lock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// syncDir waits until a folder's entries are on disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
