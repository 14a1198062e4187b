package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// classicMethods are those that the script of 2011 knew.
var classicMethods = []string{"raw", "base64", "multipart"}

// checkClassic refuses cells that differ in more than method and size, or
// that are no uploads.
func checkClassic(cells []Cell) error {
	rows := make([]Row, len(cells))
	for i, c := range cells {
		rows[i].Cell = c
		if _, ok := rows[i].Level("method"); !ok {
			return errors.New("the classic table is one of uploads: use another format")
		}
		if c.Server != cells[0].Server {
			return errors.New("the classic table knows methods and sizes only, and the server varies too: use another format")
		}
	}
	for _, f := range varied(rows) {
		if f != "method" && f != "size_bytes" {
			return fmt.Errorf("the classic table knows methods and sizes only, and %s varies too: use another format", f)
		}
	}
	return nil
}

// printClassic prints the shape of the attachment-speed script of 2011: a
// line for each size, seconds by method, and the client's own base64 cost.
// What was not measured is "?". Methods that the script did not know come
// last. n is the exponent of 10 if all sizes are powers of ten, else all are
// bytes.
func printClassic(w io.Writer, s *Summary, _ Options) error {
	var further []string // methods
	for i := range s.Rows {
		m := s.Rows[i].levelText("method")
		if !slices.Contains(classicMethods, m) && !slices.Contains(further, m) {
			further = append(further, m)
		}
	}
	heads := slices.Concat([]string{"n"}, classicMethods, []string{"encode", "decode"}, further)
	all := sizes(s.Rows)
	var b bytes.Buffer
	fmt.Fprintln(&b, strings.Join(heads, "\t"))
	for i, n := range classicSizes(all) {
		fields := []string{n}
		for _, method := range classicMethods {
			fields = append(fields, classicTime(s.Rows, method, all[i], "median_s", 3))
		}
		fields = append(fields,
			classicTime(s.Rows, "base64", all[i], "encode_s", 6),
			classicTime(s.Rows, "base64", all[i], "decode_s", 6))
		for _, method := range further {
			fields = append(fields, classicTime(s.Rows, method, all[i], "median_s", 3))
		}
		fmt.Fprintln(&b, strings.Join(fields, "\t"))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// sizes lists the rows' sizes in their order.
func sizes(rows []Row) []float64 {
	var list []float64
	for i := range rows {
		if size := rows[i].number("size_bytes"); !math.IsNaN(size) && !slices.Contains(list, size) {
			list = append(list, size)
		}
	}
	return list
}

// classicSizes shows sizes as n: all of them 10^n bytes, or all as bytes.
func classicSizes(sizes []float64) []string {
	var exponents, plain []string
	for _, size := range sizes {
		text := strconv.FormatFloat(size, 'f', -1, 64)
		plain = append(plain, text)
		if zeros := strings.TrimPrefix(text, "1"); zeros != text && strings.Trim(zeros, "0") == "" {
			exponents = append(exponents, strconv.Itoa(len(zeros)))
		}
	}
	if len(exponents) == len(plain) {
		return exponents
	}
	return plain
}

// classicTime shows seconds, "?" if that was not measured.
func classicTime(rows []Row, method string, size float64, column string, places int) string {
	for i := range rows {
		r := &rows[i]
		if r.levelText("method") != method || r.number("size_bytes") != size {
			continue
		}
		if v := r.number(column); !math.IsNaN(v) {
			return strconv.FormatFloat(v, 'f', places, 64)
		}
	}
	return "?"
}
