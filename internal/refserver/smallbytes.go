package refserver

import "bytes"

// smallBytes is a small blob, opened. Like a file it can be sought in.
type smallBytes struct{ bytes.Reader }

func (*smallBytes) Close() error { return nil }
