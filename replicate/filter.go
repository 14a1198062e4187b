package replicate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Filter is one level of the factor filter: which documents a job lets
// through. The zero Filter lets all through.
type Filter struct {
	Text  string  // as given: "selector:0.01"
	Share float64 // of the documents that pass, for a built-in; 0 when it came from a file

	kind *filterKind
	file []byte
}

// filterKind is a way to say which documents pass.
type filterKind struct {
	name string
	// builtin makes the filter that passes the documents of a rank below
	// share × rankEnd, among the docs documents of a source, by its number.
	builtin func(share float64, source int, docs int64) filtering
	// own makes a filter of a user's file.
	own func(file []byte) (filtering, error)
}

// filtering is a filter as servers take it.
type filtering struct {
	job     map[string]any    // fields of the replication document
	query   map[string]string // parameters of a _changes request with the same effect
	body    any               // and its body; nil = none
	design  string            // id of a design document that the source needs; "" = none
	content json.RawMessage   // of that document
}

// filterKinds lists what --filter takes.
var filterKinds = []filterKind{
	jsFilter,
	selectorFilter,
	docIDsFilter,
	viewFilter,
}

// Filters lists the kinds that ParseFilter knows.
func Filters() []string {
	var names []string
	for _, k := range filterKinds {
		names = append(names, k.name)
	}
	return names
}

// ParseFilter reads "kind:share" with a share between 0 and 1, or "kind:@file".
// read gets the file's content. "none" and "" let everything through.
func ParseFilter(s string, read func(name string) ([]byte, error)) (Filter, error) {
	if s == "" || s == "none" {
		return Filter{Text: s}, nil
	}
	name, arg, _ := strings.Cut(s, ":")
	for i := range filterKinds {
		k := &filterKinds[i]
		if k.name != name {
			continue
		}
		if file, ok := strings.CutPrefix(arg, "@"); ok {
			content, err := read(file)
			if err != nil {
				return Filter{}, fmt.Errorf("filter %s: %w", s, err)
			}
			if _, err := k.own(content); err != nil {
				return Filter{}, fmt.Errorf("filter %s: %w", s, err)
			}
			return Filter{Text: s, kind: k, file: content}, nil
		}
		share, err := strconv.ParseFloat(arg, 64)
		if err != nil || !(share > 0 && share <= 1) {
			return Filter{}, fmt.Errorf("filter %q: after the colon goes a share between 0 and 1, or @ and a file", s)
		}
		return Filter{Text: s, Share: share, kind: k}, nil
	}
	return Filter{}, fmt.Errorf("filter %q is unknown: use one of %s, as in selector:0.01 or js:@filter.js",
		s, strings.Join(Filters(), ", "))
}

// all says whether everything passes.
func (f Filter) all() bool { return f.kind == nil }

// filtering returns the filter for the source of that number, of docs documents.
func (f Filter) filtering(source int, docs int64) filtering {
	switch {
	case f.kind == nil:
		return filtering{}
	case f.file != nil:
		made, err := f.kind.own(f.file)
		if err != nil {
			panic("replicate: a filter that ParseFilter accepted: " + err.Error())
		}
		return made
	default:
		return f.kind.builtin(f.Share, source, docs)
	}
}

// followsNew says whether it is known of documents to come which will pass.
func (f Filter) followsNew() bool {
	return f.all() || f.file == nil && f.kind.name != docIDsFilter.name
}

// passes says how many of docs documents pass, and whether that is known.
func (f Filter) passes(docs int64) (int64, bool) {
	if f.all() {
		return docs, true
	}
	if f.file != nil {
		return 0, false
	}
	return chosenOf(docs, f.Share), true
}
