package results

import (
	"slices"
	"testing"
)

// The rows of one driver on several servers are told apart by the server;
// drivers that have a server each are told apart by their names.
func TestServerIsAFactor(t *testing.T) {
	row := func(server, driver, docs string) Row {
		r := Row{Server: server}
		if driver != "" {
			r.Cell.Levels = append(r.Cell.Levels, Level{Factor: "driver", Text: driver})
		}
		r.Cell.Levels = append(r.Cell.Levels, Level{Factor: "docs", Text: docs})
		return r
	}
	for _, c := range []struct {
		name string
		rows []Row
		want []string
	}{
		{"uploads", []Row{row("a", "", "1"), row("b", "", "1")}, []string{"server"}},
		{"uploads of other sizes", []Row{row("a", "", "1"), row("b", "", "2")}, []string{"server", "docs"}},
		{"one driver", []Row{row("a", "replicate", "1"), row("b", "replicate", "1")}, []string{"server"}},
		{"a server each", []Row{row("a", "replicate", "1"), row("b", "couchgauge", "1")}, []string{"driver"}},
	} {
		if got := varied(c.rows); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
