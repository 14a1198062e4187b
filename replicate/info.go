package replicate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"couchgauge/internal/couch"
)

// jsonText is JSON that is sent as it is.
type jsonText string

// MarshalJSON implements json.Marshaler.
func (t jsonText) MarshalJSON() ([]byte, error) { return []byte(t), nil }

// dbInfo is what a database tells about itself (CouchDB docs, "GET /{db}").
type dbInfo struct {
	Docs    int64
	Deleted int64  // -1 = not told
	File    int64  // bytes on disk; -1 = not told
	Seq     string // JSON
}

// since is the sequence as a query takes it.
func (i dbInfo) since() string { return strings.Trim(i.Seq, `"`) }

// databaseInfo asks for a database's dbInfo.
func databaseInfo(ctx context.Context, c *couch.Client, db string) (dbInfo, error) {
	var said struct {
		DocCount    int64           `json:"doc_count"`
		DocDelCount *int64          `json:"doc_del_count"`
		UpdateSeq   json.RawMessage `json:"update_seq"`
		DiskSize    *int64          `json:"disk_size"` // before 2.0
		Sizes       struct {
			File *int64 `json:"file"`
		} `json:"sizes"`
	}
	if err := c.JSON(ctx, http.MethodGet, couch.EscapeSegment(db), nil, &said); err != nil {
		return dbInfo{}, fmt.Errorf("read the size of a database: %w", err)
	}
	info := dbInfo{Docs: said.DocCount, Deleted: -1, File: -1, Seq: string(said.UpdateSeq)}
	if said.DocDelCount != nil {
		info.Deleted = *said.DocDelCount
	}
	if said.Sizes.File != nil {
		info.File = *said.Sizes.File
	} else if said.DiskSize != nil {
		info.File = *said.DiskSize
	}
	return info, nil
}
