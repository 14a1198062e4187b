package replicator

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// Endpoint is a source or a target.
type Endpoint struct {
	URL    string // no credentials, no query, no closing slash
	Header http.Header
	Proxy  *url.URL // nil: none
}

// String is the URL as CouchDB prints it.
func (e Endpoint) String() string { return e.URL + "/" }

func (e Endpoint) proxy() *string {
	if e.Proxy == nil {
		return nil
	}
	s := strings.Replace(e.Proxy.Redacted(), ":xxxxx@", ":*****@", 1)
	return &s
}

// user is the name in the credentials, "" when there are none.
func (e Endpoint) user() string {
	b64, _ := strings.CutPrefix(e.Header.Get("Authorization"), "Basic ")
	b, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(string(b), ":")
	return name
}

// parseEndpoint reads a source or a target: a URL, or an object with url,
// auth.basic and headers (CouchDB documentation, "Replicator Database").
// Credentials in auth win over those in the URL, and these over a header.
func parseEndpoint(raw json.RawMessage) (Endpoint, error) {
	address, isText := text(raw)
	switch {
	case isText && !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://"):
		return Endpoint{}, &Invalid{wrong, "local_endpoints_not_supported"}
	case isText:
		return newEndpoint(address, nil, "")
	case len(raw) == 0:
		return Endpoint{}, &Invalid{wrong, "Missing replicator database"}
	case !isObject(raw):
		return Endpoint{}, &Invalid{crash, "function_clause"}
	}
	var o struct {
		URL     json.RawMessage            `json:"url"`
		Headers map[string]json.RawMessage `json:"headers"`
		Auth    struct {
			Basic struct{ Username, Password *string }
		} `json:"auth"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return Endpoint{}, &Invalid{crash, "badarg"}
	}
	address, isText = text(o.URL)
	if !isText {
		return Endpoint{}, &Invalid{wrong, invalidEndpoint}
	}
	header := http.Header{}
	for name, v := range o.Headers {
		value, ok := text(v)
		if !ok {
			return Endpoint{}, &Invalid{crash, "badarg"}
		}
		header.Set(name, value)
	}
	login := ""
	if b := o.Auth.Basic; b.Username != nil && b.Password != nil {
		login = basic(*b.Username, *b.Password)
	}
	return newEndpoint(address, header, login)
}

func newEndpoint(address string, header http.Header, login string) (Endpoint, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Endpoint{}, &Invalid{wrong, invalidEndpoint}
	}
	if header == nil {
		header = http.Header{}
	}
	if password, ok := u.User.Password(); ok && login == "" {
		login = basic(u.User.Username(), password)
	}
	if login != "" {
		header.Set("Authorization", login)
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return Endpoint{URL: strings.TrimRight(u.String(), "/"), Header: header}, nil
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

const invalidProxy = "proxy has an invalid url"

// parseProxies reads proxy, which is for both sides, or source_proxy and
// target_proxy.
func parseProxies(fields map[string]json.RawMessage) (source, target *url.URL, err error) {
	get := func(name string) string {
		s, _ := text(fields[name])
		return s
	}
	proxy, s, t := get("proxy"), get("source_proxy"), get("target_proxy")
	switch {
	case proxy != "" && s != "":
		return nil, nil, &Invalid{badList, "`proxy` is mutually exclusive with `source_proxy`"}
	case proxy != "" && t != "":
		return nil, nil, &Invalid{badList, "`proxy` is mutually exclusive with `target_proxy`"}
	case proxy != "":
		s, t = proxy, proxy
	}
	if source, err = parseProxy(s); err == nil {
		target, err = parseProxy(t)
	}
	return source, target, err
}

func parseProxy(s string) (*url.URL, error) {
	if s == "" {
		return nil, nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
		return nil, &Invalid{wrong, invalidProxy}
	}
	return u, nil
}
