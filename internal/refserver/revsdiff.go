package refserver

import (
	"bytes"
	"net/http"
)

// revsDiff serves _revs_diff: which of the revisions named are not here.
func (x *exchange) revsDiff(db *database) error {
	return x.missing(db, "", func(b *bytes.Buffer, d *missingRevs) {
		b.WriteString(`{"missing":`)
		writeRevs(b, d.missing)
		if len(d.ancestors) > 0 {
			b.WriteString(`,"possible_ancestors":`)
			writeRevs(b, d.ancestors)
		}
		b.WriteByte('}')
	})
}

// missingRevs serves _missing_revs, the older form of the same question.
func (x *exchange) missingRevs(db *database) error {
	return x.missing(db, "missing_revs", func(b *bytes.Buffer, d *missingRevs) { writeRevs(b, d.missing) })
}

// missingRevs are the revisions of one document that are not here.
type missingRevs struct {
	id                 string
	missing, ancestors []rev
}

func writeRevs(b *bytes.Buffer, revs []rev) {
	b.WriteByte('[')
	for i, r := range revs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(appendJSONString(nil, r.String()))
	}
	b.WriteByte(']')
}

// missing answers with an object of the documents of which something is missing,
// inside a member of that name unless it is empty.
func (x *exchange) missing(db *database, name string, write func(*bytes.Buffer, *missingRevs)) error {
	if x.method != http.MethodPost {
		return x.notAllowed("POST")
	}
	if err := x.wantJSON(); err != nil {
		return err
	}
	var asked []missingRevs
	err := x.readJSON(func(j *jsonReader) error {
		if c, err := j.token(); err != nil {
			return err
		} else if c != '{' {
			return badRequest("Request body must be a JSON object")
		}
		return j.members(func(id string, _ []byte) error {
			raw, err := j.value(nil)
			if err != nil {
				return err
			}
			revs, err := parseRevList(string(raw))
			asked = append(asked, missingRevs{id: id, missing: revs})
			return err
		})
	})
	if err != nil {
		return err
	}
	if err := db.view(func(t *readTx) error {
		for i := range asked {
			d, err := t.doc(asked[i].id)
			if err != nil {
				return err
			}
			if d != nil {
				asked[i].missing, asked[i].ancestors = d.tree.missing(asked[i].missing)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	var b bytes.Buffer
	if name != "" {
		b.WriteString(`{"` + name + `":`)
	}
	b.WriteByte('{')
	n := 0
	for i := range asked {
		if len(asked[i].missing) == 0 {
			continue
		}
		if n++; n > 1 {
			b.WriteByte(',')
		}
		b.Write(appendJSONString(nil, asked[i].id))
		b.WriteByte(':')
		write(&b, &asked[i])
	}
	b.WriteByte('}')
	if name != "" {
		b.WriteByte('}')
	}
	b.WriteByte('\n')
	return x.rawJSON(http.StatusOK, b.Bytes())
}
