package upload

import (
	"errors"
	"math/rand/v2"
	"strconv"

	"couchgauge/gen"
	"couchgauge/results"
)

// subject is a cell with what its samples need.
type subject struct {
	Cell
	id          int
	label       string
	method      Method
	impossible  error        // why its method cannot do it
	attachments []Attachment // that one upload adds
}

// subjects makes the plan's cells ready, and their records.
func (p Plan) subjects() ([]*subject, []*results.Cell, error) {
	cells := p.product()
	numbers := make(map[Cell]int, len(cells)) // of those that can be measured
	for i, c := range cells {
		if p.impossible(c) == nil {
			numbers[c] = i
		}
	}
	var subjects []*subject
	var records []*results.Cell
	for i, c := range cells {
		m, err := methodByName(c.Method)
		if err != nil {
			return nil, nil, err
		}
		s := &subject{Cell: c, id: i, label: c.String(), method: m, impossible: p.impossible(c)}
		s.attachments = p.attachments(c)
		subjects = append(subjects, s)
		record := &results.Cell{ID: i, Baseline: p.baseline(c, i, numbers), Levels: c.Levels(), Payload: c.Payload()}
		if s.impossible != nil {
			record.Impossible = s.impossible.Error()
		}
		records = append(records, record)
	}
	return subjects, records, nil
}

// impossible is why a cell cannot be measured: what its method cannot do, and
// what none can; nil for all others.
func (p Plan) impossible(c Cell) error {
	m, err := methodByName(c.Method)
	if err != nil {
		return err
	}
	if !c.NewEdits && (c.Docs == Existing || c.Ordinal > 0) {
		return errors.New("new_edits=false would add a conflict to the existing document")
	}
	return m.Supports(c)
}

// baseline is the number of the raw cell with the same other levels as cell i,
// or of the first method's that can be measured, or i if there is none.
func (p Plan) baseline(c Cell, i int, numbers map[Cell]int) int {
	for _, m := range append([]string{"raw"}, p.Methods...) {
		c.Method = m
		if n, ok := numbers[c]; ok {
			return n
		}
	}
	return i
}

// attachments are those that one upload of the cell adds. With Append each
// ordinal is one.
func (p Plan) attachments(c Cell) []Attachment {
	var list []Attachment
	for i := range c.Attachments {
		number := i
		if c.Ordinal > 0 {
			number = c.Ordinal - 1
		}
		list = append(list, Attachment{
			Attachment: gen.Attachment{Content: c.Content, Seed: p.Seed, Size: c.Size.Bytes, Number: number},
			Name:       p.name(number),
			Type:       c.ContentType,
		})
	}
	return list
}

func (p Plan) name(number int) string {
	if p.Names != Awkward {
		return gen.AttachmentName(number)
	}
	names := gen.AwkwardNames()
	if number < len(names) {
		return names[number]
	}
	return strconv.Itoa(number/len(names)) + " " + names[number%len(names)]
}

// boundary is that of the run's multipart bodies: always the same length.
func (p Plan) boundary() string {
	random := rand.New(rand.NewPCG(p.Seed, 1))
	return "couchgauge" + strconv.FormatUint(random.Uint64()|1<<63, 16)
}

// documents are the new documents of one upload: one, or where the method
// carries many, one for each attachment.
func (s *subject) documents(id string) []Document {
	if s.method.Carries() != ManyDocuments {
		return []Document{{ID: id, Attachments: s.attachments}}
	}
	var docs []Document
	for i, a := range s.attachments {
		docs = append(docs, Document{ID: id + "-" + strconv.Itoa(i), Attachments: []Attachment{a}})
	}
	return docs
}

// bodies is the length of all bodies of one sample, in bytes, uncompressed.
func (p Plan) bodies(s *subject) int64 {
	u := Upload{DB: "db", Docs: s.documents("id"), NewEdits: s.NewEdits, Boundary: p.boundary()}
	if s.method.Carries() != OneAttachment {
		return s.method.Build(u).Body.Len() * int64(s.Concurrency)
	}
	var n int64
	for i := range s.attachments {
		n += s.method.Build(u.only(i)).Body.Len()
	}
	return n * int64(s.Concurrency)
}
