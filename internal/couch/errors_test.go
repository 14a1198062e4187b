package couch

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// answer is a response as net/http hands it over.
func answer(status int, contentType, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body))}
}

const nginx413 = `<html>
<head><title>413 Request Entity Too Large</title></head>
<body>
<center><h1>413 Request Entity Too Large</h1></center>
<hr><center>nginx/1.22.1</center>
</body>
</html>`

func TestCheck(t *testing.T) {
	const j = "application/json"
	for _, test := range []struct {
		name, contentType, body string
		status                  int
		code, says              string
		html                    bool
	}{
		{"request too large", j, `{"error":"too_large","reason":"the request entity is too large"}`, 413, "too_large", "max_http_request_size", false},
		{"attachment too large", j, `{"error":"attachment_too_large","reason":"a.bin"}`, 413, "attachment_too_large", "max_attachment_size", false},
		{"document too large", j, `{"error":"document_too_large","reason":"d"}`, 413, "document_too_large", "max_document_size", false},
		{"a proxy's page", "text/html", nginx413, 413, "", "client_max_body_size", true},
		{"a proxy's 413 without a body", "", "", 413, "", "client_max_body_size", false},
		{"file exists", j, `{"error":"file_exists","reason":"The database could not be created, the file already exists."}`, 412, "file_exists", "there already", false},
		{"missing stub", j, `{"error":"missing_stub","reason":"id:d, name:a"}`, 412, "missing_stub", "send it whole", false},
		{"node down", j, `{"error":"nodedown","reason":"progress not possible"}`, 412, "nodedown", "too few nodes", false},
		{"JSON as text (U12)", "text/plain", `{"error":"conflict","reason":"Document update conflict."}`, 409, "conflict", "409 conflict (Document update conflict.)", false},
		{"gave up (U3)", j, `{"error":"timeout","reason":"The request could not be processed in a reasonable amount of time."}`, 500, "timeout", "60 s", false},
		{"a reason that is no text", j, `{"error":"x","reason":{"a":1}}`, 500, "x", `{"a":1}`, false},
		{"a page of a gateway", "text/html", "<html><body>Bad <b>Gateway</b>&amp;co</body></html>", 502, "", "Bad Gateway &co", true},
		{"a URL with a password", j, `{"error":"x","reason":"http://u:hunter2@h/ failed"}`, 500, "x", "http://h/ failed", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := Check(answer(test.status, test.contentType, test.body), "put attachment", `"a.bin" to db`)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if e.Status != test.status || e.Code != test.code || e.HTML != test.html {
				t.Errorf("got %+v", e)
			}
			text := err.Error()
			if !strings.HasPrefix(text, `put attachment "a.bin" to db: `) || !strings.Contains(text, test.says) || strings.Contains(text, "hunter2") || strings.ContainsAny(text, "<>\n") {
				t.Errorf("says %q, want %q in it", text, test.says)
			}
		})
	}
	if err := Check(answer(202, j, ""), "", ""); err != nil {
		t.Errorf("202: got %v", err)
	}
}

func TestCheckKeepsTextsShort(t *testing.T) {
	long := strings.Repeat("ö", 20_000)
	for name, body := range map[string]string{"text": long, "JSON": `{"error":"x","reason":"` + long + `"}`} {
		err := Check(answer(500, "text/plain", body), "get", "/")
		if n := len(err.Error()); n > 250 {
			t.Errorf("%s: %d bytes: %q", name, n, err)
		}
	}
}

// Whatever a server answers, the message is one short line without a password.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"", nginx413, `{"error":"a","reason":"b"}`, `{"error":["a"]}`, "<", "<style>", "\xff\n", `{"reason":"http://u:p@h"}`} {
		f.Add(413, s)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 300 || status > 599 {
			return
		}
		text := Check(answer(status, "", body), "put", "db").Error()
		if strings.Contains(text, "\n") || len(text) > 1000 || !utf8.ValidString(text) || Redact(text) != text {
			t.Errorf("says %q", text)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 21, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name, value, date string
		want              time.Duration
	}{
		{"none", "", "", 0},
		{"seconds", "120", "", 2 * time.Minute},
		{"zero", "0", "", 0},
		{"negative", "-5", "", 0},
		{"date", "Mon, 30 Nov 2026 21:00:30 GMT", "", 30 * time.Second},
		{"date by the server's clock", "Mon, 30 Nov 2026 23:00:30 GMT", "Mon, 30 Nov 2026 23:00:00 GMT", 30 * time.Second},
		{"date gone by", "Mon, 30 Nov 2026 20:00:00 GMT", "", 0},
		{"nonsense", "soon", "", 0},
		{"huge", "99999999999", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := http.Header{}
			h.Set("Retry-After", test.value)
			h.Set("Date", test.date)
			if got := retryAfter(h, now); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1 kB", 12_000_000: "12 MB", 999_499: "999 kB", 999_600: "1 MB", 67_108_864: "67.1 MB", 1 << 40: "1.1 TB",
	} {
		if got := bytesText(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
