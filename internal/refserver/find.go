package refserver

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

// findQuery is the body of a _find request.
type findQuery struct {
	Selector json.RawMessage `json:"selector"`
	Limit    *int            `json:"limit"`
	Skip     int             `json:"skip"`
	Fields   []string        `json:"fields"`
	Sort     []any           `json:"sort"`
	Bookmark string          `json:"bookmark"`
}

// findLimit is how many documents _find returns unless it is told otherwise
// (fact 32).
const findLimit = 25

// noBookmark is the bookmark of an answer that nothing follows.
const noBookmark = "nil"

// find serves _find. There are no indexes: every document is looked at.
func (x *exchange) find(db *database) error {
	if x.method != http.MethodPost {
		return x.notAllowed("POST")
	}
	if err := x.wantJSON(); err != nil {
		return err
	}
	var q findQuery
	if err := x.bodyJSON(&q); err != nil {
		return err
	}
	if q.Selector == nil {
		return &apiError{http.StatusBadRequest, "missing_required_key", "Missing required key: selector"}
	}
	s, err := compileSelector(q.Selector)
	if err != nil {
		return err
	}
	if len(q.Sort) > 0 {
		return &apiError{http.StatusBadRequest, "no_usable_index", "No index exists for this sort, try indexing by the sort fields."}
	}
	limit := findLimit
	if q.Limit != nil {
		limit = *q.Limit
	}
	p := &rowParams{includeDocs: true, space: everyDoc}
	from := []byte{}
	last := noBookmark
	if q.Bookmark != "" && q.Bookmark != noBookmark {
		after, err := base64.RawURLEncoding.DecodeString(q.Bookmark)
		if err != nil {
			return &apiError{http.StatusBadRequest, "invalid_bookmark", "Invalid bookmark value: " + q.Bookmark}
		}
		from, last = append(after, 0), q.Bookmark
	}
	w := x.stream(http.StatusOK)
	w.WriteString("{\"docs\":[\r\n")
	for sent := 0; from != nil && sent < limit; {
		var rows []docRow
		if rows, from, err = db.readRows(p, from, rowsAtOnce); err != nil {
			return err
		}
		for _, row := range rows {
			if sent == limit {
				break
			}
			if strings.HasPrefix(row.id, "_design/") {
				continue
			}
			if ok, err := s.matches(row.doc); err != nil {
				return err
			} else if !ok {
				continue
			}
			if q.Skip > 0 {
				q.Skip--
				continue
			}
			if sent++; sent > 1 {
				w.WriteString(",\r\n")
			}
			last = base64.RawURLEncoding.EncodeToString([]byte(row.id))
			if q.Fields == nil {
				err = db.writeJSON(w, row.doc, docOptions{})
			} else {
				err = writeFields(w, row.doc, q.Fields)
			}
			if err != nil {
				return err
			}
		}
	}
	w.WriteString("\r\n],\r\n\"bookmark\":\"" + last + "\"," +
		"\"warning\":\"No matching index found, create an index to optimize query time.\"}\n")
	return w.Flush()
}

// writeFields writes the chosen fields of a document.
func writeFields(w interface{ Write([]byte) (int, error) }, d *document, fields []string) error {
	v, err := decodeJSON(append(d.appendHead(nil, docOptions{}), '}'))
	if err != nil {
		return err
	}
	out := map[string]any{}
	for _, f := range fields {
		path := fieldPath(f)
		value, ok := lookup(v, path)
		if !ok {
			continue
		}
		into := out
		for _, name := range path[:len(path)-1] {
			inner, ok := into[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				into[name] = inner
			}
			into = inner
		}
		into[path[len(path)-1]] = value
	}
	b, err := marshal(out)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// indexes serves _index: the list of the one index there is, by _id.
func (x *exchange) indexes(*database) error {
	switch x.method {
	case http.MethodGet:
		byID := object{{"fields", []object{{{"_id", "asc"}}}}}
		return x.json(http.StatusOK, object{
			{"total_rows", 1},
			{"indexes", []object{{{"ddoc", nil}, {"name", "_all_docs"}, {"type", "special"}, {"def", byID}}}},
		})
	case http.MethodPost:
		return badRequest("The reference server keeps no indexes: _find looks at every document.")
	}
	return x.notAllowed("GET,POST")
}
