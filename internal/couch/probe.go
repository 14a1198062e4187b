package couch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strconv"
	"sync"
	"time"
)

// probeTimeout is how long a probe waits for a byte: some servers never answer
// what they do not know.
const probeTimeout = 10 * time.Second

// continueWait is how long a probe waits for 100 Continue: as long as curl does
// (fact 2).
const continueWait = time.Second

// Probe is what came of trying something.
type Probe struct {
	Works  bool
	Status int    // of the answer; 0 = there was none
	Why    string // why it does not work
}

// UploadProbe is what came of a small upload that was sent with
// "Expect: 100-continue".
type UploadProbe struct {
	Probe
	Continue bool // 100 Continue came within a second (fact 2)
}

// Capabilities are what a server can do, found by trying.
type Capabilities struct {
	Raw, Base64, Multipart, Form UploadProbe
	Bulk, BulkGet                Probe
	Scheduler                    Probe // _scheduler/jobs
	Config                       Probe // _node/_local/_config
}

// Probe tries what a server can do, in a database of the run's own, which gets
// a few small documents. On a server that does not answer Expect it takes a
// second. Only a server that cannot be talked to is an error.
func (s *Server) Probe(ctx context.Context, db string) (*Capabilities, error) {
	c := s.Client(TransportOptions{KeepAlive: false, ExpectContinueTimeout: continueWait, IdleTimeout: probeTimeout})
	defer c.Close()
	p := prober{client: c}
	id := "couchgauge-probe-" + strconv.FormatInt(time.Now().UnixNano(), 36) // a new one each time
	var found Capabilities
	p.upload(ctx, &found.Raw, http.MethodPut, AttachmentPath(db, id+"-raw", "a"), "application/octet-stream", "x")
	p.upload(ctx, &found.Base64, http.MethodPut, DocPath(db, id+"-base64"), "application/json",
		`{"_attachments":{"a":{"content_type":"application/octet-stream","data":"eA=="}}}`)
	p.upload(ctx, &found.Multipart, http.MethodPut, DocPath(db, id+"-multipart"), `multipart/related;boundary="p"`,
		part("Content-Type: application/json", `{"_id":"`+id+`-multipart","_attachments":{"a":{"follows":true,"content_type":"application/octet-stream","length":1}}}`)+
			part("Content-Disposition: attachment; filename=\"a\"\r\nContent-Type: application/octet-stream\r\nContent-Length: 1", "x")+"--p--")
	p.upload(ctx, &found.Form, http.MethodPost, DocPath(db, id+"-form"), `multipart/form-data;boundary="p"`,
		part(`Content-Disposition: form-data; name="_doc"`, "{}")+
			part("Content-Disposition: form-data; name=\"_attachments\"; filename=\"a\"\r\nContent-Type: application/octet-stream", "x")+"--p--\r\n")
	p.ask(ctx, &found.Bulk, http.MethodPost, EscapeSegment(db)+"/_bulk_docs", map[string]any{"docs": []any{map[string]string{"_id": id + "-bulk"}}})
	// PouchDB Server never answers an empty list.
	p.ask(ctx, &found.BulkGet, http.MethodPost, EscapeSegment(db)+"/_bulk_get", map[string]any{"docs": []any{map[string]string{"id": id + "-none"}}})
	p.ask(ctx, &found.Scheduler, http.MethodGet, "_scheduler/jobs?limit=1", nil)
	p.ask(ctx, &found.Config, http.MethodGet, "_node/_local/_config", nil)
	p.wg.Wait()
	if p.err != nil {
		return nil, fmt.Errorf("probe what %s can do: %w", s.URL(), p.err)
	}
	return &found, nil
}

// part is one part of a multipart body with the boundary "p".
func part(head, body string) string { return "--p\r\n" + head + "\r\n\r\n" + body + "\r\n" }

// prober runs probes at the same time, each on its own connection.
type prober struct {
	client *Client
	wg     sync.WaitGroup

	mu  sync.Mutex
	err error // of the first that got no answer at all
}

func (p *prober) upload(ctx context.Context, found *UploadProbe, method, path, contentType, body string) {
	p.wg.Go(func() {
		r := Request{
			Method: method, Path: path, ContentType: contentType,
			Header: http.Header{"Expect": {"100-continue"}, "Referer": {p.client.server.URL() + "/"}},
			Body:   io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body)),
			Trace: &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
				found.Continue = found.Continue || code == http.StatusContinue
				return nil
			}},
		}
		resp, err := p.client.Do(ctx, r)
		if err == nil {
			found.Status = resp.StatusCode
			err = Check(resp, "", "")
			resp.Body.Close()
		}
		p.judge(&found.Probe, err)
	})
}

func (p *prober) ask(ctx context.Context, found *Probe, method, path string, in any) {
	p.wg.Go(func() {
		resp, err := p.client.json(ctx, p.client.question(method, path, in, nil))
		if resp != nil {
			found.Status = resp.StatusCode
		}
		p.judge(found, err)
	})
}

// judge notes what came of a probe. A connection that was cut, or silence, is an
// answer: that is how some servers treat what they do not know.
func (p *prober) judge(found *Probe, err error) {
	var e *Error
	var reset *ResetError
	var silent *TimeoutError
	switch {
	case err == nil:
		found.Works = true
	case errors.As(err, &e):
		found.Why = e.summary()
	case errors.As(err, &reset):
		found.Why = reset.Error()
	case errors.As(err, &silent) && silent.Idle:
		found.Why = silent.Error()
	default:
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.err == nil {
			p.err = err
		}
	}
}
