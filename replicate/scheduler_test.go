package replicate

import (
	"encoding/json"
	"testing"
)

func TestSchedulerJob(t *testing.T) {
	for _, c := range []struct {
		name, history string
		state, reason string
		restarts      int
		hopeless      bool
	}{
		{"running", `[{"type":"started"},{"type":"added"}]`, "running", "", 0, false},
		{"crashing", `[{"type":"crashed","reason":"{worker_died,<0.1.2>,{error,enospc}}"},{"type":"started"},{"type":"added"}]`, "crashing", "enospc", 0, true},
		{"restarted", `[{"type":"started"},{"type":"crashed","reason":"max_backoff"},{"type":"started"},{"type":"added"}]`, "running", "max_backoff", 1, false},
		{"backing off", `[{"type":"crashed","reason":"{shutdown,max_backoff}"},{"type":"started"},{"type":"added"}]`, "crashing", "shutdown,max_backoff", 0, false},
		{"pending", `[{"type":"added"}]`, "pending", "", 0, false},
	} {
		var j schedulerJob
		if err := json.Unmarshal([]byte(`{"database":null,"info":null,"history":`+c.history+`}`), &j); err != nil {
			t.Fatal(err)
		}
		w := j.watching()
		if w.state != c.state || w.reason != c.reason || w.restarts != c.restarts || w.hopeless() != c.hopeless {
			t.Errorf("%s: %+v, hopeless %v", c.name, w, w.hopeless())
		}
	}
}
