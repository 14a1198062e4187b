package replicate

import (
	"fmt"
	"strings"
)

// viewFilter passes the documents for which a view's map function emits
// (CouchDB docs, "View Filters").
var viewFilter = filterKind{
	name: "view",
	builtin: func(share float64, _ int, _ int64) filtering {
		return byView(fmt.Sprintf("function(doc) { if (doc.%s < %d) emit(null, null); }", rankField, rankLimit(share)))
	},
	own: func(file []byte) (filtering, error) {
		source := strings.TrimSpace(string(file))
		if source == "" {
			return filtering{}, fmt.Errorf("the file is empty: write function(doc) { … emit(…) … }")
		}
		return byView(source), nil
	},
}

func byView(source string) filtering {
	return filtering{
		job: map[string]any{
			"filter":       "_view",
			"query_params": map[string]any{"view": "couchgauge/pass"},
		},
		query:   map[string]string{"filter": "_view", "view": "couchgauge/pass"},
		design:  designID,
		content: designDocument(map[string]any{"views": map[string]any{"pass": map[string]any{"map": source}}}),
	}
}
