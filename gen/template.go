package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Template is a JSON document whose leaves are varied. Its documents have its
// members in its order, and leaves as long as its own: in a string each ASCII
// letter or digit becomes another of its kind (lower case, upper case, digit),
// in a number each digit becomes another, no first one zero. Kept are true,
// false, null, zero, numbers with an exponent, the keys, and the other
// characters of a string.
type Template struct {
	size  int     // of a document, in bytes
	lanes []lanes // the last one is filled up
}

// documentHead is what a document begins with; the digits of its id follow.
const documentHead = `{"_id":"` + idPrefix

// ParseTemplate makes a template of a JSON object. Its members whose names
// start with an underscore are the server's own and left out: a document can be
// used as it was read from a database.
func ParseTemplate(text []byte) (*Template, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("template: not UTF-8")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, fmt.Errorf("template: not JSON: %w", err)
	}
	object := compact.Bytes()
	if object[0] != '{' {
		return nil, errors.New("template: not a JSON object, which a document is")
	}
	doc := []byte(documentHead + idZeros + `"`)
	id := len(doc)
	for _, member := range members(object) {
		if !reserved(member) {
			doc = append(append(doc, ','), member...)
		}
	}
	doc = append(doc, '}')
	t := &Template{size: len(doc), lanes: fixed(doc)}
	t.varyFrom(doc, id)
	return t, nil
}

// Size returns the length of each document in bytes.
func (t *Template) Size() int64 { return int64(t.size) }

// reserved reports whether a member's name starts with an underscore, which
// may be escaped.
func reserved(member []byte) bool {
	var name string
	err := json.Unmarshal(member[:stringEnd(member, 0)], &name)
	return err == nil && len(name) > 0 && name[0] == '_'
}

// members splits a compact JSON object into its members.
func members(object []byte) [][]byte {
	var found [][]byte
	depth, start := 0, 1
	for i := 0; i < len(object); {
		switch object[i] {
		case '"':
			i = stringEnd(object, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if i > start && (depth == 0 || depth == 1 && object[i] == ',') {
			found = append(found, object[start:i])
			start = i + 1
		}
		i++
	}
	return found
}

// stringEnd returns the offset behind the JSON string that starts at i.
func stringEnd(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// fixed returns the lanes of a document that does not vary.
func fixed(doc []byte) []lanes {
	all := make([]lanes, (len(doc)+7)/8)
	for i, c := range doc {
		all[i/8].first |= uint64(c) << (8 * (i % 8))
	}
	return all
}

// set makes byte i of the documents vary in its class.
func (t *Template) set(i int, c class) { t.lanes[i/8].set(i%8, c) }

// varyFrom makes the leaves vary that stand behind offset i of a compact JSON
// document.
func (t *Template) varyFrom(doc []byte, i int) {
	for i < len(doc) {
		switch c := doc[i]; {
		case c == '"':
			end := stringEnd(doc, i)
			if doc[end] != ':' {
				t.varyString(doc, i+1, end-1)
			}
			i = end
		case '0' <= c && c <= '9':
			end := numberEnd(doc, i)
			t.varyNumber(doc[i:end], i)
			i = end
		default:
			i++
		}
	}
}

// numberEnd returns the offset behind the JSON number that has a digit at i.
func numberEnd(doc []byte, i int) int {
	for strings.IndexByte("0123456789.eE+-", doc[i]) >= 0 {
		i++
	}
	return i
}

// varyString makes the inside of a string vary, which is doc[i:end].
func (t *Template) varyString(doc []byte, i, end int) {
	for i < end {
		switch c := doc[i]; {
		case c == '\\' && doc[i+1] == 'u':
			i += len(`\u0000`)
			continue
		case c == '\\':
			i += len(`\n`)
			continue
		case 'a' <= c && c <= 'z':
			t.set(i, lower)
		case 'A' <= c && c <= 'Z':
			t.set(i, upper)
		case '0' <= c && c <= '9':
			t.set(i, digit)
		}
		i++
	}
}

// varyNumber makes a number without its sign vary, which stands at offset i.
// Its first digit and the last one of a fraction do not become zero: servers
// drop such zeros. A number with an exponent stays, for it could overflow.
func (t *Template) varyNumber(number []byte, i int) {
	if bytes.ContainsAny(number, "eE") {
		return
	}
	isFraction := bytes.IndexByte(number, '.') >= 0
	for at, c := range number {
		switch {
		case c == '.' || at == 0 && c == '0':
		case at == 0 || isFraction && at == len(number)-1:
			t.set(i+at, nonzero)
		default:
			t.set(i+at, digit)
		}
	}
}
