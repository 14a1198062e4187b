package engine

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Peer is one database: source or target.
type Peer struct {
	// URL of the database. Credentials in it are moved to Header.
	URL string
	// Header is sent with every request, such as Authorization.
	Header http.Header
	// Client sends the requests; nil is a client made for replication.
	Client *http.Client
}

// clean returns the peer with the URL's credentials moved to the header, and
// without query and closing slash.
func (p Peer) clean() (Peer, error) {
	u, err := url.Parse(p.URL)
	if err != nil {
		// The parser's error repeats the URL, which may hold a password.
		return p, fmt.Errorf("read the endpoint: it is not a URL; write http://HOST:PORT/DATABASE")
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || strings.Trim(u.Path, "/") == "" {
		return p, fmt.Errorf("read the endpoint %q: want http://HOST:PORT/DATABASE", u.Redacted())
	}
	h := p.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if u.User != nil {
		if h.Get("Authorization") == "" {
			pass, _ := u.User.Password()
			h.Set("Authorization", basic(u.User.Username(), pass))
		}
		u.User = nil
	}
	u.RawQuery, u.Fragment = "", ""
	return Peer{URL: strings.TrimRight(u.String(), "/"), Header: h, Client: p.Client}, nil
}

func basic(user, pass string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+pass))
}

// user is the name in a Basic Authorization header, "" when there is none. It
// is part of the replication id, as in CouchDB: two users may see different
// documents.
func (p Peer) user() string {
	b64, ok := strings.CutPrefix(p.Header.Get("Authorization"), "Basic ")
	if !ok {
		return ""
	}
	b, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(string(b), ":")
	return name
}
