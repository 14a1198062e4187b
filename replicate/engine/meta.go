package engine

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// meta is what the pipeline must know of a document. The slices are parts of
// its text.
type meta struct {
	id          []byte // JSON string
	rev         string
	deleted     bool
	attachments []byte // JSON object; nil when there are none
	revisions   []byte // JSON object {"start":N,"ids":[…]}; nil when not asked for
}

func readMeta(doc []byte) (meta, error) {
	var m meta
	err := members(doc, func(key, value []byte) bool {
		if len(key) < 3 || key[0] != '_' && key[0] != '\\' {
			return true
		}
		switch name(key) {
		case "_id":
			m.id = value
		case "_rev":
			m.rev = text(value)
		case "_deleted":
			m.deleted = string(value) == "true"
		case "_attachments":
			if value[0] == '{' && !bytes.Equal(value, []byte("{}")) {
				m.attachments = value
			}
		case "_revisions":
			m.revisions = value
		}
		return true
	})
	if err == nil && (m.id == nil || m.rev == "") {
		err = errJSON
	}
	return m, err
}

// name is a member's key with its escapes resolved.
func name(key []byte) string {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key)
	}
	var s string
	if json.Unmarshal(append(append([]byte{'"'}, key...), '"'), &s) != nil {
		return string(key)
	}
	return s
}

// path is the revisions of a document's own branch, newest first.
func (m *meta) path() (start int, ids []string) {
	var v struct {
		Start int
		IDs   []string
	}
	if m.revisions == nil || json.Unmarshal(m.revisions, &v) != nil {
		return 0, nil
	}
	return v.Start, v.IDs
}

// descends tells whether rev is the document's revision or one before it.
func (m *meta) descends(rev string) bool {
	if rev == m.rev {
		return true
	}
	start, ids := m.path()
	return onPath(start, ids, rev)
}

func onPath(start int, ids []string, rev string) bool {
	gen, id := splitRev(rev)
	i := start - gen
	return gen > 0 && i >= 0 && i < len(ids) && ids[i] == id
}

// known is the generation up to which the target has this branch, by the
// ancestors that it named; 0 is none. Attachments that came with it or before
// (revpos) are there.
func (m *meta) known(ancestors []string) int {
	if len(ancestors) == 0 {
		return 0
	}
	known := 0
	start, ids := m.path()
	for _, rev := range ancestors {
		if gen, _ := splitRev(rev); gen > known && onPath(start, ids, rev) {
			known = gen
		}
	}
	return known
}

func splitRev(rev string) (gen int, id string) {
	n, id, _ := strings.Cut(rev, "-")
	gen, err := strconv.Atoi(n)
	if err != nil {
		return 0, ""
	}
	return gen, id
}

// attachment is one entry of _attachments.
type attachment struct {
	name        string
	raw         []byte // the entry as it came
	contentType []byte // JSON string
	revpos      int
	length      int64  // of the content
	encoding    string // "gzip" when it is stored compressed
	encoded     int64  // its length as stored
	follows     bool   // its content is a part of the message
	inline      bool   // its content is in the entry
}

// size is the length of the attachment as it travels in a multipart message.
func (a *attachment) size() int64 {
	if a.encoding != "" {
		return a.encoded
	}
	return a.length
}

// attachments reads _attachments in the order of its keys, which is the order
// of the parts (fact 5).
func readAttachments(raw []byte) ([]attachment, error) {
	var all []attachment
	err := members(raw, func(key, value []byte) bool {
		a := attachment{name: name(key), raw: value}
		_ = members(value, func(key, value []byte) bool {
			switch string(key) {
			case "content_type":
				a.contentType = value
			case "revpos":
				a.revpos, _ = strconv.Atoi(string(value))
			case "length":
				a.length, _ = strconv.ParseInt(string(value), 10, 64)
			case "encoded_length":
				a.encoded, _ = strconv.ParseInt(string(value), 10, 64)
			case "encoding":
				if value[0] == '"' && text(value) != "identity" {
					a.encoding = text(value)
				}
			case "follows":
				a.follows = string(value) == "true"
			case "data":
				a.inline = true
			}
			return true
		})
		all = append(all, a)
		return true
	})
	return all, err
}

// lacking counts the attachments of a document that are newer than generation
// known, and their length.
func lacking(raw []byte, known int) (n int, size int64) {
	all, err := readAttachments(raw)
	if err != nil {
		return 1, -1
	}
	for _, a := range all {
		if a.revpos > known || a.revpos == 0 {
			n++
			size += a.length
		}
	}
	return n, size
}
