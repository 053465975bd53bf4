package quality

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Both peers get every message and every question once, and what they find is compared with the evidence.
func TestMeasureSystem_ReportsToPeersAndAsks(t *testing.T) {
	t.Parallel()
	at := time.Date(2023, 5, 8, 12, 0, 0, 0, time.UTC)
	talk := conversation{
		Set: "set", ID: "one", End: at,
		Turns: []turn{
			{ID: "D1:1", At: at, Speaker: "Ada", Text: "I keep bees."}, {ID: "D1:2", At: at, Speaker: "Bob", Text: "Nice."},
		},
		Questions: []question{
			{ID: "q1", Text: "What does Ada keep?", Evidence: []string{"D1:1"}, Clean: true},
			{ID: "q2", Text: "What does Bob say?", Evidence: []string{"D1:2"}, Clean: true},
		},
	}
	for _, api := range []PeerAPI{Mem0, Hindsight} {
		var reported []string
		asked := 0
		peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			switch r.URL.Path {
			case "/add", "/v1/default/banks/one/memories":
				reported = append(reported, string(body))
				_, _ = io.WriteString(w, `{}`)
			case "/search":
				asked++
				_, _ = io.WriteString(w, `["D1:1"]`)
			case "/v1/default/banks/one/memories/recall":
				asked++
				_, _ = io.WriteString(w, `{"results": [{"document_id": "D1:1"}]}`)
			default:
				http.NotFound(w, r)
			}
		}))
		t.Cleanup(peer.Close)
		s, err := Peer{URL: peer.URL, API: api}.reach()
		if err != nil {
			t.Fatal(err)
		}
		o := PeersOptions{Clients: 1, For: time.Millisecond, Rest: time.Millisecond, Progress: io.Discard}
		row, err := measureSystem(t.Context(), o, []conversation{talk}, string(api), s)
		if err != nil {
			t.Fatal(err)
		}
		if row.Found.Questions != 2 || row.Found.Mean.R10 != 0.5 || row.Memory == 0 {
			t.Errorf("%s: %+v", api, row)
		}
		if len(reported) != 2 || !strings.Contains(reported[0], "Ada: I keep bees.") || !json.Valid([]byte(reported[1])) {
			t.Errorf("%s got %q", api, reported)
		}
		if want := row.Recall.Requests + row.Crowd.Requests; row.Recall.Requests != 2 || asked != want {
			t.Errorf("%s was asked %d times, not %d", api, asked, want)
		}
	}
	if _, err := (Peer{URL: "http://127.0.0.1:1", API: Mem0}).reach(); err == nil {
		t.Error("a peer that does not run is measured")
	}
}
