package results

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
)

// printCSV prints the rows as RFC 4180 has it, lines ending in a newline.
func printCSV(w io.Writer, list []*Summary, _ Options) error {
	return csv.NewWriter(w).WriteAll(records(list))
}

// printTSV prints the rows tab separated, without quoting, for cut and awk:
// tabs and line breaks inside a text become blanks.
func printTSV(w io.Writer, list []*Summary, _ Options) error {
	blank := strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")
	for _, rec := range records(list) {
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
// nothing where nothing was measured, or where a row's run has no such column.
func records(list []*Summary) [][]string {
	names := columnNames(list)
	all := [][]string{names}
	for _, s := range list {
		for i := range s.Rows {
			rec := make([]string, len(names))
			for _, c := range s.columns {
				j := slices.Index(names, c.Name)
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
	}
	return all
}

// columnNames lists the columns that any of the summaries has, each once. One
// that the first lacks stands behind its neighbour in the summary that has it.
func columnNames(list []*Summary) []string {
	var names []string
	for _, s := range list {
		at := 0
		for _, c := range s.columns {
			if i := slices.Index(names, c.Name); i >= 0 {
				at = i
			} else {
				names = slices.Insert(names, at, c.Name)
			}
			at++
		}
	}
	return names
}
