package replicate_test

import (
	"strings"
	"testing"

	"couchgauge/internal/servertest"
	"couchgauge/replicate"
	"couchgauge/results"
)

// A server's setting that cannot matter is said to be so, or its levels would
// look as if they made no difference.
func TestConfigurationWithoutEffect(t *testing.T) {
	p := peer(t, servertest.Reference(t))
	_, sink := measured(t, p, p, replicate.Plan{
		Docs: []int64{5}, Samples: 1, Drivers: []string{"replicate", "couchgauge"},
		Config: []replicate.Setting{
			must(replicate.ParseConfig("replicator/startup_jiter=1")),
			must(replicate.ParseConfig("replicator/startup_jitter=1")),
		},
	})
	for _, r := range sink.records {
		c, ok := r.(*results.Cell)
		if !ok || !replications(*c) {
			continue
		}
		want, not := "replicator/startup_jiter: no CouchDB is known", "replicator/startup_jitter:"
		if level(*c, "driver") == "couchgauge" {
			want, not = "replicator/startup_jitter: no effect on couchgauge's own replicator", "no CouchDB"
		}
		if effect := level(*c, "effect"); !strings.Contains(effect, want) || strings.Contains(effect, not) {
			t.Errorf("%s: effect %q, want %q and nothing of %q", level(*c, "driver"), effect, want, not)
		}
	}
}
