package replicator

import (
	"strconv"
	"strings"
	"time"
)

// Settings reads the setting of that name in the section [replicator]; ok is
// false when it was not set.
type Settings func(key string) (value string, ok bool)

// Defaults of CouchDB 3.5.
const (
	defaultInterval        = 60_000 // ms between two rounds of the scheduler
	defaultJitter          = 5_000  // ms, fact 21
	defaultMaxJobs         = 500
	defaultMaxChurn        = 20
	defaultMaxHistory      = 20
	defaultHealthThreshold = 120 // s
)

// number is a setting that is a whole number. One that is not counts as the
// default.
func (s Settings) number(key string, def int) int {
	v, _ := s(key)
	if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
		return n
	}
	return def
}

func (s Settings) milliseconds(key string, def int) time.Duration {
	return time.Duration(s.number(key, def)) * time.Millisecond
}

func (s Settings) flag(key string) bool {
	v, ok := s(key)
	return !ok || v != "false" // all of [replicator]'s that are read here default to true
}

// healthThreshold is how long a job must run before a crash is no longer one
// more of a row.
func (s Settings) healthThreshold() time.Duration {
	return time.Duration(s.number("health_threshold", defaultHealthThreshold)) * time.Second
}
