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
	whole      bool // text is to be copied: on one line, however long
}

// head lists what somebody needs to know before the first figure.
func head(s *Summary) []headLine {
	r := &s.Run
	var h []headLine
	for i := range r.Servers {
		h = append(h, serverHead(&r.Servers[i], len(r.Servers) > 1)...)
	}
	h = append(h, headLine{name: "client", text: join(", ", "couchgauge "+r.Version,
		label(fmt.Sprintf("%d x ", r.Client.CPUs), r.Client.CPU), loadText(r.Client.Load1))})
	if data := dataText(r); data != "" {
		h = append(h, headLine{name: "data", text: data})
	}
	return append(h,
		headLine{name: "taken", text: takenText(s)},
		headLine{name: "command", text: oneLine(r.CommandLine), code: true, whole: true},
	)
}

// details lists what else somebody needs to judge the figures and to take
// them again.
func details(s *Summary) []headLine {
	r := &s.Run
	h := []headLine{{name: "run", text: r.ID + ", " + when(s)}}
	h = append(h, serversDetails(r.Servers)...)
	h = append(h,
		headLine{name: "system", text: join(", ", r.Client.Go, join(" ", r.Client.OS, r.Client.Kernel), bytesText(float64(r.Client.Memory))+" of memory")},
		headLine{name: "plan", text: fmt.Sprintf("%s per cell after %d to warm up, order %s, seed %d", plural(r.Samples, "sample"), r.Warmup, r.Order, r.Seed)},
	)
	if fixed := fixedText(s); fixed != "" {
		h = append(h, headLine{name: "fixed", text: fixed})
	}
	for _, n := range r.Notes {
		h = append(h, headLine{name: "note", text: n})
	}
	return h
}

// takenText counts the samples that were taken, and says if they are not all.
func takenText(s *Summary) string {
	samples, failed, verified := 0, 0, 0
	for _, r := range measured(s.Rows) {
		samples += r.Samples
		failed += r.Failed
		verified += r.Verified
	}
	text := fmt.Sprintf("%s, %d failed, %d verified", plural(samples, "sample"), failed, verified)
	if s.End != nil {
		text += fmt.Sprintf(", in %s", s.End.At.Sub(s.Run.Started).Round(time.Second))
	}
	return join(": ", text, partialText(s))
}

// partialText says why a run is not whole, "" if it is.
func partialText(s *Summary) string {
	switch {
	case s.End == nil:
		return "PARTIAL, the recording was cut off"
	case s.Partial:
		return "PARTIAL, " + join(", ", s.End.Reason, strings.TrimPrefix(s.End.Error, s.End.Reason+": "))
	}
	return ""
}

// when says when the run started and ended.
func when(s *Summary) string {
	end := "unknown"
	if s.End != nil {
		end = s.End.At.UTC().Format(time.DateTime)
	}
	return s.Run.Started.UTC().Format(time.DateTime) + " UTC to " + end
}

// serverHead names a server and says what must not be overlooked.
func serverHead(v *Server, several bool) []headLine {
	name := "server"
	if several {
		name = v.Role
	}
	h := []headLine{{name: name, text: join(", ", v.URL, product(v.Welcome))}}
	if v.Reference {
		h = append(h, headLine{text: "REFERENCE SERVER of couchgauge: what the API costs when nothing is wrong; its figures say nothing about CouchDB"})
	}
	if v.Proxy != "" {
		h = append(h, headLine{text: "PROXY: " + v.Proxy + " answers in front of it; every figure includes it"})
	}
	return h
}

// serversDetails describes the servers. What is the same of all is told once.
func serversDetails(servers []Server) []headLine {
	var h, first []headLine
	for i := range servers {
		lines := serverDetails(&servers[i])
		if len(servers) > 1 {
			h = append(h, headLine{name: servers[i].Role, text: servers[i].URL})
		}
		if i == 0 {
			first = lines
		} else if slices.Equal(lines, first) {
			lines = []headLine{{text: "otherwise as " + servers[0].Role}}
		}
		h = append(h, lines...)
	}
	return h
}

// serverDetails describes one server.
func serverDetails(v *Server) []headLine {
	var h []headLine
	add := func(name, text string) {
		if text != "" {
			h = append(h, headLine{name: name, text: text})
		}
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
	return join(", ", s.Run.Started.UTC().Format(time.DateTime)+" UTC", strings.Join(servers, ", "), "couchgauge "+s.Run.Version, partialText(s))
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

func loadText(load float64) string {
	if load == 0 {
		return ""
	}
	return "load " + digits(load)
}

// dataText is the data's shape as the command told it.
func dataText(r *Run) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(r.Data)) {
		parts = append(parts, k+" "+r.Data[k])
	}
	return strings.Join(parts, "; ")
}

// fixedText lists the levels that all cells share and dataText has not told.
func fixedText(s *Summary) string {
	var parts []string
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
