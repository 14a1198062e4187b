package replicate

import (
	"encoding/json"
	"fmt"
	"strings"
)

const designID = "_design/couchgauge"

// jsFilter passes what a filter function of a design document lets through
// (CouchDB docs, "Filter Functions").
var jsFilter = filterKind{
	name: "js",
	builtin: func(share float64, _ int, _ int64) filtering {
		return byFunction(fmt.Sprintf("function(doc, req) { return doc.%s < %d; }", rankField, rankLimit(share)))
	},
	own: func(file []byte) (filtering, error) {
		source := strings.TrimSpace(string(file))
		if source == "" {
			return filtering{}, fmt.Errorf("the file is empty: write function(doc, req) { … }")
		}
		return byFunction(source), nil
	},
}

func byFunction(source string) filtering {
	return filtering{
		job:     map[string]any{"filter": "couchgauge/pass"},
		query:   map[string]string{"filter": "couchgauge/pass"},
		design:  designID,
		content: designDocument(map[string]any{"filters": map[string]any{"pass": source}}),
	}
}

func designDocument(fields map[string]any) json.RawMessage {
	fields["_id"] = designID
	fields["language"] = "javascript"
	content, err := json.Marshal(fields)
	if err != nil {
		panic("replicate: a design document of strings: " + err.Error())
	}
	return content
}
