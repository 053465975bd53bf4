package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
)

// A server whose clock is a month ahead dies during a turn. When the clock is right
// again, the turn is processed, and verification names what is dated in the future.
func TestClock_AheadHoldsNoWork(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		var asked, killed atomic.Bool
		models.OnPrompt("hippocampus/score", func(llmtest.ChatRequest) llmtest.Reply {
			asked.Store(true)
			if !killed.Load() {
				return llmtest.Hang()
			}
			return llmtest.Text(`{"facts":[]}`)
		})
		clock := filepath.Join(t.TempDir(), "clock")
		if err := os.WriteFile(clock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		set := func(at time.Time) {
			if err := os.Chtimes(clock, at, at); err != nil {
				t.Fatal(err)
			}
		}
		set(now().AddDate(0, 1, 0))
		s := startProgram(t, binary, slices.Concat([]string{"HIPPOCAMPUS_ADMIN_KEY=" + adminKey, "E2E_CLOCK=" + clock},
			patient, size.settings(t), withModels(models))...)
		s.key = adminKey
		ahead := s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Ada likes tea"}, 201).body["id"]
		turn := s.call("POST", "/v1/turns", object{"user_id": "ada", "messages": []object{
			{"role": "user", "content": "I paint at night."}}}, 202).body["id"].(string)
		eventually(t, "the model being asked", func() string {
			if asked.Load() {
				return ""
			}
			return "it was not"
		})
		killed.Store(true)
		s.kill()
		set(now())
		s.run()
		eventually(t, "the turn being processed", func() string {
			if r := s.call("GET", "/v1/turns/"+turn, nil, 200); r.body["status"] != "processed" {
				return r.raw
			}
			return ""
		})
		found := s.job("/v1/admin/verify")
		if ids, _ := found["future"].(map[string]any)["ids"].([]any); !slices.Contains(ids, ahead) {
			t.Errorf("verification does not name %v: %v", ahead, found)
		}
	})
}
