package replicate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSet(t *testing.T) {
	for _, c := range []struct {
		given string
		want  []any
		err   string
	}{
		{"worker_processes=1,4", []any{int64(1), int64(4)}, ""},
		{"use_bulk_get=true,false", []any{true, false}, ""},
		{"socket_options=[{nodelay, true}],[]", []any{"[{nodelay, true}]", "[]"}, ""},
		{"since_seq=now", []any{"now"}, ""},
		{"worker_processes=many", nil, "no whole number"},
		{"worker_processes=-1", nil, "no whole number"},
		{"worker_processes=0", nil, "of 1 or more"},
		{"retries_per_request=0", []any{int64(0)}, ""},
		{"use_bulk_get=1", nil, "neither true nor false"},
		{"continuous=true", nil, "--continuous"},
		{"create_target_params=x", nil, "--copies"},
		{"doc_ids=a", nil, "--filter"},
		{"worker_procs=1", nil, "use one of worker_processes, worker_batch_size"},
		{"worker_processes", nil, "write option=value"},
		{"=1", nil, "write option=value"},
	} {
		s, err := ParseSet(c.given)
		if !says(err, c.err) {
			t.Errorf("ParseSet(%q): error %v, want %q", c.given, err, c.err)
		}
		var got []any
		for _, l := range s.Levels {
			got = append(got, l.Value)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("ParseSet(%q): %s", c.given, diff)
		}
	}
}

// says whether an error is nil when it should be, and else has the words.
func says(err error, words string) bool {
	if words == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), words)
}

func TestParseConfig(t *testing.T) {
	for _, c := range []struct{ given, err string }{
		{"replicator/startup_jitter=1,5000", ""},
		{"startup_jitter=1", "section/key"},
		{"a/b/c=1", "section/key"},
		{"/b=1", "section/key"},
		{"a/b", "section/key"},
	} {
		if _, err := ParseConfig(c.given); !says(err, c.err) {
			t.Errorf("ParseConfig(%q): error %v, want %q", c.given, err, c.err)
		}
	}
}
