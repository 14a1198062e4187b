package replicate_test

import (
	"os"
	"testing"
	"time"

	"couchgauge/internal/servertest"
	"couchgauge/replicate"
	"couchgauge/results"
)

// drivers are those that a server under test has.
func drivers(s servertest.Server) []string {
	if s.Pouch { // no _scheduler, no replicator database
		return []string{"replicate", "couchgauge"}
	}
	return replicate.Drivers()
}

// filters are those of a plan.
func filters(list ...string) []replicate.Filter {
	var all []replicate.Filter
	for _, text := range list {
		all = append(all, must(replicate.ParseFilter(text, os.ReadFile)))
	}
	return all
}

// must returns a value that cannot be wrong.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestServers replicates data of every shape in every topology by every driver,
// and wants each sample verified.
func TestServers(t *testing.T) {
	for _, c := range []struct {
		name string
		plan replicate.Plan
		not  func(servertest.Server) bool // servers that cannot, or are too slow
	}{
		{name: "drivers", plan: replicate.Plan{Docs: []int64{200}}},
		{name: "topologies", not: isPouch, plan: replicate.Plan{Docs: []int64{30}, Topologies: replicate.Topologies(), N: []int{3}}},
		{name: "shapes", plan: replicate.Plan{
			Docs: []int64{10}, Conflicts: []int{1, 10}, Deleted: []float64{0.3}, Revs: []int{1, 20},
		}},
		{name: "attachments", plan: replicate.Plan{
			Docs: []int64{10}, AttachmentSizes: must(replicate.ParseAttachmentSizes("3x1kB,100kB")), Conflicts: []int{1, 2},
			Deleted: []float64{0, 0.3},
		}},
		{name: "functions", not: withoutFunctions, plan: replicate.Plan{
			Docs: []int64{100}, Filters: filters("js:0.1", "view:0.1"),
		}},
		{name: "filters", not: isPouch, plan: replicate.Plan{
			Docs: []int64{100}, Filters: filters("selector:0.1", "doc_ids:0.1", "none"),
		}},
		{name: "settings", not: isPouch, plan: replicate.Plan{
			Docs: []int64{30}, Conflicts: []int{2},
			Set: []replicate.Setting{
				must(replicate.ParseSet("winning_revs_only=true,false")),
				must(replicate.ParseSet("http_connections=1,4")),
			},
			Config: []replicate.Setting{must(replicate.ParseConfig("replicator/worker_batch_size=100,10"))},
		}},
		{name: "job databases", not: isPouch, plan: replicate.Plan{
			Docs: []int64{30}, Topologies: []string{"n-n"}, JobDatabases: true, Drivers: []string{"replicator"},
		}},
		{name: "continuous", not: isPouch, plan: replicate.Plan{
			Docs: []int64{20}, Topologies: []string{"1-n", "all"}, Rate: 50, For: time.Second,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			servertest.Each(t, func(t *testing.T, s servertest.Server) {
				if c.not != nil && c.not(s) {
					t.Skipf("not on %s: it cannot, or is too slow", s.Name)
				}
				p := peer(t, s)
				if c.plan.Drivers == nil {
					c.plan.Drivers = drivers(s)
				}
				out, sink := measured(t, p, p, c.plan)
				allGood(t, out, sink)
			})
		})
	}
}

func isPouch(s servertest.Server) bool          { return s.Pouch }
func withoutFunctions(s servertest.Server) bool { return s.Pouch || s.Reference } // no query server

// TestBetweenServers replicates between two servers, both ways.
func TestBetweenServers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s servertest.Server) {
		other, reference := peer(t, s), peer(t, servertest.Reference(t))
		plan := replicate.Plan{
			Docs: []int64{20}, Conflicts: []int{2}, Deleted: []float64{0.1}, Topologies: []string{"chain", "all"},
			AttachmentSizes: must(replicate.ParseAttachmentSizes("10kB")), Content: "text",
			Drivers: drivers(s),
		}
		for _, way := range []struct {
			name           string
			source, target replicate.Peer
		}{{"to the reference server", other, reference}, {"from the reference server", reference, other}} {
			t.Run(way.name, func(t *testing.T) {
				out, sink := measured(t, way.source, way.target, plan)
				allGood(t, out, sink)
			})
		}
	})
}

// TestTwoVersions replicates between two CouchDBs, both ways, by all drivers.
func TestTwoVersions(t *testing.T) {
	a, b := peer(t, servertest.Couch(t)), peer(t, servertest.Couch2(t))
	for _, way := range []struct {
		name           string
		source, target replicate.Peer
	}{{"there", a, b}, {"back", b, a}} {
		for _, at := range []replicate.At{replicate.AtTarget, replicate.AtSource} {
			t.Run(way.name+" at "+string(at), func(t *testing.T) {
				out, sink := measured(t, way.source, way.target, replicate.Plan{
					Docs: []int64{50}, Conflicts: []int{2}, Drivers: replicate.Drivers(), At: at,
					Set: []replicate.Setting{must(replicate.ParseSet("use_bulk_get=true,false"))},
				})
				allGood(t, out, sink)
				for _, e := range sink.events() {
					t.Log(e.Text)
				}
			})
		}
	}
}

// TestFilling wants a row of its own for every shape.
func TestFilling(t *testing.T) {
	p := peer(t, servertest.Reference(t))
	_, sink := measured(t, p, p, replicate.Plan{Docs: []int64{10, 20}, Drivers: []string{"couchgauge"}})
	fills := sink.samples(func(c results.Cell) bool { return level(c, "driver") == "fill" })
	if len(fills) != 2 {
		t.Fatalf("%d samples of filling, want 2", len(fills))
	}
	for _, s := range fills {
		if !s.Verified || s.Measures["docs_per_s"] <= 0 {
			t.Errorf("filling: verified %v, measures %v", s.Verified, s.Measures)
		}
	}
}
