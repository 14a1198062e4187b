package replicate

import (
	"strings"
	"testing"
)

func TestInnermost(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"db_not_found: could not open http://h/x/", "db_not_found: could not open http://h/x/"},
		{"{session_request_failed,\"http://h/_session\",\"admin\",\n       {conn_failed,{error,econnrefused}}}", "econnrefused (http://h/_session)"},
		{"{worker_died,<0.12.3>,{process_died,<0.4.5>,{http_request_failed,\"GET\",\"http://u:p@h/db\",{error,{code,500}}}}}", "code,500 (http://h/db)"},
		{"unauthorized", "unauthorized"},
		{"failed: {error,timeout}", "failed: timeout"},
		{"", ""},
		{"{", ""},
		{"{\"a{b\"}", "a{b"},
	} {
		if got := innermost(c.given); got != c.want {
			t.Errorf("innermost(%q) = %q, want %q", c.given, got, c.want)
		}
	}
}

func FuzzInnermost(f *testing.F) {
	f.Add("{a,{b,\"c\\\"}\"}} x")
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(innermost(s), "\n") {
			t.Errorf("%q became more than a line", s)
		}
	})
}
