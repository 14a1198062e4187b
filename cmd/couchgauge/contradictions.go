package main

import "slices"

// contradictions refuses flags that would do nothing beside the others, so
// that nobody believes a figure to be about them. given says whether a flag
// was typed.
func (r *replicateFlags) contradictions(given func(flag string) bool) error {
	one := !slices.ContainsFunc(r.topologies, func(t string) bool { return t != "1-1" })
	job := slices.Contains(r.drivers, "replicator")
	for _, c := range []struct {
		flag    string
		idle    bool // whether the flag would do nothing
		because string
	}{
		{"rate", !r.continuous, "only with --continuous are documents written at a rate"},
		{"for", !r.continuous, "only with --continuous are documents written for a time"},
		{"for", r.duration <= 0, "with --continuous documents are written for a time of more than 0"},
		{"doc-size", r.template != "", "with --template documents have the template's size: leave out one of them"},
		{"n", one, "topology 1-1 has one database on each side: choose another with --topology"},
		{"replicator-db", !job, "only the driver replicator writes documents for its jobs: add it to --driver"},
		{"databases-per-job", !job, "only the driver replicator has databases for its jobs: add it to --driver"},
	} {
		if c.idle && given(c.flag) {
			return usagef("--%s: %s", c.flag, c.because)
		}
	}
	return nil
}
