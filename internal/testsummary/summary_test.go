package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestSummarise(t *testing.T) {
	for _, test := range []struct {
		name, input, want string
	}{
		{
			name: "a test that passes says nothing",
			input: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: chatter\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- PASS: TestA (0.00s)\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`,
			want: "ok  \tp\t0.1s\n\n1 passed, 0 failed, 0 skipped\n",
		},
		{
			name: "a test that fails says all, also when another runs at the same time",
			input: `{"Action":"output","Package":"p","Test":"TestA","Output":"a1\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"b1\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"a2\n"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`,
			want: "a1\na2\nFAIL\tp\t0.1s\n\n1 passed, 1 failed, 0 skipped\n",
		},
		{
			name: "reasons are counted",
			input: `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    server.go:28: no CouchDB: set X\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"q","Test":"TestA","Output":"    other.go:2: no CouchDB: set X\n"}
{"Action":"skip","Package":"q","Test":"TestA"}
{"Action":"skip","Package":"q","Test":"TestB"}
`,
			want: "\nSkipped:\n    2  no CouchDB: set X\n    1  no reason given\n\n0 passed, 0 failed, 3 skipped\n",
		},
		{
			name: "a package that does not compile",
			input: `{"ImportPath":"p","Action":"build-output","Output":"p/p.go:1:1: undefined: x\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","FailedBuild":"p"}
`,
			want: "p/p.go:1:1: undefined: x\nFAIL\tp [build failed]\n\n0 passed, 0 failed, 0 skipped\n",
		},
		{
			name: "a test during which the package ended",
			input: `{"Action":"output","Package":"p","Test":"TestA","Output":"last words\n"}
{"Action":"output","Package":"p","Output":"exit status 2\n"}
{"Action":"fail","Package":"p"}
`,
			want: "exit status 2\nlast words\n\n0 passed, 0 failed, 0 skipped\n",
		},
		{
			name:  "what is not JSON",
			input: "go: no such tool\n",
			want:  "go: no such tool\n\n0 passed, 0 failed, 0 skipped\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			s, err := summarise(&out, strings.NewReader(test.input))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.print(&out); err != nil {
				t.Fatal(err)
			}
			if out.String() != test.want {
				t.Errorf("printed %q, want %q", out.String(), test.want)
			}
		})
	}
}
