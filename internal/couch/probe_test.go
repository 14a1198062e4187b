package couch

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"couchgauge/internal/servertest"
)

func TestProbeServers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, ts servertest.Server) {
		s := open(t, ts.URL, Options{IdleTimeout: time.Minute})
		got, err := s.Probe(t.Context(), database(t, s))
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range map[string]Probe{
			"raw": got.Raw.Probe, "base64": got.Base64.Probe, "multipart": got.Multipart.Probe, "bulk": got.Bulk, "_bulk_get": got.BulkGet,
		} {
			if !p.Works {
				t.Errorf("%s: %d %s", name, p.Status, p.Why)
			}
		}
		if got.Scheduler.Works != ts.Couch && !ts.Reference {
			t.Errorf("_scheduler: %+v", got.Scheduler)
		}
		if got.Config.Works == ts.Pouch {
			t.Errorf("_config: %+v", got.Config)
		}
		if ts.Couch { // fact 2
			if !got.Form.Works || !got.Raw.Continue || !got.Base64.Continue || got.Multipart.Continue || got.Form.Continue {
				t.Errorf("got %+v", got)
			}
		}
		if ts.Reference && !(got.Form.Works && got.Raw.Continue && got.Base64.Continue && got.Multipart.Continue && got.Form.Continue) {
			t.Errorf("got %+v", got)
		}
	})
}

// What a server does not know is found out, however it says so.
func TestProbeOfALesserServer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Content-Type") == "application/octet-stream":
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(201)
		case r.Method == http.MethodPost:
			panic(http.ErrAbortHandler) // cuts the connection
		default:
			w.WriteHeader(415) // without reading, and so without 100 Continue
		}
	}))
	defer srv.Close()
	got, err := open(t, srv.URL, Options{}).Probe(t.Context(), "db")
	if err != nil {
		t.Fatal(err)
	}
	if !got.Raw.Works || !got.Raw.Continue || got.Raw.Status != 201 {
		t.Errorf("raw: %+v", got.Raw)
	}
	if got.Multipart.Works || got.Multipart.Continue || got.Multipart.Status != 415 || got.Multipart.Why == "" {
		t.Errorf("multipart: %+v", got.Multipart)
	}
	for name, p := range map[string]Probe{"form": got.Form.Probe, "bulk": got.Bulk, "_bulk_get": got.BulkGet} {
		if p.Works || p.Status != 0 || p.Why == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestProbeWithoutAServer(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	if _, err := open(t, srv.URL, Options{}).Probe(t.Context(), "db"); err == nil {
		t.Error("no error")
	}
}
