package refserver

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// exchange is one request and its answer.
type exchange struct {
	s      *Server
	w      http.ResponseWriter
	r      *http.Request
	method string   // HEAD counts as GET: net/http leaves the body out
	parts  []string // of the path, unescaped, empty ones left out as CouchDB does
	params url.Values
	user   *user
	limits *limits

	bodyTime time.Duration // reading a JSON body took (fact 7)
	started  bool          // the status line is out
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendJSONString(b, m.name), ':')
		v, err := marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(b, v...)
	}
	return append(b, '}'), nil
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

var okTrue = object{{"ok", true}}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{s: s, w: w, r: r, method: r.Method, limits: s.config.limits.Load()}
	if x.method == http.MethodHead {
		x.method = http.MethodGet
	}
	if o := r.Header.Get("X-HTTP-Method-Override"); o != "" && r.Method == http.MethodPost {
		x.method = o
	}
	h := w.Header()
	h["Server"] = []string{"CouchGauge/" + Version + " (reference; " + runtime.Version() + ")"}
	h["X-Couch-Request-ID"] = []string{requestID(r)}
	if err := x.serve(); err != nil {
		x.fail(err)
	}
}

// requestID is the client's, when it is one CouchDB would take, or a new one.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Couch-Request-ID")
	legal := func(c rune) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_'
	}
	if id == "" || len(id) > 36 || strings.ContainsFunc(id, func(c rune) bool { return !legal(c) }) {
		return randomHex(5)
	}
	return id
}

func (x *exchange) serve() error {
	var err error
	if x.parts, err = pathParts(x.r.URL.EscapedPath()); err != nil {
		return err
	}
	x.params = x.r.URL.Query()
	login := x.r.Method == http.MethodPost && len(x.parts) == 1 && x.parts[0] == "_session"
	if x.user, err = x.s.auth.authenticate(x.r); err != nil && !login {
		return err
	} else if err != nil {
		x.user = &user{}
	}
	if x.user.renew {
		x.setHeader("Set-Cookie", x.s.auth.cookie(x.user.name))
	}
	return x.route()
}

// pathParts splits a path as CouchDB does: empty parts do not count, and a plus
// is a space (a plus itself travels as %2B, fact 10).
func pathParts(path string) ([]string, error) {
	var out []string
	for part := range strings.SplitSeq(path, "/") {
		if part == "" {
			continue
		}
		text, err := url.QueryUnescape(part)
		if err != nil {
			return nil, badRequest("invalid_url_encoding")
		}
		out = append(out, text)
	}
	return out, nil
}

func (x *exchange) query(name string) string { return x.params.Get(name) }

func (x *exchange) has(name string) bool { return x.params.Has(name) }

// setHeader sets a header with its name as CouchDB writes it.
func (x *exchange) setHeader(name, value string) { x.w.Header()[name] = []string{value} }

func (x *exchange) common() {
	x.setHeader("X-CouchDB-Body-Time", strconv.FormatInt(x.bodyTime.Milliseconds(), 10))
}

// json answers with v.
func (x *exchange) json(status int, v any) error {
	b, err := marshal(v)
	if err != nil {
		return err
	}
	return x.rawJSON(status, append(b, '\n'))
}

// rawJSON answers with text that is JSON already.
func (x *exchange) rawJSON(status int, text []byte) error {
	x.jsonHeaders()
	x.setHeader("Content-Length", strconv.Itoa(len(text)))
	x.started = true
	x.w.WriteHeader(status)
	if x.r.Method != http.MethodHead {
		x.w.Write(text) // a client that has gone does not matter
	}
	return nil
}

func (x *exchange) jsonHeaders() {
	x.common()
	h := x.w.Header()
	if h["Cache-Control"] == nil {
		x.setHeader("Cache-Control", "must-revalidate")
	}
	if h["Content-Type"] == nil {
		x.setHeader("Content-Type", "application/json")
	}
}

// fail answers with an error. When the answer has begun, all that can be done is
// to break it off.
func (x *exchange) fail(err error) {
	if x.started || x.r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	var api *apiError
	if !errors.As(err, &api) {
		api = &apiError{http.StatusInternalServerError, "unknown_error", err.Error()}
	}
	if api.status == http.StatusRequestEntityTooLarge {
		x.setHeader("Connection", "close")
	}
	if auth := x.r.Header.Get("X-CouchDB-WWW-Authenticate"); api.status == http.StatusUnauthorized && auth != "" {
		x.setHeader("WWW-Authenticate", auth)
	}
	for name := range x.w.Header() { // those of the answer that was begun
		if !slices.Contains(errorHeaders, name) {
			delete(x.w.Header(), name)
		}
	}
	x.json(api.status, api.object())
}

// errorHeaders are the headers that an error keeps of those set before it.
var errorHeaders = []string{"Server", "X-Couch-Request-ID", "Set-Cookie", "Allow", "Connection", "WWW-Authenticate"}

// notAllowed is the answer to a method that a path does not take.
func (x *exchange) notAllowed(methods string) error {
	x.setHeader("Allow", methods)
	return &apiError{http.StatusMethodNotAllowed, "method_not_allowed", "Only " + methods + " allowed"}
}

// wantJSON refuses a body that is not declared to be JSON.
func (x *exchange) wantJSON() error { return x.wantType("application/json") }

func (x *exchange) wantType(kind string) error {
	got, _, _ := strings.Cut(x.r.Header.Get("Content-Type"), ";")
	if got != kind {
		return badContentType("Content-Type must be " + kind)
	}
	return nil
}

// bodyReader is the body, decompressed, of a request that is bounded by
// max_http_request_size; a longer one is refused at once when its length is
// known (fact 11, case U10).
func (x *exchange) bodyReader() (io.Reader, error) {
	if x.r.ContentLength > x.limits.requestSize {
		return nil, errRequestTooLarge
	}
	body := io.Reader(&limitedReader{x.r.Body, x.limits.requestSize})
	switch enc := x.r.Header.Get("Content-Encoding"); enc {
	case "", "identity":
		return body, nil
	case "gzip":
		gz, err := gzip.NewReader(body)
		if err != nil {
			return nil, errGzip
		}
		return gzipBody{gz}, nil
	default:
		return nil, badContentType(enc + " is not a supported content encoding.")
	}
}

var errGzip = badRequest("Request body is not properly gzipped.")

type gzipBody struct{ *gzip.Reader }

func (g gzipBody) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if err != nil && err != io.EOF && !errors.As(err, new(*apiError)) {
		err = errGzip
	}
	return n, err
}

// limitedReader is an error where io.LimitedReader is an end.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errRequestTooLarge
	}
	return n, err
}

// body is the whole body: for the requests whose JSON is small by nature.
func (x *exchange) body() ([]byte, error) {
	begin := time.Now()
	src, err := x.bodyReader()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(src)
	x.bodyTime = time.Since(begin)
	return b, err
}

// bodyJSON reads a body into v, refusing what does not fit.
func (x *exchange) bodyJSON(v any) error {
	b, err := x.body()
	if err != nil {
		return err
	}
	if json.Unmarshal(b, v) != nil {
		return errBadJSON
	}
	return nil
}

// readJSON gives read the body as a stream of JSON, all of which must be used.
func (x *exchange) readJSON(read func(*jsonReader) error) error {
	begin := time.Now()
	src, err := x.bodyReader()
	if err != nil {
		return err
	}
	j := newJSONReader(src)
	defer j.release()
	if err = read(j); err == nil {
		err = j.finish()
	}
	x.bodyTime = time.Since(begin)
	if errors.Is(err, errSyntax) {
		return errBadJSON
	}
	return err
}

// accepts says whether the client takes a content type, by its Accept header;
// one that is absent takes everything.
func (x *exchange) accepts(kind string) bool {
	header := strings.Join(x.r.Header.Values("Accept"), ",")
	if header == "" {
		return true
	}
	group, _, _ := strings.Cut(kind, "/")
	for item := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(item, ";")
		name = strings.TrimSpace(name)
		if name != kind && name != group+"/*" && name != "*/*" {
			continue
		}
		q, found := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
		if v, err := strconv.ParseFloat(q, 64); !found || err != nil || v > 0 {
			return true
		}
	}
	return false
}

// acceptsGzip says whether an attachment may be sent as it is stored, gzipped.
func (x *exchange) acceptsGzip() bool {
	for item := range strings.SplitSeq(x.r.Header.Get("Accept-Encoding"), ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(item), ";")
		name = strings.TrimSpace(name)
		if name != "gzip" && name != "*" {
			continue
		}
		q, found := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
		if v, err := strconv.ParseFloat(q, 64); !found || err != nil || v > 0 {
			return true
		}
	}
	return false
}

// notModified answers 304 when the client has what etag names.
func (x *exchange) notModified(etag string) bool {
	tags := strings.FieldsFunc(x.r.Header.Get("If-None-Match"), func(c rune) bool { return c == ',' || c == ' ' })
	if !slices.ContainsFunc(tags, func(t string) bool { return strings.TrimPrefix(t, "W/") == etag }) {
		return false
	}
	x.common()
	x.setHeader("ETag", etag)
	x.started = true
	x.w.WriteHeader(http.StatusNotModified)
	return true
}

// location is the absolute URL of a path made of the parts.
func (x *exchange) location(parts ...string) string {
	b := strings.Builder{}
	b.WriteString("http://" + x.r.Host)
	for _, p := range parts {
		b.WriteString("/" + escapePart(p))
	}
	return b.String()
}

// escapePart escapes as CouchDB's couch_util:url_encode: letters, digits and
// "-_.~" stay.
func escapePart(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
