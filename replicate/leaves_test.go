package replicate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEachChange(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		want         []string
		err          string
	}{
		{"CouchDB", "{\"results\":[\n{\"seq\":\"1-g\",\"id\":\"a\",\"changes\":[{\"rev\":\"1-x\"},{\"rev\":\"1-y\"}]},\n{\"id\":\"b\",\"changes\":[{\"rev\":\"2-z\"}],\"deleted\":true}\n],\n\"last_seq\":\"2-g\",\"pending\":0}\n", []string{"a", "b"}, ""},
		{"last_seq first", `{"last_seq":2,"results":[{"id":"a","changes":[]}]}`, []string{"a"}, ""},
		{"empty", `{"results":[],"last_seq":0}`, nil, ""},
		{"cut off", `{"results":[{"id":"a","changes":[]},`, []string{"a"}, "EOF"},
		{"cut off between rows", `{"results":[{"id":"a","changes":[]}`, []string{"a"}, "EOF"},
		{"no results", `{"error":"x"}`, nil, "has none"},
		{"no JSON", `<html>`, nil, "no JSON object"},
		{"nothing", ``, nil, "EOF"},
	} {
		var got []string
		err := eachChange(strings.NewReader(c.answer), func(r changeRow) error { got = append(got, r.ID); return nil })
		if !says(err, c.err) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func FuzzEachChange(f *testing.F) {
	f.Add(`{"results":[{"id":"a","changes":[{"rev":"1-x"}]}],"last_seq":1}`)
	f.Fuzz(func(t *testing.T, s string) {
		var whole struct{ Results []changeRow }
		rows := 0
		err := eachChange(strings.NewReader(s), func(changeRow) error { rows++; return nil })
		if err == nil && json.Unmarshal([]byte(s), &whole) == nil && !strings.Contains(s[1:], `"results"`) && rows != len(whole.Results) {
			t.Errorf("%d rows of %d", rows, len(whole.Results))
		}
	})
}
