package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"couchgauge/internal/servertest"
	"couchgauge/replicate/engine"
)

// pairs runs test with every kind of server as source and as target.
func pairs(t *testing.T, test func(t *testing.T, source, target *server)) {
	servertest.Each(t, func(t *testing.T, s servertest.Server) {
		servertest.Each(t, func(t *testing.T, g servertest.Server) { test(t, on(t, s), on(t, g)) })
	})
}

// hard stores one of everything that a replicator can get wrong.
func (s *server) hard(db string) {
	s.t.Helper()
	for i := range 30 {
		s.bulk(db, doc(fmt.Sprintf("plain-%d", i), 1, 0, fmt.Sprintf(`,"n":%d,"s":"text"`, i)))
	}
	for i, id := range []string{
		"a+b", "a b", "a/b/c", "100%", "Kолян", `quo"te`, `back\slash`, "\U0001F600", "{[", "?x=1&y#z", "é", "_design/d", "..",
	} {
		s.bulk(db, doc(id, 1+i%2, 0, `,"of":"ids"`))
	}
	var deep strings.Builder
	deep.WriteString(strings.Repeat(`{"a":[`, 100) + `"\"}]"` + strings.Repeat("]}", 100))
	for i, members := range []string{
		`,"s":"\\","t":"\\\"","u":"\u00e9\n\u2028"`,
		`,"nested":{"_attachments":{"x":1},"_id":"no","_rev":"9-x","_deleted":true}`,
		`,"deep":` + deep.String(),
		`,"n":[0,-1,1.5,1e300,12345678901234567],"b":[true,false,null],"e":[{},[],""]`,
		`,"":"empty key","}":"]"`,
		`,"long":"` + strings.Repeat("x", 300_000) + `"`,
	} {
		s.bulk(db, doc(fmt.Sprintf("body-%d", i), 1, 0, members), doc(fmt.Sprintf("body2-%d", i), 3, 0, members))
	}
	for i := range 5 {
		for leaf := range 10 {
			s.bulk(db, doc(fmt.Sprintf("conflict-%d", i), 2+leaf%3, leaf+1, fmt.Sprintf(`,"leaf":%d`, leaf)))
		}
	}
	s.bulk(db,
		doc("deleted-1", 1, 0, `,"_deleted":true`),
		doc("deleted-2", 2, 0, `,"_deleted":true,"why":"kept"`),
		doc("part-deleted", 2, 1, `,"_deleted":true`), doc("part-deleted", 2, 2, ``),
		doc("long", 1000, 0, ``),
	)
	octets, text := "application/octet-stream", "text/plain"
	s.bulk(db, doc("att-empty", 1, 0, attached(1, map[string][]byte{"e": {}}, octets)))
	s.bulk(db, doc("att-small", 1, 0, attached(1, map[string][]byte{"a.bin": noise(10), "b.bin": noise(5000), "e": {}}, octets)))
	s.bulk(db, doc("att-text", 1, 0, attached(1, map[string][]byte{"t.txt": bytes.Repeat([]byte("text "), 2000)}, text)))
	s.bulk(db, doc("att-text-large", 2, 0, attached(2, map[string][]byte{"t.txt": bytes.Repeat([]byte("text "), 30_000)}, text)))
	s.bulk(db, doc("att-large", 1, 0, attached(1, map[string][]byte{"l.bin": noise(1500_000), "m.bin": noise(1)}, octets)))
	s.bulk(db, doc("att-names", 2, 0, attached(1, map[string][]byte{
		"a+b": noise(1), "a b": noise(2), "d/e/f": noise(3), "100%.bin": noise(4), "Kолян.txt": noise(5), `q"uote`: noise(6),
	}, octets)))
	s.bulk(db,
		doc("att-conflict", 2, 1, attached(2, map[string][]byte{"a": noise(100)}, octets)),
		doc("att-conflict", 2, 2, attached(2, map[string][]byte{"a": noise(200)}, octets)),
	)
}

func TestEverythingBetweenAllServers(t *testing.T) {
	pairs(t, func(t *testing.T, source, target *server) {
		a, b := source.create(), target.name()
		source.hard(a)
		res := run(t, source.peer(a), target.peer(b), engine.Options{CreateTarget: true})
		if res.DocWriteFailures != 0 {
			t.Errorf("failures: %+v", res.Failures)
		}
		if n := int64(len(source.leaves(a))); res.DocsWritten != n {
			t.Errorf("wrote %d leaves of %d", res.DocsWritten, n)
		}
		same(t, source, a, target, b)

		again := run(t, source.peer(a), target.peer(b), engine.Options{})
		if !again.NoChanges || again.DocsRead != 0 {
			t.Errorf("a second run from the checkpoint reads %d documents", again.DocsRead)
		}
		no := false
		compared := run(t, source.peer(a), target.peer(b), engine.Options{UseCheckpoints: &no})
		if compared.MissingFound != 0 || compared.MissingChecked == 0 {
			t.Errorf("without checkpoints the target lacks %d of %d", compared.MissingFound, compared.MissingChecked)
		}
		if source.Couch && target.Couch {
			if found := source.own1(a, target, b).MissingFound; found != 0 {
				t.Errorf("CouchDB's replicator finds %d revisions to copy afterwards", found)
			}
		}
	})
}

// own1 runs the server's own replicator and returns what it says it did.
func (s *server) own1(db string, target *server, tdb string) engine.History {
	s.t.Helper()
	body, _ := json.Marshal(map[string]string{"source": s.base + "/" + db, "target": target.base + "/" + tdb})
	var res struct{ History []engine.History }
	s.do("POST", "_replicate", body, &res)
	if len(res.History) == 0 {
		s.t.Fatal("CouchDB's replicator did nothing at all")
	}
	return res.History[0]
}
