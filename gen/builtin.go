package gen

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
)

//go:embed templates/*.json
var templates embed.FS

// BuiltinTemplates lists the names that BuiltinTemplate knows.
func BuiltinTemplates() []string {
	entries, err := templates.ReadDir("templates")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".json"))
	}
	return names
}

// BuiltinTemplate returns the template of that name: "notification" is the
// document of the count comparison.
func BuiltinTemplate(name string) (*Template, error) {
	text, err := templates.ReadFile("templates/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("template %q is unknown: use one of %s", name, strings.Join(BuiltinTemplates(), ", "))
	}
	return ParseTemplate(text)
}

// The sizes in bytes of the smallest and the largest document of DocTemplate.
// The largest is eight times what CouchDB takes unless told otherwise (fact 11).
const (
	MinDocument = int64(len(documentHead + idZeros + `","text":""}`))
	MaxDocument = int64(64_000_000)
)

// The parts of the documents of DocTemplate.
const (
	docFields = `"type":"abcdef","number":1234567,"ratio":0.1234,"created":"2000-01-01T00:00:00Z","tags":["abcd","abcdefgh","abcdef"],`
	docLine   = `"abcdef abc abcdefghi ab abcdefg abcd abcdefghijk abc abcde abcdefgh ab abcdef"`
)

// DocTemplate returns the default template: documents of size bytes with a few
// fields, an array of lines of text, and a text that fills them up. The small
// ones have only the text.
func DocTemplate(size int64) (*Template, error) {
	if size < MinDocument || size > MaxDocument {
		return nil, fmt.Errorf("documents of %s: they can have %s to %s",
			FormatBytes(size), FormatBytes(MinDocument), FormatBytes(MaxDocument))
	}
	left := int(size - MinDocument)
	var doc bytes.Buffer
	doc.WriteByte('{')
	if left >= len(docFields) {
		doc.WriteString(docFields)
		left -= len(docFields)
	}
	if lines := (left - len(`"lines":[],`) + len(`,`)) / len(docLine+`,`); lines > 0 {
		doc.WriteString(`"lines":[` + docLine)
		doc.WriteString(strings.Repeat(`,`+docLine, lines-1))
		doc.WriteString(`],`)
		left -= len(`"lines":[],`) + lines*len(docLine+`,`) - len(`,`)
	}
	doc.WriteString(`"text":"`)
	doc.WriteString(strings.Repeat("x", left))
	doc.WriteString(`"}`)
	return ParseTemplate(doc.Bytes())
}
