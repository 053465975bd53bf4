package e2e

import (
	"fmt"
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// A running summary that has the statement of a withdrawn turn is dropped at once, and made again without it.
func TestWithdraw_CoversTheRunningSummary(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		models.OnPrompt("hippocampus/compact", func(r llmtest.ChatRequest) llmtest.Reply {
			var homes []string
			for _, city := range []string{"Utrecht", "Groningen"} {
				if strings.Contains(r.User, city) {
					homes = append(homes, "the user lives in "+city)
				}
			}
			return llmtest.Text(fmt.Sprintf(`{"summary":"The user plants tulips; %s."}`, strings.Join(homes, "; ")))
		})
		s := start(t, append(append(size.settings(t), withModels(models)...), "HIPPOCAMPUS_SESSION_EVENTS=6")...)
		s.report("t1", nil, "I live in Utrecht.", "It has fine canals.")
		s.report("t2", nil, "I live in Groningen now.", "Groningen it is, then.")
		for n := range 6 {
			s.report(fmt.Sprint("later", n), nil, fmt.Sprintf("I planted %d tulips in bed %d.", 20+n, n), "A fine sight.")
		}
		summarised := func(what string, holds func(summary string) bool) {
			t.Helper()
			eventually(t, what, func() string {
				c := s.call("GET", "/v1/conversations/of-ada/working?user_id=ada", nil, 200)
				summary, _ := c.body["conversation"].(map[string]any)["summary"].(string)
				if !holds(summary) {
					return c.raw
				}
				return ""
			})
		}
		summarised("a running summary with both homes", func(summary string) bool {
			return strings.Contains(summary, "Utrecht") && strings.Contains(summary, "Groningen")
		})
		s.call("DELETE", "/v1/turns/t2", nil, 200)
		for reader, text := range s.readers("Where do I live?") {
			if strings.Contains(text, "Groningen") {
				t.Errorf("%s: %s", reader, text)
			}
		}
		s.report("t9", nil, "I planted another 30 tulips.", "A fine sight.")
		summarised("a running summary without the withdrawn home", func(summary string) bool {
			if strings.Contains(summary, "Groningen") {
				t.Fatalf("the summary is %s", summary)
			}
			return strings.Contains(summary, "Utrecht")
		})
	})
}
