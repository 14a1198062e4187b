//go:build !unix

package couch

import "os"

// lock is not needed for one run at a time; two cannot be told apart here.
func lock(*os.File) error { return nil }

// syncDir has no counterpart here: folders cannot be flushed.
func syncDir(string) error { return nil }
