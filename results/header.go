package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// headLine is one line of the header: what maintainers ask for.
// One without a name continues the line before.
type headLine struct {
	name, text string
	code       bool // text is to be shown exactly as it is
}

// header lists what somebody needs to judge the figures and to take them
// again.
func header(s *Summary) []headLine {
	r := &s.Run
	h := []headLine{{name: "run", text: r.ID + ", " + when(s)}}
	h = append(h, serversLines(r.Servers)...)
	h = append(h,
		headLine{name: "client", text: clientText(r)},
		headLine{name: "data", text: dataText(s)},
		headLine{name: "plan", text: fmt.Sprintf("%d samples per cell after %d to warm up, order %s, seed %d", r.Samples, r.Warmup, r.Order, r.Seed)},
		headLine{name: "taken", text: takenText(s.Rows)},
		headLine{name: "command", text: r.CommandLine, code: true},
	)
	for _, n := range r.Notes {
		h = append(h, headLine{name: "note", text: n})
	}
	return h
}

// takenText counts the samples that were taken.
func takenText(rows []Row) string {
	samples, failed, verified := 0, 0, 0
	for i := range rows {
		samples += rows[i].Samples
		failed += rows[i].Failed
		verified += rows[i].Verified
	}
	return fmt.Sprintf("%d samples, %d failed, %d verified", samples, failed, verified)
}

// when says when the run started and how it ended.
func when(s *Summary) string {
	start := s.Run.Started.UTC()
	text := start.Format(time.DateTime) + " UTC to "
	if s.End == nil {
		return text + "unknown: PARTIAL, the recording was cut off"
	}
	end := s.End.At.UTC()
	text += end.Format(time.DateTime) + fmt.Sprintf(" (%s)", end.Sub(start).Round(time.Second))
	if s.Partial {
		text += ": PARTIAL, " + join(", ", s.End.Reason, strings.TrimPrefix(s.End.Error, s.End.Reason+": "))
	}
	return text
}

// serversLines describes the servers. What is the same of all is told once.
func serversLines(servers []Server) []headLine {
	var h []headLine
	var first []headLine
	for i := range servers {
		lines := serverLines(&servers[i], len(servers) > 1)
		if i == 0 {
			first = lines
		} else if slices.Equal(lines[1:], first[1:]) {
			lines = append(lines[:1], headLine{text: "otherwise as " + servers[0].Role})
		}
		h = append(h, lines...)
	}
	return h
}

// serverLines describes one server; the first line names it.
func serverLines(v *Server, several bool) []headLine {
	name := "server"
	if several {
		name = v.Role
	}
	var h []headLine
	add := func(name, text string) {
		if text != "" {
			h = append(h, headLine{name: name, text: text})
		}
	}
	add(name, join(", ", v.URL, product(v.Welcome)))
	if v.Reference {
		add("", "REFERENCE SERVER of couchgauge: what the API costs when nothing is wrong; its figures say nothing about CouchDB")
	}
	if v.Proxy != "" {
		add("", "PROXY: "+v.Proxy+" answers in front of it; every figure includes it")
	}
	var compact bytes.Buffer
	if json.Compact(&compact, v.Welcome) == nil {
		h = append(h, headLine{name: "welcome", text: compact.String(), code: true})
	}
	add("", join(", ", label("Server: ", v.Header), label("Erlang ", v.Erlang), label("JavaScript ", v.JSEngine), label("OS ", v.OS)))
	add("databases", join(", ", label("q=", v.Q), label("n=", v.N)))
	add("limits", settingsText(v.Limits))
	add("replicator", settingsText(v.Replicator))
	add("round trip", join(", ", durationOrNone("TCP connect ", v.Connect), durationOrNone("GET / on a warm connection ", v.RoundTrip), durationOrNone("PUT of an empty document ", v.EmptyDocPut)))
	return h
}

// subtitle says in one line what was measured when.
func subtitle(s *Summary) string {
	var servers []string
	for i := range s.Run.Servers {
		v := &s.Run.Servers[i]
		name := product(v.Welcome)
		if v.Reference {
			name = "the reference server"
		}
		servers = append(servers, join(" ", name, v.URL))
	}
	return join(", ", s.Run.Started.UTC().Format(time.DateTime)+" UTC", strings.Join(servers, ", "), "couchgauge "+s.Run.Version)
}

// product names what the welcome object says it is.
func product(welcome json.RawMessage) string {
	var w struct {
		Version string `json:"version"`
		Vendor  struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"vendor"`
	}
	if json.Unmarshal(welcome, &w) != nil {
		return ""
	}
	if w.Vendor.Name == "The Apache Software Foundation" {
		w.Vendor.Name = "Apache CouchDB"
	}
	return join(" ", w.Vendor.Name, w.Version)
}

func clientText(r *Run) string {
	c := r.Client
	return join(", ", "couchgauge "+r.Version, c.Go, join(" ", c.OS, c.Kernel),
		label(fmt.Sprintf("%d x ", c.CPUs), c.CPU), bytesText(float64(c.Memory)), loadText(c.Load1))
}

func loadText(load float64) string {
	if load == 0 {
		return ""
	}
	return "load " + digits(load)
}

// dataText is the data's shape: what the command said of it and the levels
// that are the same in all cells.
func dataText(s *Summary) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(s.Run.Data)) {
		parts = append(parts, k+" "+s.Run.Data[k])
	}
	for _, l := range constant(measured(s.Rows)) {
		_, told := s.Run.Data[l.Factor]
		_, spelled := s.Run.Data[strings.ReplaceAll(l.Factor, "_", " ")]
		inTable := l.Factor == "method" || l.Factor == "size_bytes"
		if !told && !spelled && !inTable {
			parts = append(parts, l.Factor+" "+l.Text)
		}
	}
	return strings.Join(parts, "; ")
}

// settingsText lists a map's entries in order. Names that share a value, such
// as "default (not set)", come together after the others.
func settingsText(m map[string]string) string {
	shared := map[string][]string{} // names by value
	for _, k := range slices.Sorted(maps.Keys(m)) {
		shared[m[k]] = append(shared[m[k]], k)
	}
	var single, grouped []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		switch names := shared[m[k]]; {
		case len(names) == 1:
			single = append(single, k+" "+m[k])
		case names[0] == k:
			grouped = append(grouped, m[k]+": "+strings.Join(names, ", "))
		}
	}
	return strings.Join(append(single, grouped...), "; ")
}

func durationOrNone(name string, s Seconds) string {
	if s <= 0 {
		return ""
	}
	return name + duration(time.Duration(s).Seconds())
}

// label puts a name before text that is there.
func label(name, text string) string {
	if text == "" {
		return ""
	}
	return name + text
}

// suffix puts a unit behind text that is there.
func suffix(text, unit string) string {
	if text == "" {
		return ""
	}
	return text + unit
}

// join joins the parts that are there.
func join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), sep)
}
