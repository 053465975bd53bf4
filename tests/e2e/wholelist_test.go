package e2e

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// A backend reports its whole list of messages after each turn. Each message is one event and at most one memory, and
// the model scores it once.
func TestWholeList_IsReportedAgainEachTurn(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		s := start(t, append(size.settings(t), withModels(models)...)...)
		var scored atomic.Int32 // prompts of the scorer that show the first message
		models.OnPrompt("hippocampus/score", func(r llmtest.ChatRequest) llmtest.Reply {
			if strings.Contains(r.User, "On day 0 ") {
				scored.Add(1)
			}
			return llmtest.Text(`{"facts":[]}`)
		})
		var list []object
		for turn := range 8 {
			list = append(list,
				object{"role": "user", "content": fmt.Sprintf("On day %d I fed the %d bees in Ghent.", turn, 100+turn)},
				object{"role": "assistant", "content": fmt.Sprintf("Day %d is a fine day for bees in Ghent.", turn)})
			answer := s.call("POST", "/v1/turns", object{
				"user_id": "ada", "conversation_id": "c", "wait": true, "messages": list,
			}, 200, 202).body
			if want := float64(2 * turn); turn > 0 && answer["repeated_messages"] != want {
				t.Errorf("turn %d: %v messages are repeated, want %v", turn, answer["repeated_messages"], want)
			}
		}
		again := s.call("POST", "/v1/turns", object{
			"user_id": "ada", "conversation_id": "c", "wait": true, "messages": list,
		}, 200).body
		if again["repeated"] != true || again["repeated_messages"] != float64(len(list)) {
			t.Errorf("the same report again: %v", again)
		}
		c := s.call("GET", "/v1/conversations/c?user_id=ada", nil, 200).body
		if events := c["conversation"].(map[string]any)["events"]; events != float64(len(list)) {
			t.Errorf("the conversation has %v events, want %d", events, len(list))
		}
		messages := s.call("GET", "/v1/memories?user_id=ada&type=message&limit=100", nil, 200).list("memories")
		if len(messages) > len(list) {
			t.Errorf("%d messages are memories, and %d were said", len(messages), len(list))
		}
		recalled := s.call("POST", "/v1/recall",
			object{"user_id": "ada", "query": "What about the bees in Ghent?", "limit": 10}, 200).list("memories")
		contents := map[any]bool{}
		for _, m := range recalled {
			contents[m["content"]] = true
		}
		if len(contents) != 10 {
			t.Errorf("a recall of ten holds %d different contents: %v", len(contents), recalled)
		}
		// The prompts of the next turns may show the message too, since it may change their meaning.
		if n := scored.Load(); n < 1 || n > 3 {
			t.Errorf("the scorer was shown the first message %d times", n)
		}
	})
}
