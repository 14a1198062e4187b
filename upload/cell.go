package upload

import (
	"strconv"

	"couchgauge/gen"
	"couchgauge/results"
)

// Cell is one combination of levels.
type Cell struct {
	Method      string
	Size        gen.Size // of each attachment
	Attachments int      // per document; bulk: documents per request
	Content     gen.Content
	ContentType string
	Concurrency int // uploads started together, each on a connection of its own
	Expect      bool
	Transfer    string // "length" or "chunked"
	Encoding    string // "identity" or "gzip"
	KeepAlive   bool
	NewEdits    bool
	Docs        string // "new" or "existing"
	Ordinal     int    // from 1, with Plan.Append; else 0
}

// Levels lists the cell's levels under the names of the columns.
func (c Cell) Levels() []results.Level {
	levels := []results.Level{
		word("method", c.Method),
		{Factor: "size_bytes", Text: c.Size.Text, Value: c.Size.Bytes},
		number("attachments", c.Attachments),
		word("content", string(c.Content)),
		word("content_type", c.ContentType),
		number("concurrency", c.Concurrency),
		word("expect", onOff(c.Expect)),
		word("transfer", c.Transfer),
		word("encoding", c.Encoding),
		word("keep_alive", onOff(c.KeepAlive)),
		word("new_edits", onOff(c.NewEdits)),
		word("docs", c.Docs),
	}
	if c.Ordinal > 0 {
		levels = append(levels, number("ordinal", c.Ordinal))
	}
	return levels
}

// Payload is the number of attachment bytes that one sample stores.
func (c Cell) Payload() int64 {
	return c.Size.Bytes * int64(c.Attachments) * int64(c.Concurrency)
}

func word(factor, text string) results.Level {
	return results.Level{Factor: factor, Text: text, Value: text}
}

func number(factor string, n int) results.Level {
	return results.Level{Factor: factor, Text: strconv.Itoa(n), Value: n}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// String names the cell for an error: "raw 10 MB".
func (c Cell) String() string {
	s := c.Method + " " + c.Size.Text
	if c.Ordinal > 0 {
		s += ", attachment " + strconv.Itoa(c.Ordinal)
	}
	return s
}
