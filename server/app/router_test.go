package app

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// routed is how a recall was routed.
type routed struct {
	Route struct {
		Domains []memory.Domain
		Source  string
	}
	Degraded []string
}

func (s *instance) routed(query string) (r routed) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.post("/v1/recall", `{"user_id":"ada","query":"`+query+`"}`)), &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// Rules serve while the router's model is slow, its answer serves the next recall of the
// same text without a call, and no goroutine outlives the server.
func TestRouter_ALateAnswerServesTheNextRecall(t *testing.T) {
	cfg := devConfig(t)
	models := llmtest.New(t)
	answer := make(chan llmtest.Reply)
	models.OnPrompt(llmtest.RouteMark, func(llmtest.ChatRequest) llmtest.Reply { return <-answer })
	cfg.Chat.APIKey = "key"
	cfg.Chat.BaseURL = models.URL()
	cfg.Router.Timeout = 20 * time.Millisecond
	s := start(t, cfg)
	s.post("/v1/memories", `{"user_id":"ada","content":"Ada is married to Tom"}`)
	before := models.Chats()
	const query = "Am I married?"
	byRules, degraded := []memory.Domain{memory.Social}, []string{"router"}
	for range 2 {
		r := s.routed(query)
		if r.Route.Source != "rules" || !slices.Equal(r.Route.Domains, byRules) || !slices.Equal(r.Degraded, degraded) {
			t.Errorf("while the model is slow: %+v", r)
		}
	}
	answer <- llmtest.Text(`{"domains":["lifestyle_and_interests"]}`)
	var r routed
	for deadline := time.Now().Add(longTime); r.Route.Source != cfg.Chat.RouterModel && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
		r = s.routed(query)
	}
	if r.Route.Source != cfg.Chat.RouterModel || len(r.Degraded) > 0 || models.Chats()-before != 1 {
		t.Errorf("after the model's answer: %+v with %d calls", r, models.Chats()-before)
	}
	metrics := s.get("/metrics")
	for _, line := range []string{`hippocampus_routes_total{by="model"} 1`, `hippocampus_routes_total{by="rules"} 0`} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if strings.Contains(metrics, `hippocampus_routes_total{by="late"} 0`) {
		t.Error("the metrics count no late route")
	}
	models.OnPrompt(llmtest.RouteMark, func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Hang() })
	s.routed("Which instrument do I play?") // whose call runs until the shutdown
	s.stop()
}
