package refserver

import (
	"encoding/json"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// nodeName is what a CouchDB that was given no name calls itself.
const nodeName = "nonode@nohost"

var errNotServerAdmin = unauthorized("You are not a server admin.")

// needAdmin refuses everybody but server admins.
func (x *exchange) needAdmin() error {
	if x.user.admin() {
		return nil
	}
	return errNotServerAdmin
}

func (x *exchange) welcome() error {
	if x.method != http.MethodGet {
		return x.notAllowed("GET,HEAD")
	}
	uuid, _ := x.s.config.get("couchdb", "uuid")
	vendor := object{}
	for _, key := range slices.Sorted(maps.Keys(x.s.config.section("vendor"))) {
		v, _ := x.s.config.get("vendor", key)
		vendor = append(vendor, member{key, v})
	}
	if x.s.opts.Discard {
		vendor = append(vendor, member{"mode", "discard"})
	}
	if x.s.opts.NoFsync {
		vendor = append(vendor, member{"fsync", "off"})
	}
	return x.json(http.StatusOK, object{
		{"couchdb", "Welcome"},
		{"version", Version},
		{"git_sha", "reference"},
		{"uuid", uuid},
		{"features", []string{"reference"}},
		{"vendor", vendor},
	})
}

// allDBs lists the databases; startkey, endkey, limit, skip, descending and
// inclusive_end cut the list.
func (x *exchange) allDBs() error {
	if x.method != http.MethodGet {
		return x.notAllowed("GET,HEAD")
	}
	if err := x.needAdmin(); err != nil {
		return err
	}
	p, err := x.rowParams()
	if err != nil {
		return err
	}
	names, err := x.s.store.names()
	if err != nil {
		return err
	}
	return x.json(http.StatusOK, p.cut(names))
}

func (x *exchange) up() error {
	if x.method != http.MethodGet {
		return x.notAllowed("GET,HEAD")
	}
	return x.json(http.StatusOK, object{{"status", "ok"}, {"seeds", object{}}})
}

const maxUUIDs = 1000 // uuids/max_count

func (x *exchange) uuids() error {
	if x.method != http.MethodGet {
		return x.notAllowed("GET")
	}
	n := 1
	if x.has("count") {
		var err error
		if n, err = strconv.Atoi(x.query("count")); err != nil || n < 0 {
			return badRequest("Invalid count value")
		}
	}
	if n > maxUUIDs {
		return badRequest("count parameter too large")
	}
	list := make([]string, n)
	for i := range list {
		list[i] = randomHex(16)
	}
	x.setHeader("Cache-Control", "no-cache")
	x.setHeader("Expires", "Mon, 01 Jan 1990 00:00:00 GMT")
	x.setHeader("Pragma", "no-cache")
	return x.json(http.StatusOK, object{{"uuids", list}})
}

func (x *exchange) activeTasks() error {
	if x.method != http.MethodGet {
		return x.notAllowed("GET,HEAD")
	}
	if err := x.needAdmin(); err != nil {
		return err
	}
	return x.json(http.StatusOK, x.s.replicator.Tasks())
}

func (x *exchange) membership() error {
	if x.method != http.MethodGet {
		return x.notAllowed("GET,HEAD")
	}
	if err := x.needAdmin(); err != nil {
		return err
	}
	return x.json(http.StatusOK, object{{"all_nodes", []string{nodeName}}, {"cluster_nodes", []string{nodeName}}})
}

// node serves /_node/{node}/…
func (x *exchange) node() error {
	if err := x.needAdmin(); err != nil {
		return err
	}
	if len(x.parts) == 1 {
		return badRequest("Incomplete path to _node request")
	}
	if n := x.parts[1]; n != "_local" && n != nodeName {
		return notFound("no such node: " + n)
	}
	if len(x.parts) == 2 {
		return x.json(http.StatusOK, object{{"name", nodeName}})
	}
	switch {
	case x.parts[2] == "_config":
		return x.nodeConfig(x.parts[3:])
	case x.parts[2] == "_versions" && x.method == http.MethodGet:
		return x.json(http.StatusOK, object{
			{"go", object{{"version", runtime.Version()}}},
			{"javascript_engine", object{{"name", "none"}}},
		})
	}
	return errMissing
}

var errUnknownSetting = notFound("unknown_config_value")

// nodeConfig reads and writes the settings.
func (x *exchange) nodeConfig(path []string) error {
	c := x.s.config
	switch len(path) {
	case 0:
		if x.method != http.MethodGet {
			return x.notAllowed("GET")
		}
		return x.json(http.StatusOK, c.all())
	case 1:
		if x.method != http.MethodGet {
			return x.notAllowed("GET")
		}
		return x.json(http.StatusOK, c.section(path[0]))
	case 2:
	default:
		return errMissing
	}
	section, key := path[0], path[1]
	persist := x.r.Header.Get("X-Couch-Persist") != "false"
	switch x.method {
	case http.MethodGet:
		v, ok := c.get(section, key)
		if !ok {
			return errUnknownSetting
		}
		return x.json(http.StatusOK, v)
	case http.MethodPut:
		b, err := x.body()
		if err != nil {
			return err
		}
		var v any
		if json.Unmarshal(b, &v) != nil {
			return errBadJSON
		}
		value, ok := v.(string)
		if !ok {
			return badRequest("a JSON string expected")
		}
		value = strings.TrimSpace(value)
		if section == "admins" {
			value = hashPassword(value)
		}
		old, err := c.set(section, key, value, persist)
		if err != nil {
			return err
		}
		return x.json(http.StatusOK, old)
	case http.MethodDelete:
		old, ok, err := c.remove(section, key, persist)
		if err != nil {
			return err
		}
		if !ok {
			return errUnknownSetting
		}
		return x.json(http.StatusOK, old)
	}
	return x.notAllowed("GET,PUT,DELETE")
}
