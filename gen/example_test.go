package gen_test

import (
	"fmt"

	"couchgauge/gen"
)

func ExampleParseSizes() {
	sizes, err := gen.ParseSizes("0, 10^1..10^3, 1MB..100MB*10")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, size := range sizes {
		fmt.Println(size, size.Bytes)
	}
	// Output:
	// 0 0
	// 10^1 10
	// 10^2 100
	// 10^3 1000
	// 1MB 1000000
	// 10MB 10000000
	// 100MB 100000000
}

func ExampleFormatBytes() {
	fmt.Println(gen.FormatBytes(10_000_000), gen.FormatBytes(65_536), gen.FormatBytes(65_535))
	// Output: 10 MB 64 KiB 65535 B
}

func ExampleDocuments() {
	template, err := gen.ParseTemplate([]byte(`{"_rev": "1-f0e", "room": "Blue 12", "price": 80.50, "free": true}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	documents := gen.Documents{Seed: 42, Template: template}
	for n := range int64(2) {
		fmt.Println(string(documents.Append(nil, n)))
	}
	// Output:
	// {"_id":"doc-0000000000","room":"Pkyx 71","price":31.11,"free":true}
	// {"_id":"doc-0000000001","room":"Wirc 68","price":88.64,"free":true}
}
