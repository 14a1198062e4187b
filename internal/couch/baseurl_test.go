package couch

import (
	"fmt"
	"strings"
	"testing"
)

func TestOpenReadsURLs(t *testing.T) {
	for _, test := range []struct{ name, raw, url, user, password string }{
		{"plain", "http://127.0.0.1:5984", "http://127.0.0.1:5984", "", ""},
		{"slash at the end", "http://127.0.0.1:5984/", "http://127.0.0.1:5984", "", ""},
		{"no scheme", "localhost:5984", "http://localhost:5984", "", ""},
		{"no scheme, user", "admin:secret@localhost:5984/", "http://localhost:5984", "admin", "secret"},
		{"https", "HTTPS://db.example.com/", "https://db.example.com", "", ""},
		{"prefix", "http://h/couch/db%2F1/", "http://h/couch/db%2F1", "", ""},
		{"user only", "http://admin@h/", "http://h", "admin", ""},
		{"escaped password", "http://admin:p%40ss%3Aw%2Frd%25@h:1/", "http://h:1", "admin", "p@ss:w/rd%"},
		{"password as it is", "http://admin:p@ss:w/rd%@h:1/p", "http://h:1/p", "admin", "p@ss:w/rd%"},
		{"password like a port", "http://admin:123/x@h:1/", "http://h:1", "admin", "123/x"},
		{"password with :// and #?", "http://admin:a://b#c?d@h:1/", "http://h:1", "admin", "a://b#c?d"},
		{"no scheme, password with ://", "admin:a://b@h:1/", "http://h:1", "admin", "a://b"},
		{"IPv6", "http://u:p@[::1]:5984/", "http://[::1]:5984", "u", "p"},
		{"spaces around", " http://h:1/ ", "http://h:1", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Open(test.raw, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if s.URL() != test.url || s.options.User != test.user || s.options.Password != test.password {
				t.Errorf("got %q, user %q, password %q; want %q, %q, %q",
					s.URL(), s.options.User, s.options.Password, test.url, test.user, test.password)
			}
		})
	}
}

func TestOpenPrefersTheURLsUser(t *testing.T) {
	s := open(t, "http://a:b@h/", Options{User: "c", Password: "d"})
	if s.options.User != "a" || s.options.Password != "b" {
		t.Errorf("got user %q, want a", s.options.User)
	}
	s = open(t, "http://h/", Options{User: "c", Password: "d"})
	if s.options.User != "c" || s.options.Password != "d" {
		t.Errorf("got user %q, want c", s.options.User)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, test := range []struct{ name, raw, says string }{
		{"other scheme", "ftp://u:hunter2@h/", "scheme"},
		{"nothing", "", "no host"},
		{"no host", "http://u:hunter2@/", "no host"},
		{"query", "http://u:hunter2@h/?x=1", "query"},
		{"port", "http://u:hunter2@h:port/", "not a URL"},
		{"escape", "http://u:hunter2@h/%zz", "not a URL"},
		{"control", "http://u:hunter2@h/\x7f", "not a URL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Open(test.raw, Options{})
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
			if strings.Contains(fmt.Sprint(err), "hunter2") {
				t.Errorf("the password is in %q", err)
			}
		})
	}
}

// Whatever is pasted, the password is in no text that is made of it.
func FuzzOpenHidesThePassword(f *testing.F) {
	for _, s := range []string{"p@ss:w/rd%", "a://b", "%", "#?", "1/2", "\x00", "]["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, junk string) {
		password := "hunter2" + junk + "hunter2"
		raw := "http://admin:" + password + "@127.0.0.1:1/p"
		s, err := Open(raw, Options{})
		for _, text := range []string{fmt.Sprint(err), fmt.Sprint(s), fmt.Sprintf("%+v %#v", s, s)} {
			if strings.Contains(text, "hunter2") {
				t.Errorf("the password is in %q", text)
			}
		}
	})
}

func TestRedact(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"none", "get http://h/db: refused", "get http://h/db: refused"},
		{"user", "get http://u:p@h/db: refused", "get http://h/db: refused"},
		{"odd", "get https://u:p@ss:w/rd%@h/db: refused", "get https://h/db: refused"},
		{"two", `{"source":"http://a:b@h/x","target":"HTTP://c:d@i/y"}`, `{"source":"http://h/x","target":"HTTP://i/y"}`},
		{"Erlang", `<<"http://u:p@h/">>`, `<<"http://h/">>`},
		{"mail", "ask admin@example.com", "ask admin@example.com"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Redact(test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
