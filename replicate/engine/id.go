package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// replicationID names the checkpoints of a job: the same for everything that
// decides which revisions are copied, and for nothing else (CouchDB
// documentation, "Replication Protocol", "Generate Replication ID"). The
// password is no part of it. A filter function is part of it as source text,
// so that a changed function starts anew.
func replicationID(source, target Peer, o Options, filter string) (string, error) {
	ids := slices.Clone(o.DocIDs)
	slices.Sort(ids)
	var selector any
	if len(o.Selector) > 0 {
		// Decoding and encoding sorts the keys.
		if err := json.Unmarshal(o.Selector, &selector); err != nil {
			return "", fmt.Errorf("read the selector: %w", err)
		}
	}
	b, err := json.Marshal([]any{
		"couchgauge replication id 1",
		source.URL, source.user(),
		target.URL, target.user(),
		o.Filter, filter, o.QueryParams, slices.Compact(ids), selector,
		o.SinceSeq, o.WinningRevsOnly,
	})
	if err != nil {
		return "", fmt.Errorf("make the replication id: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]), nil
}

// filterSource fetches the text of the filter function; built-in filters,
// whose names start with "_", have none.
func (e *endpoint) filterSource(ctx context.Context, filter string) (string, error) {
	if filter == "" || strings.HasPrefix(filter, "_") {
		return "", nil
	}
	ddoc, name, ok := strings.Cut(filter, "/")
	if !ok {
		return "", fmt.Errorf("filter %q: want DESIGN_DOCUMENT/FUNCTION", filter)
	}
	var doc struct {
		Filters map[string]string `json:"filters"`
	}
	err := e.json(ctx, request{method: http.MethodGet, path: docPath("_design/" + ddoc)}, &doc)
	if err != nil {
		return "", fmt.Errorf("fetch the filter %q from the source: %w", filter, err)
	}
	code, ok := doc.Filters[name]
	if !ok {
		return "", fmt.Errorf("filter %q: _design/%s has no filter of that name", filter, ddoc)
	}
	return code, nil
}
