package results

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// printClassic prints the shape of the attachment-speed script of 2011: a
// line for each size 10^n, or the size where it is no power of ten; seconds
// by method, and the client's own base64 cost. What was not measured is "?".
func printClassic(w io.Writer, s *Summary, _ Options) error {
	for _, f := range varied(s.Rows) {
		if f != "method" && f != "size_bytes" {
			return fmt.Errorf("the classic table knows methods and sizes only, and %s varies too: use another format", f)
		}
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, "n\traw\tbase64\tmultipart\tencode\tdecode")
	for _, size := range sizes(s.Rows) {
		fields := []string{exponent(size)}
		for _, method := range []string{"raw", "base64", "multipart"} {
			fields = append(fields, classicTime(s.Rows, method, size, "median_s", 3))
		}
		fields = append(fields,
			classicTime(s.Rows, "base64", size, "encode_s", 6),
			classicTime(s.Rows, "base64", size, "decode_s", 6))
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

// exponent returns n for a size of 10^n bytes, else the size.
func exponent(size float64) string {
	text := strconv.FormatFloat(size, 'f', -1, 64)
	if zeros := strings.TrimPrefix(text, "1"); zeros != text && strings.Trim(zeros, "0") == "" {
		return strconv.Itoa(len(zeros))
	}
	return text
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
