package refserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// selector is a compiled Mango selector (CouchDB docs, "Selector Syntax"). It
// tests decoded JSON.
type selector struct{ test test }

// test says whether a value matches. present is false where a document has no
// such field, which only {"$exists": false} matches.
type test func(v any, present bool) bool

func selectorError(format string, args ...any) error {
	return badRequest(fmt.Sprintf(format, args...))
}

// compileSelector makes a selector of its JSON.
func compileSelector(raw json.RawMessage) (*selector, error) {
	v, err := decodeJSON(raw)
	obj, ok := v.(map[string]any)
	if err != nil || !ok {
		return nil, badRequest("Selector error: expected a JSON object")
	}
	t, err := compileFields(obj, false)
	return &selector{t}, err
}

func decodeJSON(raw []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// matches tests a document, its _id, _rev and _deleted included.
func (s *selector) matches(d *document) (bool, error) {
	v, err := decodeJSON(append(d.appendHead(nil, docOptions{}), '}'))
	if err != nil {
		return false, fmt.Errorf("test document %q: %w", d.id, err)
	}
	return s.test(v, true), nil
}

// all and some combine tests. Both are true for none, as in Mango.
func all(tests []test) test {
	return func(v any, present bool) bool {
		return !slices.ContainsFunc(tests, func(t test) bool { return !t(v, present) })
	}
}

func some(tests []test) test {
	return func(v any, present bool) bool {
		return len(tests) == 0 || slices.ContainsFunc(tests, func(t test) bool { return t(v, present) })
	}
}

// compileFields compiles an object of fields, conditions and operators, all of
// which must hold. Negation is pushed down to the operators, as Mango does it: a
// field that is not there matches neither a comparison nor its negation.
func compileFields(obj map[string]any, negate bool) (test, error) {
	var tests []test
	for _, name := range sortedKeys(obj) {
		t, err := compileMember(name, obj[name], negate)
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	if negate {
		return some(tests), nil
	}
	return all(tests), nil
}

func sortedKeys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func compileMember(name string, arg any, negate bool) (test, error) {
	switch name {
	case "$and", "$or", "$nor":
		list, ok := arg.([]any)
		if !ok {
			return nil, badArgument(name, arg)
		}
		inner := negate != (name == "$nor")
		var tests []test
		for _, item := range list {
			t, err := compileCondition(item, inner)
			if err != nil {
				return nil, err
			}
			tests = append(tests, t)
		}
		if (name == "$and") != negate && name != "$nor" || name == "$nor" && !negate {
			return all(tests), nil
		}
		return some(tests), nil
	case "$not":
		if _, ok := arg.(map[string]any); !ok {
			return nil, badArgument(name, arg)
		}
		return compileCondition(arg, !negate)
	}
	if strings.HasPrefix(name, "$") {
		return compileOperator(name, arg, negate)
	}
	cond, err := compileCondition(arg, negate)
	if err != nil {
		return nil, err
	}
	path := fieldPath(name)
	return func(v any, present bool) bool {
		v, found := lookup(v, path)
		return cond(v, present && found)
	}, nil
}

// compileCondition compiles what a field is held against: an object of operators
// or further fields, or a value to be equal to.
func compileCondition(arg any, negate bool) (test, error) {
	if obj, ok := arg.(map[string]any); ok {
		if len(obj) == 0 {
			return compileOperator("$eq", arg, negate)
		}
		return compileFields(obj, negate)
	}
	return compileOperator("$eq", arg, negate)
}

// fieldPath splits "a.b" at its dots; a dot that belongs to a name is escaped.
func fieldPath(name string) []string {
	const dot = "\x00"
	parts := strings.Split(strings.ReplaceAll(name, `\.`, dot), ".")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], dot, ".")
	}
	return parts
}

// lookup follows a path through objects, and through arrays by number.
func lookup(v any, path []string) (any, bool) {
	for _, name := range path {
		switch c := v.(type) {
		case map[string]any:
			inner, ok := c[name]
			if !ok {
				return nil, false
			}
			v = inner
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(c) {
				return nil, false
			}
			v = c[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func badArgument(op string, arg any) error {
	text, err := json.Marshal(arg)
	if err != nil {
		return err
	}
	return selectorError("Bad argument for operator %s: %s", op, text)
}

// negations are the operators that say the opposite of one another.
var negations = map[string]string{
	"$lt": "$gte", "$gte": "$lt", "$lte": "$gt", "$gt": "$lte",
	"$eq": "$ne", "$ne": "$eq", "$in": "$nin", "$nin": "$in",
}

func compileOperator(op string, arg any, negate bool) (test, error) {
	if other, ok := negations[op]; ok && negate {
		op, negate = other, false
	}
	if op == "$exists" {
		want, ok := arg.(bool)
		if !ok {
			return nil, badArgument(op, arg)
		}
		return func(_ any, present bool) bool { return present == (want != negate) }, nil
	}
	t, err := compileValueTest(op, arg)
	if err != nil {
		return nil, err
	}
	return func(v any, present bool) bool { return present && t(v) != negate }, nil
}

// compileValueTest compiles an operator that looks at a value.
func compileValueTest(op string, arg any) (func(any) bool, error) {
	switch op {
	case "$eq", "$ne", "$lt", "$lte", "$gt", "$gte":
		return compileComparison(op, arg), nil
	case "$in", "$nin", "$all":
		list, ok := arg.([]any)
		if !ok {
			return nil, badArgument(op, arg)
		}
		return compileSet(op, list), nil
	case "$elemMatch", "$allMatch", "$keyMapMatch":
		return compileElements(op, arg)
	case "$type":
		name, ok := arg.(string)
		if !ok {
			return nil, badArgument(op, arg)
		}
		return func(v any) bool { return typeName(v) == name }, nil
	case "$size":
		n, ok := integer(arg)
		if !ok || n < 0 {
			return nil, badArgument(op, arg)
		}
		return func(v any) bool {
			list, ok := v.([]any)
			return ok && int64(len(list)) == n
		}, nil
	case "$mod":
		list, ok := arg.([]any)
		if !ok || len(list) != 2 {
			return nil, badArgument(op, arg)
		}
		divisor, ok1 := integer(list[0])
		rest, ok2 := integer(list[1])
		if !ok1 || !ok2 || divisor == 0 {
			return nil, badArgument(op, arg)
		}
		return func(v any) bool {
			n, ok := integer(v)
			return ok && n%divisor == rest
		}, nil
	case "$regex":
		text, ok := arg.(string)
		re, err := regexp.Compile(text)
		if !ok || err != nil {
			return nil, badArgument(op, arg)
		}
		return func(v any) bool {
			s, ok := v.(string)
			return ok && re.MatchString(s)
		}, nil
	case "$beginsWith":
		prefix, ok := arg.(string)
		if !ok {
			return nil, badArgument(op, arg)
		}
		return func(v any) bool {
			s, ok := v.(string)
			return ok && strings.HasPrefix(s, prefix)
		}, nil
	}
	return nil, selectorError("Invalid operator: %s", op)
}

func compileComparison(op string, arg any) func(any) bool {
	return func(v any) bool {
		c := compareJSON(v, arg)
		switch op {
		case "$eq":
			return c == 0
		case "$ne":
			return c != 0
		case "$lt":
			return c < 0
		case "$lte":
			return c <= 0
		case "$gt":
			return c > 0
		}
		return c >= 0
	}
}

func compileSet(op string, list []any) func(any) bool {
	holds := func(set []any, v any) bool {
		return slices.ContainsFunc(set, func(e any) bool { return compareJSON(e, v) == 0 })
	}
	if op == "$all" {
		return func(v any) bool {
			values, ok := v.([]any)
			if !ok || len(list) == 0 {
				return false
			}
			if inner, ok := list[0].([]any); ok && len(list) == 1 && compareJSON(inner, values) == 0 {
				return true
			}
			return !slices.ContainsFunc(list, func(e any) bool { return !holds(values, e) })
		}
	}
	in := func(v any) bool {
		if values, ok := v.([]any); ok {
			return slices.ContainsFunc(values, func(e any) bool { return holds(list, e) })
		}
		return holds(list, v)
	}
	if op == "$nin" {
		return func(v any) bool { return !in(v) }
	}
	return in
}

func compileElements(op string, arg any) (func(any) bool, error) {
	if _, ok := arg.(map[string]any); !ok {
		return nil, badArgument(op, arg)
	}
	t, err := compileCondition(arg, false)
	if err != nil {
		return nil, err
	}
	match := func(v any) bool { return t(v, true) }
	switch op {
	case "$elemMatch":
		return func(v any) bool {
			list, ok := v.([]any)
			return ok && slices.ContainsFunc(list, match)
		}, nil
	case "$allMatch":
		return func(v any) bool {
			list, ok := v.([]any)
			return ok && len(list) > 0 && !slices.ContainsFunc(list, func(e any) bool { return !match(e) })
		}, nil
	}
	return func(v any) bool {
		obj, ok := v.(map[string]any)
		return ok && slices.ContainsFunc(sortedKeys(obj), func(k string) bool { return match(k) })
	}, nil
}

func integer(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.ParseInt(string(n), 10, 64)
	return i, err == nil
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// typeOrder is the place of a value's type in CouchDB's order.
func typeOrder(v any) int {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 2
		}
		return 1
	case json.Number:
		return 3
	case string:
		return 4
	case []any:
		return 5
	}
	return 6
}

// compareJSON orders values as CouchDB's views do, but strings by their bytes
// where CouchDB asks ICU.
func compareJSON(a, b any) int {
	if c := cmp.Compare(typeOrder(a), typeOrder(b)); c != 0 {
		return c
	}
	switch a := a.(type) {
	case json.Number:
		return compareNumbers(a, b.(json.Number))
	case string:
		return strings.Compare(a, b.(string))
	case []any:
		return slices.CompareFunc(a, b.([]any), compareJSON)
	case map[string]any:
		return compareObjects(a, b.(map[string]any))
	}
	return 0
}

func compareNumbers(a, b json.Number) int {
	i, err1 := strconv.ParseInt(string(a), 10, 64)
	j, err2 := strconv.ParseInt(string(b), 10, 64)
	if err1 == nil && err2 == nil {
		return cmp.Compare(i, j)
	}
	return cmp.Compare(float(a), float(b))
}

func float(n json.Number) float64 {
	f, err := n.Float64()
	if err != nil {
		return math.NaN() // out of range: it sorts first
	}
	return f
}

func compareObjects(a, b map[string]any) int {
	ka, kb := sortedKeys(a), sortedKeys(b)
	for i := range min(len(ka), len(kb)) {
		if c := strings.Compare(ka[i], kb[i]); c != 0 {
			return c
		}
		if c := compareJSON(a[ka[i]], b[kb[i]]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(ka), len(kb))
}
