package refserver

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"

	"couchgauge/internal/refserver/replicator"
)

// replicate serves POST /_replicate (CouchDB documentation, "/_replicate").
func (x *exchange) replicate() error {
	if x.user.name == "" && !x.user.admin() {
		return unauthorized("You are not an authenticated user")
	}
	body, err := x.body()
	if err != nil {
		return err
	}
	switch {
	case len(body) == 0:
		return badRequest("Missing request body")
	case !json.Valid(body):
		return errBadJSON
	}
	request, err := x.withURLs(body)
	if err != nil {
		return err
	}
	if x.method != http.MethodPost {
		return x.notAllowed("POST")
	}
	if err := x.wantJSON(); err != nil {
		return err
	}
	r, invalid := replicator.Parse(request, x.s.replicatorSetting)
	if invalid != nil {
		status, name, reason := invalid.Answer()
		return &apiError{status, name, reason}
	}
	if r.Cancel {
		return x.cancelReplication(r)
	}
	r.User = x.user.name
	id, answer, err := x.s.replicator.Replicate(x.r.Context(), r.Job)
	switch {
	case errors.Is(err, replicator.ErrStopped):
		return x.json(http.StatusOK, object{{"ok", "stopped"}})
	case err != nil:
		return replicationError(err)
	case r.Options.Continuous:
		return x.json(http.StatusAccepted, object{{"ok", true}, {"_local_id", id}})
	}
	return x.json(http.StatusOK, answer)
}

func (x *exchange) cancelReplication(r *replicator.Request) error {
	id, found, err := x.s.replicator.Cancel(x.r.Context(), r)
	if err != nil {
		return replicationError(err)
	}
	if !found {
		return errMissing
	}
	return x.json(http.StatusOK, object{{"ok", true}, {"_local_id", id}})
}

// replicationError is the answer to a request whose job did not complete.
func replicationError(err error) error {
	var filter *replicator.FilterError
	var failure *replicator.Failure
	switch {
	case errors.As(err, &filter):
		return notFound(filter.Error())
	case errors.As(err, &failure):
		status := http.StatusInternalServerError
		switch failure.Name {
		case "unauthorized":
			status = http.StatusUnauthorized
		case "forbidden":
			status = http.StatusForbidden
		}
		return &apiError{status, failure.Name, failure.Reason}
	}
	return err
}

// withURLs makes URLs of this server of a source and a target that are names of
// databases, with the credentials of the request, as chttpd does.
func (x *exchange) withURLs(body []byte) (json.RawMessage, error) {
	o, err := parseObject(body)
	if err != nil {
		return nil, badRequest("Request body must be a JSON object")
	}
	for i, m := range o {
		if m.name != "source" && m.name != "target" {
			continue
		}
		raw := m.value.(json.RawMessage)
		if raw[0] == '{' {
			var end struct{ URL json.RawMessage }
			if err := json.Unmarshal(raw, &end); err != nil || end.URL == nil {
				continue
			}
			raw = end.URL
		}
		var name string
		if json.Unmarshal(raw, &name) != nil {
			name = string(raw)
		}
		if !strings.HasPrefix(name, "http://") && !strings.HasPrefix(name, "https://") {
			o[i].value = object{
				{"url", "http://" + x.address() + "/" + escapePart(name)},
				{"headers", object{
					{"authorization", x.r.Header.Get("Authorization")},
					{"cookie", x.r.Header.Get("Cookie")},
				}},
			}
		}
	}
	return marshal(o)
}

// address is where this server listens for the connection of the request.
func (x *exchange) address() string {
	if a, ok := x.r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return a.String()
	}
	return x.r.Host
}
