package couch

import "testing"

func TestDiscards(t *testing.T) {
	for _, c := range []struct {
		name, welcome string
		want          bool
	}{
		{"sink", `{"couchdb":"Welcome","vendor":{"name":"couchgauge reference server","mode":"discard"}}`, true},
		{"reference server", `{"couchdb":"Welcome","vendor":{"name":"couchgauge reference server"}}`, false},
		{"somebody else's", `{"couchdb":"Welcome","vendor":{"name":"other","mode":"discard"}}`, false},
	} {
		w, err := parseWelcome([]byte(c.welcome))
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Discards(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
