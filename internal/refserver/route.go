package refserver

import (
	"net/http"
	"strings"
)

// route finds the handler of a path.
func (x *exchange) route() error {
	if len(x.parts) == 0 {
		return x.welcome()
	}
	switch x.parts[0] {
	case "_all_dbs":
		return x.allDBs()
	case "_dbs_info":
		return x.dbsInfo()
	case "_up":
		return x.up()
	case "_uuids":
		return x.uuids()
	case "_session":
		return x.session()
	case "_active_tasks":
		return x.activeTasks()
	case "_membership":
		return x.membership()
	case "_node":
		return x.node()
	case "_replicate":
		return x.replicate()
	case "_scheduler":
		return x.scheduler()
	}
	return x.database()
}

// database serves everything under /{db}.
func (x *exchange) database() error {
	name := x.parts[0]
	if len(x.parts) == 1 {
		switch x.method {
		case http.MethodPut:
			return x.createDB(name)
		case http.MethodDelete:
			return x.deleteDB(name)
		}
	}
	if strings.HasPrefix(name, "_") && checkDatabaseName(name) != nil {
		if err := x.needAdmin(); err != nil {
			return err
		}
		return errNoDatabase
	}
	db, err := x.s.store.database(name)
	if err != nil {
		return err
	}
	if err := db.view(x.mayRead); err != nil {
		return err
	}
	if isReplicatorDB(name) && !x.user.admin() {
		return x.refuse() // its documents hold credentials
	}
	if len(x.parts) == 1 {
		switch x.method {
		case http.MethodGet:
			return x.dbInfo(db)
		case http.MethodPost:
			return x.postDoc(db)
		}
		return x.notAllowed("DELETE,GET,HEAD,POST")
	}
	if handler := dbHandlers[x.parts[1]]; handler != nil && len(x.parts) == 2 {
		return handler(x, db)
	}
	return x.docPath(db)
}

// dbHandlers serve /{db}/{name}.
var dbHandlers = map[string]func(*exchange, *database) error{
	"_all_docs":           (*exchange).allDocs,
	"_bulk_docs":          (*exchange).bulkDocs,
	"_bulk_get":           (*exchange).bulkGet,
	"_changes":            (*exchange).changes,
	"_compact":            (*exchange).compact,
	"_design_docs":        (*exchange).designDocs,
	"_ensure_full_commit": (*exchange).ensureFullCommit,
	"_find":               (*exchange).find,
	"_index":              (*exchange).indexes,
	"_local_docs":         (*exchange).localDocs,
	"_missing_revs":       (*exchange).missingRevs,
	"_revs_diff":          (*exchange).revsDiff,
	"_revs_limit":         (*exchange).revsLimit,
	"_security":           (*exchange).security,
	"_view_cleanup":       (*exchange).compact, // nothing to clean up, and the same answers
}

// docPath serves /{db}/{doc} and /{db}/{doc}/{attachment}. The ids of design and
// local documents are two parts of the path.
func (x *exchange) docPath(db *database) error {
	id, rest := x.parts[1], x.parts[2:]
	if id == "_design" || id == "_local" {
		if len(rest) == 0 {
			if id == "_local" {
				return badRequest("Invalid _local document id.")
			}
			return x.doc(db, id)
		}
		id, rest = id+"/"+rest[0], rest[1:]
	}
	if x.method == http.MethodGet && strings.HasPrefix(x.parts[1], "_design/") {
		x.common()
		x.setHeader("Location", x.location(db.name)+"/"+strings.Join(x.parts[1:], "/"))
		x.w.WriteHeader(http.StatusMovedPermanently)
		return nil
	}
	if len(rest) == 0 {
		return x.doc(db, id)
	}
	if isLocal(id) {
		return badRequest("_local documents do not accept attachments.")
	}
	return x.attachment(db, id, strings.Join(rest, "/"))
}
