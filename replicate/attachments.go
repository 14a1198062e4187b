package replicate

import (
	"fmt"
	"strconv"
	"strings"

	"couchgauge/gen"
)

// AttachmentSize is one level of the size of attachments: "100kB", or
// "10x1B", which also says how many each document has.
type AttachmentSize struct {
	Size  gen.Size
	Count int // per document; 0 = as the factor attachments says
}

// ParseAttachmentSizes reads a list of sizes and ranges of sizes, each with or
// without a count before it: "0B,1kB,10x1B".
func ParseAttachmentSizes(s string) ([]AttachmentSize, error) {
	var list []AttachmentSize
	for _, item := range strings.Split(s, ",") {
		count := 0
		if before, after, ok := strings.Cut(item, "x"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(before))
			if err != nil || n < 1 {
				return nil, fmt.Errorf("attachment size %q: before the x goes a number of attachments, as in 10x1B", item)
			}
			count, item = n, after
		}
		sizes, err := gen.ParseSizes(item)
		if err != nil {
			return nil, fmt.Errorf("attachment size: %w", err)
		}
		for _, size := range sizes {
			list = append(list, AttachmentSize{Size: size, Count: count})
		}
	}
	return list, nil
}

// contentType of attachments: one that servers store as it is, unless the
// content is text (fact 9).
func contentType(c gen.Content) string {
	if c == gen.Text {
		return "text/plain"
	}
	return "application/octet-stream"
}
