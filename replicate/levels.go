package replicate

import (
	"slices"
	"strconv"

	"couchgauge/results"
)

func (c cell) levels(p Plan) []results.Level {
	levels := []results.Level{text("driver", c.driver), text("topology", c.topology)}
	if c.topology != "1-1" {
		levels = append(levels, number("n", strconv.Itoa(c.size()), int64(c.size())))
	}
	levels = append(levels, c.shape.levels(p)...)
	if p.Updates > 0 {
		levels = append(levels, number("update", strconv.Itoa(c.update), int64(c.update)))
	}
	if len(p.Filters) > 1 || !c.filter.all() {
		name := c.filter.Text
		if c.filter.all() {
			name = "none"
		}
		levels = append(levels, text("filter", name))
	}
	for _, s := range slices.Concat(c.config, c.set) {
		levels = append(levels, results.Level{Factor: s.name, Text: s.Text, Value: s.Value})
	}
	return levels
}

// size is the n of the layout.
func (c cell) size() int {
	switch c.topology {
	case "chain", "all":
		return len(c.layout.databases)
	default:
		return len(c.layout.edges)
	}
}

func (s shape) levels(p Plan) []results.Level {
	levels := []results.Level{
		number("docs", strconv.FormatInt(s.docs, 10), s.docs),
		number("doc_bytes", p.sizeText(s.size()), s.size()),
	}
	if len(p.Attachments) > 1 || s.count > 0 {
		levels = append(levels, number("attachments", strconv.Itoa(s.count), int64(s.count)))
	}
	if s.count > 0 {
		levels = append(levels, number("attachment_bytes", p.sizeText(s.attachment.Size), s.attachment.Size))
	}
	if len(p.Revs) > 1 || s.revs > 1 {
		levels = append(levels, number("revs", strconv.Itoa(s.revs), int64(s.revs)))
	}
	if len(p.Conflicts) > 1 || s.conflicts > 1 {
		levels = append(levels, number("conflicts", strconv.Itoa(s.conflicts), int64(s.conflicts)))
	}
	if len(p.Deleted) > 1 || s.deleted > 0 {
		share := strconv.FormatFloat(s.deleted, 'g', -1, 64)
		levels = append(levels, results.Level{Factor: "deleted", Text: share, Value: s.deleted})
	}
	return levels
}

// sizeText is the size as the user gave it, if he did.
func (p Plan) sizeText(bytes int64) string {
	for _, s := range p.DocSizes {
		if s.Bytes == bytes {
			return s.Text
		}
	}
	for _, a := range p.AttachmentSizes {
		if a.Size.Bytes == bytes {
			return a.Size.Text
		}
	}
	return strconv.FormatInt(bytes, 10)
}

func text(factor, value string) results.Level {
	return results.Level{Factor: factor, Text: value, Value: value}
}

func number(factor, text string, value int64) results.Level {
	return results.Level{Factor: factor, Text: text, Value: value}
}
