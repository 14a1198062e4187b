package servertest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"
)

// Each server that the tests get takes an attachment and gives it back.
func TestEach(t *testing.T) {
	content := make([]byte, 100_000)
	rand.NewChaCha8([32]byte{1}).Read(content)
	Each(t, func(t *testing.T, s Server) {
		kinds := 0
		for _, kind := range []bool{s.Reference, s.Couch, s.Pouch} {
			if kind {
				kinds++
			}
		}
		if kinds != 1 {
			t.Errorf("the server is of %d kinds, want 1: %+v", kinds, s)
		}
		attachment := s.database(t) + "/document/a.bin"
		if status, answer := send(t, "PUT", attachment, "application/octet-stream", bytes.NewReader(content)); status != http.StatusCreated {
			t.Fatalf("put: status %d: %s", status, answer)
		}
		status, answer := send(t, "GET", attachment, "", nil)
		if status != http.StatusOK || !bytes.Equal(answer, content) {
			t.Fatalf("get: status %d, %d bytes, want 200 and the %d bytes that were put", status, len(answer), len(content))
		}
	})
}

func TestDatabaseIsDeleted(t *testing.T) {
	Each(t, func(t *testing.T, s Server) {
		var database string
		t.Run("use", func(t *testing.T) { database = s.database(t) })
		if status, answer := send(t, "GET", database, "", nil); status != http.StatusNotFound {
			t.Errorf("status %d after the test that used it, want 404: %s", status, answer)
		}
	})
}

func TestPouchDBIsWhatItSays(t *testing.T) {
	s := Pouch(t)
	_, answer := send(t, "GET", s.URL, "", nil)
	var welcome struct {
		Welcome  string   `json:"express-pouchdb"`
		Version  string   `json:"version"`
		Adapters []string `json:"pouchdb-adapters"`
	}
	if err := json.Unmarshal(answer, &welcome); err != nil {
		t.Fatalf("the welcome: %v: %s", err, answer)
	}
	if welcome.Welcome == "" || welcome.Version != "4.2.0" || len(welcome.Adapters) == 0 || welcome.Adapters[0] != "memory" {
		t.Errorf("the welcome is %s, want express-pouchdb 4.2.0 in memory", answer)
	}
}

// PouchDB Server must not outlive the test binary, however that ends: it ends
// with its input. One that ended under a test is replaced for the next.
func TestPouchDBEndsAndStartsAgain(t *testing.T) {
	Pouch(t)
	ended := pouch.ended
	pouch.input.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("PouchDB Server still runs a minute after its input was closed")
	}
	if status, answer := send(t, "GET", Pouch(t).URL, "", nil); status != http.StatusOK {
		t.Errorf("status %d from the new one, want 200: %s", status, answer)
	}
}
