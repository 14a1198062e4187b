package replicator

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// members calls each with the members of a JSON object, in their order.
func members(object json.RawMessage, each func(name string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("read a JSON object: it begins with %v: %w", t, err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fmt.Errorf("read a JSON object: %w", err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("read the member %v: %w", name, err)
		}
		if err := each(name.(string), value); err != nil {
			return err
		}
	}
	return nil
}

// text is a JSON string, false for any other value.
func text(v json.RawMessage) (string, bool) {
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	var s string
	return s, json.Unmarshal(v, &s) == nil
}

func isObject(v json.RawMessage) bool { return len(v) > 0 && v[0] == '{' }
