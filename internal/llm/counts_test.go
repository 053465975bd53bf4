package llm_test

import (
	"maps"
	"net/http"
	"testing"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
)

func TestCounts_SumsUsageByPrompt(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	counts := llm.NewCounts()
	chat := dial(t, server.URL(), func(o *llm.Options) { o.Observer, o.Retries = counts, -1 }).Chat("m")
	ask := func(name string, reply llmtest.Reply) {
		server.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
			if r.Correction != "" {
				return llmtest.Text(`{"text":"corrected"}`)
			}
			return reply
		})
		_, _ = llm.Ask(t.Context(), chat, llm.Prompt{Name: name, System: "s", User: "u"}, readBox)
	}
	const good = `{"text":"a"}`
	ask("score", llmtest.TextWithUsage(good, map[string]any{
		"prompt_tokens": 900, "completion_tokens": 50, "prompt_tokens_details": map[string]any{"cached_tokens": 640},
	}))
	ask("score", llmtest.TextWithUsage(good, map[string]any{
		"prompt_tokens": 100, "completion_tokens": 5, "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36,
	}))
	ask("score", llmtest.Text(good)) // without usage
	ask("judge", llmtest.Text(`{"text":"a",}`))
	ask("judge", llmtest.Text("no object"))
	ask("route", llmtest.Status(http.StatusInternalServerError))
	for _, status := range []int{400, 422, 401, 429} {
		ask("replay", llmtest.Status(status))
	}
	ask("replay", llmtest.Raw("[]"))

	for name, want := range map[string]llm.PromptCounts{
		"score": {Calls: 3, In: 1000, Cached: 704, Out: 55},
		"judge": {Calls: 3, Salvaged: 1, Refused: 1},
		"route": {Calls: 1, Failed: 1}, "replay": {Calls: 5, Failed: 5},
	} {
		if got := counts.ByPrompt()[name]; got != want {
			t.Errorf("%s: %+v, not %+v", name, got, want)
		}
	}
	want := map[llm.Failure]int{
		{Prompt: "route", Cause: llm.CauseUnavailable}: 1, {Prompt: "replay", Cause: llm.CauseRequest}: 2,
		{Prompt: "replay", Cause: llm.CauseKey}: 1, {Prompt: "replay", Cause: llm.CauseLimit}: 1,
		{Prompt: "replay", Cause: llm.CauseAnswer}: 1,
	}
	if got := counts.Failures(); !maps.Equal(got, want) {
		t.Errorf("failures %v", got)
	}
}
