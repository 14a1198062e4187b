package refserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

var errNoObject = errors.New("not a JSON object")

// parseObject reads a JSON object; its members keep their order and their text.
func parseObject(text []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errNoObject
	}
	o := object{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		o = append(o, member{name.(string), value})
	}
	return o, nil
}

// set replaces a member or adds it at the end; without a value it removes it.
func (o object) set(name string, value any) object {
	i := slices.IndexFunc(o, func(m member) bool { return m.name == name })
	switch {
	case i >= 0 && value == nil:
		return slices.Delete(o, i, i+1)
	case i >= 0:
		o[i].value = value
	case value != nil:
		return append(o, member{name, value})
	}
	return o
}
