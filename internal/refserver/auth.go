package refserver

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// user is who makes a request; Name is "" for nobody.
type user struct {
	name    string
	roles   []string
	handler string // how it was found out: "default" (Basic), "cookie"
	renew   bool   // the session is old enough for a new cookie
}

func (u *user) admin() bool { return slices.Contains(u.roles, "_admin") }

var adminRoles = []string{"_admin"}

// authenticator knows the admins, which are settings (section admins), and the
// sessions, which are signed cookies.
type authenticator struct {
	config *config
	secret []byte
	now    func() time.Time

	mu    sync.Mutex
	known map[[sha256.Size]byte]bool // name, password and hash that were found to fit
}

// sessionTimeout is chttpd_auth/timeout, which sessions end after (fact 13).
const sessionTimeout = 600 * time.Second

func newAuthenticator(c *config, admin, password string) (*authenticator, error) {
	a := &authenticator{config: c, secret: make([]byte, 32), now: time.Now, known: map[[sha256.Size]byte]bool{}}
	rand.Read(a.secret)
	if admin == "" {
		return a, nil
	}
	_, err := c.set("admins", admin, hashPassword(password), true)
	return a, err
}

// hashIterations is few, for the reference server keeps no secrets; the hash is
// in CouchDB's form.
const hashIterations = 10

func hashPassword(password string) string {
	salt := randomHex(16)
	return "-pbkdf2-" + derive(password, salt, hashIterations) + "," + salt + "," + strconv.Itoa(hashIterations)
}

func derive(password, salt string, iterations int) string {
	key, err := pbkdf2.Key(sha1.New, password, []byte(salt), iterations, sha1.Size)
	if err != nil {
		return "" // never equal to a hash
	}
	return hex.EncodeToString(key)
}

// fits says whether the password is the one of the hash.
func (a *authenticator) fits(name, password, hash string) bool {
	key := sha256.Sum256([]byte(name + "\x00" + password + "\x00" + hash))
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known[key] {
		return true
	}
	parts := strings.Split(strings.TrimPrefix(hash, "-pbkdf2-"), ",")
	if len(parts) != 3 {
		return false
	}
	n, err := strconv.Atoi(parts[2])
	if err != nil || subtle.ConstantTimeCompare([]byte(derive(password, parts[1], n)), []byte(parts[0])) != 1 {
		return false
	}
	a.known[key] = true
	return true
}

func (a *authenticator) party() bool { return len(a.config.section("admins")) == 0 }

var errPassword = unauthorized("Name or password is incorrect.")

// authenticate finds out who makes a request: by cookie, then by Basic
// credentials. Credentials that are wrong are refused for any path.
func (a *authenticator) authenticate(r *http.Request) (*user, error) {
	if u, err := a.byCookie(r); u != nil || err != nil {
		return u, err
	}
	header, basic := strings.CutPrefix(r.Header.Get("Authorization"), "Basic ")
	if basic {
		raw, err := base64.StdEncoding.DecodeString(header)
		if err != nil {
			return nil, badRequest("Authorization header has invalid base64 value")
		}
		if name, password, ok := strings.Cut(string(raw), ":"); ok && string(raw) != "_:_" {
			hash, ok := a.config.get("admins", name)
			if !ok || !a.fits(name, password, hash) {
				return nil, errPassword
			}
			return &user{name: name, roles: adminRoles, handler: "default"}, nil
		}
	}
	if a.party() {
		return &user{roles: adminRoles}, nil
	}
	return &user{}, nil
}

const sessionCookie = "AuthSession"

func (a *authenticator) byCookie(r *http.Request) (*user, error) {
	c, err := r.Cookie(sessionCookie)
	if err != nil || c.Value == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(c.Value)
	parts := strings.SplitN(string(raw), ":", 3)
	if err != nil || len(parts) != 3 {
		return nil, badRequest("Malformed AuthSession cookie. Please clear your cookies.")
	}
	name, stamp := parts[0], parts[1]
	seconds, err := strconv.ParseInt(stamp, 16, 64)
	if err != nil || !hmac.Equal([]byte(parts[2]), a.sign(name, stamp)) {
		return nil, nil
	}
	left := time.Unix(seconds, 0).Add(sessionTimeout).Sub(a.now())
	if _, ok := a.config.get("admins", name); !ok || left <= 0 {
		return nil, nil
	}
	return &user{name: name, roles: adminRoles, handler: "cookie", renew: left < sessionTimeout*9/10}, nil
}

func (a *authenticator) sign(name, stamp string) []byte {
	m := hmac.New(sha256.New, a.secret)
	m.Write([]byte(name + ":" + stamp))
	return m.Sum(nil)
}

// cookie is the Set-Cookie value of a session; an empty name ends it.
func (a *authenticator) cookie(name string) string {
	value := ""
	if name != "" {
		stamp := strings.ToUpper(strconv.FormatInt(a.now().Unix(), 16))
		value = base64.RawURLEncoding.EncodeToString(append([]byte(name+":"+stamp+":"), a.sign(name, stamp)...))
	}
	age := int(sessionTimeout / time.Second)
	expires := a.now().Add(sessionTimeout).UTC().Format("Mon, 02-Jan-2006 15:04:05 GMT")
	return sessionCookie + "=" + value + "; Version=1; Expires=" + expires + "; Max-Age=" + strconv.Itoa(age) + "; Path=/; HttpOnly"
}

// session answers /_session.
func (x *exchange) session() error {
	switch x.method {
	case http.MethodGet:
		return x.sessionInfo()
	case http.MethodPost:
		return x.login()
	case http.MethodDelete:
		return x.sessionEnd("", "next", http.StatusOK, okTrue)
	}
	return x.notAllowed("GET,HEAD,POST,DELETE")
}

func (x *exchange) sessionInfo() error {
	if x.user.name == "" && x.query("basic") == "true" {
		return unauthorized("Please login.")
	}
	var name any
	if x.user.name != "" {
		name = x.user.name
	}
	roles := x.user.roles
	if roles == nil {
		roles = []string{}
	}
	info := object{{"authentication_handlers", []string{"cookie", "default"}}}
	if x.user.handler != "" {
		info = append(info, member{"authenticated", x.user.handler})
	}
	return x.json(http.StatusOK, object{
		{"ok", true},
		{"userCtx", object{{"name", name}, {"roles", roles}}},
		{"info", info},
	})
}

func (x *exchange) login() error {
	form, err := x.credentials()
	if err != nil {
		return err
	}
	name := form.Get("name")
	if u := form.Get("username"); u != "" {
		name = u
	}
	if name == "" {
		return badRequest("request body must contain a username")
	}
	hash, ok := x.s.config.get("admins", name)
	if !ok || !x.s.auth.fits(name, form.Get("password"), hash) {
		return x.sessionEnd("", "fail", http.StatusUnauthorized, errPassword.object())
	}
	return x.sessionEnd(name, "next", http.StatusOK, object{{"ok", true}, {"name", name}, {"roles", adminRoles}})
}

// sessionEnd gives the client a session of that name, or ends the one it has
// when the name is empty, and answers with v; or with a redirect, when the
// query parameter names a path to go on with.
func (x *exchange) sessionEnd(name, param string, status int, v any) error {
	if x.has(param) {
		path := x.query(param)
		if !strings.HasPrefix(path, "/") {
			return badRequest("path must begin with a /.")
		}
		status = http.StatusFound
		x.setHeader("Location", x.location()+path)
	}
	x.setHeader("Set-Cookie", x.s.auth.cookie(name))
	return x.json(status, v)
}

// credentials reads the form of a login. In JSON CouchDB stumbles over whatever
// is not an object of strings, and so do we.
func (x *exchange) credentials() (url.Values, error) {
	switch kind := x.r.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "application/x-www-form-urlencoded"):
		if err := x.r.ParseForm(); err != nil {
			return nil, badRequest("invalid form")
		}
		return x.r.PostForm, nil
	case !strings.HasPrefix(kind, "application/json"):
		return nil, badContentType("Content-Type must be 'application/x-www-form-urlencoded' or 'application/json'")
	}
	var body any
	if err := x.bodyJSON(&body); err != nil {
		return nil, err
	}
	members, ok := body.(map[string]any)
	if !ok {
		return nil, &apiError{http.StatusInternalServerError, "badmatch", ""}
	}
	form := url.Values{}
	for name, v := range members {
		text, ok := v.(string)
		if !ok {
			return nil, &apiError{http.StatusInternalServerError, "unknown_error", "badarg"}
		}
		form.Set(name, text)
	}
	return form, nil
}

// securityObject is what _security holds, as far as it decides anything.
type securityObject struct {
	Admins, Members struct{ Names, Roles []string }
}

// mayRead holds a request to a database's security object: by default only
// server admins are members.
func (x *exchange) mayRead(t *readTx) error {
	if x.user.admin() {
		return nil
	}
	raw := t.security()
	if raw == nil {
		return x.refuse()
	}
	var sec securityObject
	if err := json.Unmarshal(raw, &sec); err != nil {
		return err
	}
	public := len(sec.Members.Names) == 0 && len(sec.Members.Roles) == 0
	if public || x.listed(sec.Members.Names, sec.Members.Roles) || x.listed(sec.Admins.Names, sec.Admins.Roles) {
		return nil
	}
	return x.refuse()
}

func (x *exchange) listed(names, roles []string) bool {
	if x.user.name != "" && slices.Contains(names, x.user.name) {
		return true
	}
	return slices.ContainsFunc(x.user.roles, func(r string) bool { return slices.Contains(roles, r) })
}

func (x *exchange) refuse() error {
	if x.user.name == "" {
		return unauthorized("You are not authorized to access this db.")
	}
	return forbidden("You are not allowed to access this db.")
}
