package servertest

import (
	"crypto/rand"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// database creates an empty database and returns its URL, with the server's
// credentials and without a slash at the end. It is deleted when the test
// ends.
func (s Server) database(t testing.TB) string {
	t.Helper()
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatalf("the URL of %s: %v", s.Name, err)
	}
	database := base.JoinPath("couchgauge-test-" + strings.ToLower(rand.Text())).String()
	if status, body := send(t, "PUT", database, "", nil); status != http.StatusCreated && status != http.StatusAccepted {
		t.Fatalf("create a database on %s: status %d: %s", s.Name, status, body)
	}
	t.Cleanup(func() {
		if status, body := send(t, "DELETE", database, "", nil); status != http.StatusOK && status != http.StatusAccepted {
			t.Errorf("delete a database on %s: status %d: %s", s.Name, status, body)
		}
	})
	return database
}

// send sends one request without any of couchgauge's own code and returns the
// status and body of the answer. Credentials come from the URL. No content
// type is sent if it is "".
func send(t testing.TB, method, url, contentType string, body io.Reader) (status int, answer []byte) {
	t.Helper()
	request, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("%s: %v", method, err) // its URL comes without the password
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: read the answer: %v", method, err)
	}
	return response.StatusCode, answer
}
