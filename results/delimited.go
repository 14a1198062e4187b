package results

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
)

// printCSV prints the rows as RFC 4180 has it, lines ending in a newline.
func printCSV(w io.Writer, s *Summary, _ Options) error {
	return csv.NewWriter(w).WriteAll(records(s))
}

// printTSV prints the rows tab separated, without quoting, for cut and awk:
// tabs and line breaks inside a text become blanks.
func printTSV(w io.Writer, s *Summary, _ Options) error {
	blank := strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")
	for _, rec := range records(s) {
		for i, field := range rec {
			rec[i] = blank.Replace(field)
		}
		if _, err := fmt.Fprintln(w, strings.Join(rec, "\t")); err != nil {
			return err
		}
	}
	return nil
}

// records are the columns' names and every row's figures: numbers plain,
// nothing where nothing was measured.
func records(s *Summary) [][]string {
	names := make([]string, len(s.columns))
	for i, c := range s.columns {
		names[i] = c.Name
	}
	all := [][]string{names}
	for i := range s.Rows {
		rec := make([]string, len(s.columns))
		for j, c := range s.columns {
			switch v := c.value(&s.Rows[i]).(type) {
			case nil:
			case float64:
				rec[j] = plain(v, c.Unit)
			default:
				rec[j] = fmt.Sprint(v)
			}
		}
		all = append(all, rec)
	}
	return all
}
