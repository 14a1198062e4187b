package couch

import "testing"

func TestInterimAnnouncesClose(t *testing.T) {
	for _, test := range []struct {
		name  string
		reads []string
		want  bool
	}{
		{"plain", []string{"HTTP/1.1 100 Continue\r\n\r\n"}, false},
		{"close", []string{"HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n"}, true},
		{"other case, list", []string{"HTTP/1.1 100 Continue\r\nCONNECTION: x-a, Close\r\n\r\n"}, true},
		{"keep-alive", []string{"HTTP/1.1 100 Continue\r\nConnection: keep-alive\r\n\r\n"}, false},
		{"in two reads", []string{"HTTP/1.1 100 Continue\r\nConne", "ction: close\r\n\r\n"}, true},
		{"the second of two", []string{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n"}, true},
		{"the final answer's", []string{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nConnection: close\r\n\r\n"}, false},
		{"the final answer's in a read of its own", []string{"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 201 Created\r\nConnection: close\r\n\r\n"}, false},
		{"not an answer's start", []string{"Connection: close\r\n\r\n"}, false},
		{"forgotten by the next", []string{"HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var i interim
			for _, p := range test.reads {
				i.see([]byte(p))
			}
			if got := i.announcesClose(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
