package replicate

import (
	"encoding/json"
	"fmt"
)

// selectorFilter passes what a Mango selector matches, which the server
// evaluates without a query server (CouchDB docs, "Selector Objects").
var selectorFilter = filterKind{
	name: "selector",
	builtin: func(share float64, _ int, _ int64) filtering {
		return bySelector(map[string]any{rankField: map[string]any{"$lt": rankLimit(share)}})
	},
	own: func(file []byte) (filtering, error) {
		var selector map[string]any
		if err := json.Unmarshal(file, &selector); err != nil {
			return filtering{}, fmt.Errorf("the selector is no JSON object: %w", err)
		}
		return bySelector(selector), nil
	},
}

func bySelector(selector map[string]any) filtering {
	return filtering{
		job:   map[string]any{"selector": selector},
		query: map[string]string{"filter": "_selector"},
		body:  map[string]any{"selector": selector},
	}
}
