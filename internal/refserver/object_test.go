package refserver

import (
	"testing"

	"couchgauge/internal/refserver/replicator"
)

func TestSetMembers(t *testing.T) {
	change := []replicator.Member{{Name: "state", Value: "done"}, {Name: "reason"}, {Name: "stats", Value: map[string]int{"n": 1}}}
	for name, c := range map[string]struct{ body, want string }{
		"empty":              {``, `"state":"done","stats":{"n":1}`},
		"others stay":        {`"n":12345678901234567890.10,"s":"<&>"`, `"n":12345678901234567890.10,"s":"<&>","state":"done","stats":{"n":1}`},
		"replaced in place":  {`"state":"x","a":1`, `"state":"done","a":1,"stats":{"n":1}`},
		"removed":            {`"a":1,"reason":"why","b":2`, `"a":1,"b":2,"state":"done","stats":{"n":1}`},
		"escaped name":       {`"st\u0061te":"x"`, `"state":"done","stats":{"n":1}`},
		"nested ones remain": {`"a":{"state":1,"reason":2}`, `"a":{"state":1,"reason":2},"state":"done","stats":{"n":1}`},
	} {
		got, err := setMembers([]byte(c.body), change)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
}
