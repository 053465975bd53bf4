package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// A model that refuses temperature and max_tokens, as reasoning models do, processes turns. When it then refuses every
// request, /readyz reports that for its part, and the log has the endpoint's words once.
func TestTurn_IsProcessedByAReasoningModel(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		models.Facts("parrots", llmtest.Fact{Fact: "Ada keeps green parrots.", Importance: 0.9, Domain: memory.Lifestyle})
		answer := func(r llmtest.ChatRequest) llmtest.Reply {
			if field := refusedByReasoningModels(r); field != "" {
				return refusalOf(field)
			}
			return models.Scripted(r)
		}
		models.OnChat(answer)
		s := start(t, append(size.settings(t), withModels(models)...)...)
		for range 2 {
			r := s.call("POST", "/v1/turns", turn("ada", "I keep green parrots"), 200)
			if r.body["status"] != "processed" {
				t.Errorf("%s", r.raw)
			}
		}
		if found := s.active("ada"); len(found) != 1 {
			t.Errorf("memories %v", found)
		}
		s.ready()

		const retired = "the model has been retired"
		models.OnChat(func(llmtest.ChatRequest) llmtest.Reply {
			return llmtest.JSON(map[string]any{"error": retired}).As(400)
		})
		for i := range 4 {
			asked := turn(fmt.Sprintf("user-%d", i), "I keep blue parrots")
			delete(asked, "wait")
			s.call("POST", "/v1/turns", asked, 202)
		}
		eventually(t, "the scorer being unavailable", func() string {
			r := s.call("GET", "/readyz", nil, 200)
			scorer, _ := r.body["scorer"].(map[string]any)
			if scorer["status"] != "unavailable" || scorer["reason"] != "request" {
				return r.raw
			}
			return ""
		})
		metrics := s.call("GET", "/metrics", nil, 200).raw
		if !strings.Contains(metrics, `hippocampus_prompt_failures_total{prompt="score",reason="request"}`) {
			t.Error("the metrics do not count the refused requests")
		}
		models.OnChat(answer)
		s.call("POST", "/v1/turns", turn("bea", "I keep parrots"), 200)
		s.ready()
		eventually(t, "the log of the recovery", func() string {
			if printed := s.printed(); !strings.Contains(printed, "a part works again") {
				return printed
			}
			return ""
		})
		warned := slices.DeleteFunc(strings.Split(s.printed(), "\n"), func(line string) bool {
			return !strings.Contains(line, "a part does not work") || !strings.Contains(line, retired)
		})
		if len(warned) != 1 {
			t.Errorf("%d warnings: %q", len(warned), warned)
		}
	})
}

// A field that a model has refused is not sent to it again by any process that has the database.
func TestModels_AreSentNoRefusedFieldAfterARestart(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		models.Facts("parrots", llmtest.Fact{Fact: "Ada keeps green parrots.", Importance: 0.9, Domain: memory.Lifestyle})
		var mu sync.Mutex
		refused := map[string]int{}
		models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
			if field := refusedByReasoningModels(r); field != "" {
				mu.Lock()
				defer mu.Unlock()
				refused[r.Model+" "+field]++
				return refusalOf(field)
			}
			return models.Scripted(r)
		})
		s := start(t, append(size.settings(t), withModels(models)...)...)
		use := func(user string) (requests map[string]int) {
			s.call("POST", "/v1/turns", turn(user, "I keep green parrots"), 200)
			s.call("POST", "/v1/recall", object{"user_id": user, "query": "Which birds?"}, 200)
			mu.Lock()
			defer mu.Unlock()
			requests, refused = refused, map[string]int{}
			return requests
		}
		want := map[string]int{"deepseek-chat max_tokens": 1, "deepseek-chat temperature": 1}
		if first := use("ada"); !maps.Equal(first, want) {
			t.Errorf("refused at first: %v", first)
		}
		s.kill()
		s.run()
		if again := use("bea"); len(again) != 0 {
			t.Errorf("refused after a restart: %v", again)
		}
		s.kill()
		s.env = append(s.env, "MEMORY_SCORER_MODEL=other")
		s.run()
		want = map[string]int{"other max_tokens": 1, "other temperature": 1}
		if of := use("cem"); !maps.Equal(of, want) {
			t.Errorf("refused by another model: %v", of)
		}
	})
}

// refusedByReasoningModels returns the field of a request that such a model refuses, or "".
func refusedByReasoningModels(r llmtest.ChatRequest) string {
	for _, field := range []string{"max_tokens", "temperature"} {
		if strings.Contains(r.Body, `"`+field+`":`) {
			return field
		}
	}
	return ""
}

// refusalOf returns OpenAI's refusal of a field.
func refusalOf(field string) llmtest.Reply {
	message := map[string]string{
		"max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. " +
			"Use 'max_completion_tokens' instead.",
		"temperature": "Unsupported value: 'temperature' does not support 0 with this model. " +
			"Only the default (1) value is supported.",
	}[field]
	return llmtest.JSON(map[string]any{"error": object{"message": message, "param": field}}).As(400)
}
