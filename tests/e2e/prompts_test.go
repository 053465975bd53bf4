package e2e

import (
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// The use of the chat model is counted by prompt, with the tokens that the endpoint reports.
func TestStats_CountPrompts(t *testing.T) {
	t.Parallel()
	models := llmtest.New(t)
	models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		return llmtest.TextWithUsage(llmtest.RulesText(r), object{
			"prompt_tokens": 900, "completion_tokens": 50, "prompt_cache_hit_tokens": 640,
		})
	})
	s := start(t, withModels(models)...)
	s.call("POST", "/v1/turns", turn("ada", "I moved to Bergen because I work at the aquarium"), 200)
	s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "Where does Ada live?"}, 200)

	prompts, _ := s.call("GET", "/v1/stats", nil, 200).body["prompts"].(map[string]any)
	for _, name := range []string{"score", "route"} {
		got, _ := prompts[name].(map[string]any)
		if got["calls"] != 1.0 || got["tokens_in"] != 900.0 || got["tokens_cached"] != 640.0 || got["tokens_out"] != 50.0 ||
			got["salvaged"] != 0.0 || got["refused"] != 0.0 || got["failed"] != 0.0 || got["seconds"].(float64) <= 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	metrics := s.call("GET", "/metrics", nil, 200).raw
	for _, line := range []string{
		`hippocampus_prompt_calls_total{prompt="score"} 1`, `hippocampus_prompt_tokens_cached_total{prompt="route"} 640`,
		`hippocampus_prompt_refused_total{prompt="score"} 0`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %s", line)
		}
	}
}
