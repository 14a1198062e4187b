package replicate

import (
	"encoding/base64"
	"net/http"
	"net/url"

	"couchgauge/internal/couch"
	"couchgauge/replicate/engine"
)

// Peer is one server of a run: as we reach it, and as the replicating server
// does.
type Peer struct {
	Server         *couch.Server
	User, Password string // of the jobs; "" = none
	As             string // base URL without credentials as the replicating server sees it; "" = Server.URL()
	Index          int    // of the server among the run's (results.Run.Servers)
}

// String is the URL that we use.
func (p Peer) String() string { return p.Server.URL() }

// GoString hides the password.
func (p Peer) GoString() string { return "replicate.Peer{" + p.String() + "}" }

// endpoint is a job's source or target: a database on a peer.
type endpoint struct {
	peer *Peer
	db   string
}

// address is the URL of the database as the replicating server sees it.
func (e endpoint) address() string {
	base := e.peer.As
	if base == "" {
		base = e.peer.Server.URL()
	}
	return base + "/" + couch.EscapeSegment(e.db)
}

// login is how credentials are put into a job. Servers differ in what they
// understand.
type login string

const (
	loginObject   login = "auth"     // {"url": …, "auth": {"basic": {…}}}, from 3.2 on
	loginUserinfo login = "userinfo" // http://user:password@…
)

// logins lists the ways, the best first.
var logins = []login{loginObject, loginUserinfo}

// json is the endpoint as a replication document has it. It holds the
// password: it goes to the server and nowhere else.
func (e endpoint) json(l login) any {
	p, address := e.peer, e.address()
	if p.User == "" && p.Password == "" {
		return address
	}
	if l == loginUserinfo {
		u, err := url.Parse(address)
		if err != nil {
			return address // the server will say so
		}
		u.User = url.UserPassword(p.User, p.Password)
		return u.String()
	}
	return map[string]any{
		"url": address,
		"auth": map[string]any{
			"basic": map[string]string{"username": p.User, "password": p.Password},
		},
	}
}

// enginePeer is the endpoint for our own replicator, which runs here and so
// needs no other address.
func (e endpoint) enginePeer() engine.Peer {
	h := http.Header{}
	if e.peer.User != "" || e.peer.Password != "" {
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(e.peer.User+":"+e.peer.Password)))
	}
	return engine.Peer{URL: e.peer.Server.URL() + "/" + couch.EscapeSegment(e.db), Header: h}
}
