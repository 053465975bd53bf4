package api

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
	"hippocampus/recall"
)

func TestRecallDefaults(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.want(200, "POST", "/v1/recall", aQuery)
	want := recall.Query{Owner: memory.Owner{AppID: "app", UserID: "u"}, Text: "q", Limit: 10}
	if diff := cmp.Diff(want, b.query); diff != "" {
		t.Error(diff)
	}
}

func TestRecallHandsTheQueryOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.want(200, "POST", "/v1/recall", `{"user_id":"u","query":"她住哪？","limit":3,"domains":["user_preferences"],"types":["fact","task"],
		"agent_id":"a","conversation_id":"c","since":"2025-01-01T00:00:00Z","until":"2026-01-01T00:00:00Z","min_importance":0.5,
		"min_similarity":-0.5,"at":"2026-01-31T08:00:00Z","touch":false,"route":false,"mode":"additive",
		"weights":{"relevance":1,"decay":0,"importance":0.5}}`)
	want := recall.Query{
		Owner: memory.Owner{AppID: "app", UserID: "u"}, Text: "她住哪？", Limit: 3, Domains: []memory.Domain{memory.Preferences},
		Types: []memory.Type{"fact", "task"}, AgentID: "a", ConversationID: "c",
		Since: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		MinImportance: .5, MinSimilarity: -.5, At: time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC),
		NoTouch: true, NoRoute: true, Mode: recall.Additive, Weights: &recall.Weights{Relevance: 1, Importance: .5},
	}
	if diff := cmp.Diff(want, b.query); diff != "" {
		t.Error(diff)
	}
}

func TestRecallAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	got := parse[answerBody](t, b.want(200, "POST", "/v1/recall", aQuery))
	if m := got.Memories[0]; m.ID != someID || m.Similarity != .7 || m.Relevance != 1 || m.Decay != 1 || m.Importance != .8 || m.Score != .9 || m.Sources[0] != "vector" {
		t.Errorf("%+v", m)
	}
	b.answer = recall.Answer{Skipped: true, Degraded: []string{"vector_store"}, At: noon}
	w := b.want(200, "POST", "/v1/recall", aQuery)
	want := `{"memories":[],"route":{"domains":[],"source":"","skipped":true,"widened":false},"degraded":["vector_store"],"at":"2026-01-31T12:00:00Z","took_ms":0}`
	if got := strings.TrimSpace(w.Body.String()); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	second := b.answer.Memories[0]
	second.Memory.ID, second.Memory.Content = strings.Replace(someID, "1", "2", 1), strings.Repeat("长", 500)
	b.answer.Memories = append(b.answer.Memories, second)
	for request, want := range map[string]struct {
		text    string
		dropped int
	}{
		`{"user_id":"u","query":"q","language":"en"}`:                         {"[Long-term memory]\n- Is allergic to peanuts.", 1},
		`{"user_id":"u","query":"q","language":"zh","max_tokens":40}`:         {"【长期记忆】\n- Is allergic to peanuts.", 1},
		`{"user_id":"u","query":"q","language":"en","max_chars":40}`:          {"", 2},
		`{"user_id":"u","query":"q","language":"en","max_chars":100000}`:      {"[Long-term memory]\n- Is allergic to peanuts.\n- " + second.Memory.Content, 0},
		`{"user_id":"u","query":"q","language":"en","limit":2,"max_chars":1}`: {"", 2},
	} {
		b.touched = nil
		got := parse[contextBody](t, b.want(200, "POST", "/v1/context", request))
		if len(b.touched) != len(got.Memories) {
			t.Errorf("%s touched %v", request, b.touched)
		}
		if got.Text != want.text || len(got.Dropped) != want.dropped || len(got.Memories)+len(got.Dropped) != 2 {
			t.Errorf("%s: %+v", request, got)
		}
	}
	b.touched = nil
	b.want(200, "POST", "/v1/context", `{"user_id":"u","query":"q","touch":false,"max_chars":100000}`)
	if b.touched != nil {
		t.Errorf("touch false touched %v", b.touched)
	}
	b.wantPaths("POST", "/v1/context", `{"user_id":"u","query":"q","max_chars":5,"max_tokens":5}`, "max_tokens")
	b.wantPaths("POST", "/v1/context", `{"user_id":"u","query":"q","max_chars":0,"language":"fr"}`, "max_chars", "language")
}

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	var database, vectors error
	b := newBench(t, func(o *Options) {
		o.Checks = []Check{
			{Name: "database", Required: true, Check: func(context.Context) error { return database }},
			{Name: "vector_store", Check: func(ctx context.Context) error {
				if _, ok := ctx.Deadline(); !ok {
					t.Error("a check has no deadline")
				}
				return vectors
			}},
		}
	})
	away := errors.New("dial tcp 10.0.0.7:5432: refused")
	for _, c := range []struct {
		database, vectors error
		status            int
		overall           string
	}{
		{nil, nil, 200, "ready"}, {nil, away, 200, "degraded"}, {away, nil, 503, "away"}, {away, away, 503, "away"},
	} {
		database, vectors = c.database, c.vectors
		w := b.want(c.status, "GET", "/readyz", "", "Authorization", "")
		body := parse[struct {
			Status   string
			Database struct{ Status string }
			Vectors  struct{ Status string } `json:"vector_store"`
		}](t, w)
		if body.Status != c.overall || (body.Database.Status == "ready") != (database == nil) || (body.Vectors.Status == "ready") != (vectors == nil) {
			t.Error(w.Body)
		}
		if strings.Contains(w.Body.String(), "10.0.0.7") {
			t.Errorf("an address is told: %s", w.Body)
		}
		b.want(200, "GET", "/healthz", "", "Authorization", "")
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	got := parse[statsBody](t, newBench(t, nil).want(200, "GET", "/v1/stats", ""))
	if got.AppID != "app" || got.Users != 1 || got.Memories[memory.Active] != 2 || got.Turns == nil {
		t.Errorf("%+v", got)
	}
}

// What the API adds to a recall: the fake behind it costs nothing.
func BenchmarkRecall(b *testing.B) {
	server := newBench(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", "/v1/recall", strings.NewReader(aQuery))
		r.Header.Set("Authorization", "Bearer read")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if server.ServeHTTP(w, r); w.Code != 200 {
			b.Fatal(w.Body)
		}
	}
}
