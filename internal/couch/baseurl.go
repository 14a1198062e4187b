package couch

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// baseURL is where a server is, without credentials.
type baseURL struct {
	scheme string // "http" or "https"
	host   string // "host:port"
	prefix string // escaped path, "" or "/a/b"
}

// root is the URL without the path.
func (b baseURL) root() string { return b.scheme + "://" + b.host }

type user struct{ name, password string }

// parseBaseURL reads what people paste: the scheme may be missing, and the
// password may hold characters that ought to have been escaped ("p@ss:w/rd%").
// No error contains the text that was read, since that holds the password.
func parseBaseURL(raw string) (baseURL, *user, error) {
	scheme, rest := "http", strings.TrimSpace(raw)
	if before, after, ok := strings.Cut(rest, "://"); ok && !strings.ContainsAny(before, "/?#@:") {
		scheme, rest = strings.ToLower(before), after
	}
	if scheme != "http" && scheme != "https" {
		return baseURL{}, nil, fmt.Errorf("read server URL: scheme %q: give an http or https URL", scheme)
	}
	userinfo, rest := cutUserinfo(rest)
	u, err := url.Parse(scheme + "://" + rest)
	if err != nil {
		return baseURL{}, nil, errors.New("read server URL: not a URL: give http://host:port/")
	}
	switch {
	case u.Hostname() == "":
		return baseURL{}, nil, errors.New("read server URL: no host: give http://host:port/")
	case u.RawQuery != "" || u.Fragment != "":
		return baseURL{}, nil, errors.New("read server URL: it has a query or a fragment: give the base URL of the server only")
	}
	base := baseURL{scheme: scheme, host: u.Host, prefix: strings.TrimRight(u.EscapedPath(), "/")}
	if userinfo == "" {
		return base, nil, nil
	}
	name, password, _ := strings.Cut(userinfo, ":")
	return base, &user{name: unescapeLoosely(name), password: unescapeLoosely(password)}, nil
}

// cutUserinfo splits "user:password@host/path" at the last '@'. By the book a
// slash would end the user's part, but people paste passwords as they are, and
// a password must not pass for a host or a path. A path with '@' is written
// with %40, as everything in this package writes it.
func cutUserinfo(s string) (userinfo, rest string) {
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return "", s
	}
	return s[:at], s[at+1:]
}

// unescapeLoosely undoes percent-encoding, or leaves the text alone when it is
// not percent-encoded.
func unescapeLoosely(s string) string {
	if t, err := url.PathUnescape(s); err == nil {
		return t
	}
	return s
}
