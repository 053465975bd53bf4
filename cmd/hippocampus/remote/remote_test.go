package remote_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"hippocampus/cmd/hippocampus/remote"
)

func TestAsk_RepeatsAGetThatTheServerRefusesForNow(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		method, after string
		status, sent  int
	}{
		"busy":                {"GET", "0", 503, 3},
		"too fast":            {"GET", "0", 429, 3},
		"a long wait":         {"GET", "60", 503, 1},
		"without Retry-After": {"GET", "", 503, 1},
		"a defect":            {"GET", "0", 500, 1},
		"a write":             {"POST", "0", 503, 1},
		"an answer":           {"GET", "", 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				sent++
				if row.after != "" {
					w.Header().Set("Retry-After", row.after)
				}
				w.WriteHeader(row.status)
			}))
			defer s.Close()
			server, err := remote.New(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			response, err := server.Ask(t.Context(), row.method, "/v1/memories", http.Header{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if sent != row.sent || response.StatusCode != row.status {
				t.Errorf("%d requests were sent, the last one got %s", sent, response.Status)
			}
		})
	}
}
