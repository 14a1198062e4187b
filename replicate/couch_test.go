package replicate_test

import (
	"testing"

	"couchgauge/internal/servertest"
	"couchgauge/replicate"
)

func TestCouchDB(t *testing.T) {
	couch := peer(t, servertest.Couch(t))
	attachments := must(replicate.ParseAttachmentSizes("3x1kB,100kB"))
	for _, c := range []struct {
		name string
		plan replicate.Plan
	}{
		{"drivers", replicate.Plan{Docs: []int64{300}, Drivers: replicate.Drivers()}},
		{"topologies", replicate.Plan{Docs: []int64{60}, Topologies: replicate.Topologies(), N: []int{3}, Drivers: []string{"replicate"}}},
		{"topologies of the engine", replicate.Plan{Docs: []int64{60}, Topologies: replicate.Topologies(), N: []int{3}, Drivers: []string{"couchgauge"}}},
		{"shapes", replicate.Plan{
			Docs: []int64{50}, Conflicts: []int{1, 10}, Deleted: []float64{0, 0.3}, Revs: []int{1, 20},
			Drivers: []string{"replicate", "couchgauge"},
		}},
		{"attachments", replicate.Plan{
			Docs: []int64{40}, AttachmentSizes: attachments, Conflicts: []int{1, 2}, Drivers: []string{"replicate", "couchgauge"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, sink := measured(t, couch, couch, c.plan)
			allGood(t, out, sink)
			for _, s := range sink.samples(replications) {
				t.Logf("cell %d: %v %v", s.Cell, s.Duration, s.Measures)
			}
		})
	}
}

// must returns a value that cannot be wrong.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
