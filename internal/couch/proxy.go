package couch

import (
	"net/http"
	"strings"
)

// serverNames begin the Server header of those that speak CouchDB themselves.
var serverNames = []string{"CouchDB/", "CouchGauge/", "PouchDB"}

// proxyHeaders are headers of answers that CouchDB does not make.
var proxyHeaders = []string{
	"Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host",
	"X-Cache", "X-Varnish", "X-Served-By", "X-Envoy-Upstream-Service-Time", "CF-RAY", "X-Amz-Cf-Id",
}

// proxyInFront tells from the head of a welcome what answers in front of the
// server (case U7), "" if nothing shows. version is the one in the welcome's
// body.
func proxyInFront(h http.Header, version string) string {
	var signs []string
	name := h.Get("Server")
	switch own, rest := ownName(name); {
	case !own && name != "":
		signs = append(signs, "Server: "+name)
	case own && version != "" && strings.HasPrefix(name, "CouchDB/") && rest != version:
		signs = append(signs, "Server: "+name+" for version "+version)
	}
	for _, k := range proxyHeaders {
		if v := h.Get(k); v != "" {
			signs = append(signs, k+": "+v)
		}
	}
	return Redact(strings.Join(signs, ", "))
}

// ownName tells whether a Server header is one of a CouchDB-compatible server,
// and the version in it.
func ownName(header string) (own bool, version string) {
	for _, n := range serverNames {
		if rest, ok := strings.CutPrefix(header, n); ok {
			version, _, _ = strings.Cut(rest, " ")
			return true, version
		}
	}
	return false, ""
}
