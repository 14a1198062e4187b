package couch

import (
	"errors"
	"path/filepath"
)

// StateDir is the folder for what must outlive a run that was killed:
// $XDG_STATE_HOME/couchgauge, or ~/.local/state/couchgauge. getenv is os.Getenv.
func StateDir(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "couchgauge"), nil
	}
	for _, home := range []string{getenv("HOME"), getenv("USERPROFILE")} {
		if home != "" {
			return filepath.Join(home, ".local", "state", "couchgauge"), nil
		}
	}
	return "", errors.New("find a folder for the journal of settings: set HOME or XDG_STATE_HOME")
}
