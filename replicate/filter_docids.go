package replicate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// docIDsFilter passes the documents of given ids: a JSON array, or one a line.
var docIDsFilter = filterKind{
	name: "doc_ids",
	builtin: func(share float64, source int, docs int64) filtering {
		ids := []string{}
		for n := range docs {
			if chosen(n, share) {
				ids = append(ids, docID(source, n))
			}
		}
		return byDocIDs(ids)
	},
	own: func(file []byte) (filtering, error) {
		var ids []string
		if json.Unmarshal(file, &ids) != nil {
			lines := bufio.NewScanner(bytes.NewReader(file))
			for lines.Scan() {
				if id := strings.TrimSpace(lines.Text()); id != "" {
					ids = append(ids, id)
				}
			}
		}
		if len(ids) == 0 {
			return filtering{}, fmt.Errorf("no document ids: write a JSON array of them, or one a line")
		}
		return byDocIDs(ids), nil
	},
}

func byDocIDs(ids []string) filtering {
	return filtering{
		job:   map[string]any{"doc_ids": ids},
		query: map[string]string{"filter": "_doc_ids"},
		body:  map[string]any{"doc_ids": ids},
	}
}
