package couch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// Info is what a server tells about itself and what its connection is like. It
// is what maintainers ask for (case T4). What is not told is "unknown (…)" with
// the reason.
type Info struct {
	URL         string
	Welcome     json.RawMessage // verbatim
	Header      string          // the Server header
	Proxy       string          // what answers in front of it, "" = nothing that shows
	Reference   bool            // couchgauge's own reference server
	Erlang      string
	JSEngine    string
	OS          string
	Q, N        string            // of the database that was asked about
	Limits      map[string]string // by "section/key"
	Replicator  map[string]string // settings of [replicator]
	Connect     time.Duration     // of a TCP connection: one round trip of the network
	RoundTrip   time.Duration     // of the smallest request on a warm connection
	EmptyDocPut time.Duration     // of a document without content
}

// Describe asks for everything in Info. db is a database of the run's own: its
// q and n are reported, and a few empty documents are written into it. With db
// "" these three are left out.
func (s *Server) Describe(ctx context.Context, db string) (*Info, error) {
	w, err := s.Hello(ctx)
	if err != nil {
		return nil, err
	}
	set, err := s.settings(ctx)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	info := &Info{
		URL: s.URL(), Welcome: w.Raw, Header: w.Server, Proxy: w.Proxy, Reference: w.Reference(),
		OS: set.os(), Limits: set.limits(), Replicator: set.replicator(),
		Q: unknownNotTold, N: unknownNotTold,
	}
	if info.Erlang, info.JSEngine, err = s.versions(ctx, w); err != nil {
		return nil, err
	}
	if info.Connect, err = s.connectTime(ctx); err != nil {
		return nil, err
	}
	if info.RoundTrip, err = s.RoundTrip(ctx); err != nil {
		return nil, err
	}
	if db == "" {
		return info, nil
	}
	if info.Q, info.N, err = s.shards(ctx, db); err != nil {
		return nil, err
	}
	if info.EmptyDocPut, err = s.emptyDocPut(ctx, db); err != nil {
		return nil, err
	}
	return info, nil
}

// otp finds Erlang's version in a Server header such as
// "CouchDB/3.5.0 (Erlang OTP/25)".
var otp = regexp.MustCompile(`Erlang OTP/([^)\s]+)`)

// versions asks for those of Erlang and the JavaScript engine (CouchDB docs,
// "/_node/{node-name}/_versions"; since 3.2).
func (s *Server) versions(ctx context.Context, w *Welcome) (erlang, js string, err error) {
	type version struct{ Name, Version string }
	var said struct {
		Erlang version `json:"erlang"`
		JS     version `json:"javascript_engine"`
	}
	why, err := s.ask(ctx, "_node/_local/_versions", &said)
	if err != nil {
		return "", "", fmt.Errorf("read versions: %w", err)
	}
	why = cmp.Or(why, unknownNotTold)
	erlang, js = said.Erlang.Version, said.JS.Name
	if said.JS.Version != "" {
		js += " " + said.JS.Version
	}
	if erlang == "" {
		erlang = why
		if m := otp.FindStringSubmatch(w.Server); m != nil {
			erlang = "OTP " + m[1]
		}
	}
	if js == "" {
		js = why
	}
	return erlang, js, nil
}

// ask reads an answer that a server may not have or not give. why tells that it
// did not: "unknown (…)".
func (s *Server) ask(ctx context.Context, path string, out any) (why string, err error) {
	err = s.Control().JSON(ctx, http.MethodGet, path, nil, out)
	var e *Error
	switch {
	case errors.As(err, &e) && (e.Status == 401 || e.Status == 403):
		return unknownAdmin, nil
	case errors.As(err, &e):
		return unknownNotTold, nil
	}
	return "", err
}

// shards are q and n of a database (CouchDB docs, "GET /{db}": cluster).
func (s *Server) shards(ctx context.Context, db string) (q, n string, err error) {
	var said struct {
		Cluster *struct{ Q, N int }
	}
	if err := s.Control().JSON(ctx, http.MethodGet, EscapeSegment(db), nil, &said); err != nil {
		return "", "", fmt.Errorf("read q and n: %w", err)
	}
	if said.Cluster == nil {
		return unknownNotTold, unknownNotTold, nil
	}
	return strconv.Itoa(said.Cluster.Q), strconv.Itoa(said.Cluster.N), nil
}
