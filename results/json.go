package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// jsonRun is the header with what is known only at the end.
type jsonRun struct {
	*Run
	Ended   *time.Time `json:"ended"` // null if the recording was cut off
	Partial bool       `json:"partial"`
	Reason  string     `json:"reason,omitempty"`
	Error   string     `json:"error,omitempty"`
}

// jsonSummary is a summary as a JSON document.
type jsonSummary struct {
	Run      jsonRun   `json:"run"`
	Rows     []Row     `json:"rows"`
	Warnings []Warning `json:"warnings"`
}

// printJSON prints one value: the document of one summary, or an array of
// those of several.
func printJSON(w io.Writer, list []*Summary, _ Options) error {
	var all []jsonSummary
	for _, s := range list {
		all = append(all, newJSONSummary(s))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if len(all) == 1 {
		return enc.Encode(all[0])
	}
	return enc.Encode(all)
}

func newJSONSummary(s *Summary) jsonSummary {
	run := jsonRun{Run: &s.Run, Partial: s.Partial}
	if s.End != nil {
		run.Ended, run.Reason, run.Error = &s.End.At, s.End.Reason, s.End.Error
	}
	all := jsonSummary{run, s.Rows, s.Warnings}
	if all.Rows == nil {
		all.Rows = []Row{}
	}
	if all.Warnings == nil {
		all.Warnings = []Warning{}
	}
	return all
}

// MarshalJSON writes the row flat: its columns in their order, numbers plain,
// null where nothing was measured.
func (r Row) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, c := range r.columns {
		if i > 0 {
			b.WriteByte(',')
		}
		v := c.value(&r)
		if f, ok := v.(float64); ok {
			v = json.Number(plain(f, c.Unit))
		}
		name, err := json.Marshal(c.Name)
		if err != nil {
			return nil, err
		}
		figure, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(figure)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// precision is to how many places figures of a unit are written: seconds to a
// tenth of a nanosecond, so that the half of one shows and the rounding
// errors of binary fractions do not.
var precision = map[string]float64{"s": 1e10, "ratio": 1e6, "B/s": 1e3, "1/s": 1e6}

// plain writes a number without an exponent.
func plain(v float64, unit string) string {
	if p := precision[unit]; p > 0 && math.Abs(v) < 1e15/p {
		v = math.Round(v*p) / p
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
