package replicate

import (
	"fmt"
	"slices"
	"strings"

	"couchgauge/results"
)

// effects says what becomes of a cell's options where that is not what was
// asked (facts 22 and 25): nil where all do what they say.
func (s *Session) effects(c cell) []string {
	var list []string
	add := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for _, option := range c.set {
		for i := range c.layout.edges {
			if !s.honoured(c, option.name, i) {
				add("%s: no effect on this server", option.name)
			}
		}
		if option.name == "http_connections" && option.Value == int64(1) {
			add("http_connections: 1 raised to 2")
		}
	}
	return list
}

// honoured says whether an option has an effect on job i of a cell.
func (s *Session) honoured(c cell, option string, i int) bool {
	if c.here() {
		return option != "socket_options" // the engine leaves sockets to the system
	}
	h := s.host(s.hostOf(c.layout, c.layout.edges[i]))
	return !h.ignored[option]
}

// tellEffects puts the effects into the cells, beside the levels asked for.
func (s *Session) tellEffects() {
	for i := range s.cells {
		c := &s.cells[i]
		if c.driver == fillDriver {
			continue
		}
		if list := s.effects(*c); len(list) > 0 {
			c.Levels = append(c.Levels, text("effect", strings.Join(list, "; ")))
		}
	}
}

// warnEffects says once for each effect what it is.
func (s *Session) warnEffects() error {
	told := map[string]bool{}
	for i := range s.cells {
		c := &s.cells[i]
		at := slices.IndexFunc(c.Levels, func(l results.Level) bool { return l.Factor == "effect" })
		if at < 0 || told[c.Levels[at].Text] {
			continue
		}
		told[c.Levels[at].Text] = true
		if err := s.event(c, true, "%s", c.Levels[at].Text); err != nil {
			return err
		}
	}
	return nil
}
