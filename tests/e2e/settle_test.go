package e2e

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
)

// soonSettled are settings with a job timeout that is longer than a test waits, so that the work of a killed process
// becomes free only because the process gives no signs of life.
var soonSettled = []string{
	"HIPPOCAMPUS_REFLECTION_IMPORTANCE=0.5", "HIPPOCAMPUS_REFLECTION_COOLDOWN=0s", "HIPPOCAMPUS_JOBS_TIMEOUT=1h",
}

// A server is killed while the model works on a turn, a job and a consolidation. It is
// started again, or another server continues: all three are done long before a job's
// timeout.
func TestKill_SettlesBeforeTimeouts(t *testing.T) {
	onMainSizes(t, func(t *testing.T, size size) {
		settings := append(size.settings(t), soonSettled...)
		t.Run("the same server", func(t *testing.T) {
			t.Parallel()
			models := llmtest.New(t)
			s := start(t, slices.Concat(settings, withModels(models))...)
			settleAfterKill(t, models, s, func() *server {
				s.kill()
				s.run()
				return s
			})
		})
		if s := (&server{env: settings}); s.setting("DATABASE_URL") == "" {
			return // one server has the file
		}
		other := append(size.settings(t), soonSettled...)
		t.Run("another server", func(t *testing.T) {
			t.Parallel()
			models := llmtest.New(t)
			all := slices.Concat(other, withModels(models))
			s := start(t, all...)
			settleAfterKill(t, models, s, func() *server {
				survivor := start(t, all...)
				s.kill()
				return survivor
			})
		})
	})
}

// settleAfterKill lets next kill s during its work. next returns the server that continues the work.
func settleAfterKill(t *testing.T, models *llmtest.Server, s *server, next func() *server) {
	t.Helper()
	var killed atomic.Bool
	var asked [3]atomic.Bool
	hangAtFirst := func(what int, of, answer string) func(llmtest.ChatRequest) llmtest.Reply {
		return func(r llmtest.ChatRequest) llmtest.Reply {
			if !killed.Load() && strings.Contains(r.User, of) {
				asked[what].Store(true)
				return llmtest.Hang()
			}
			return llmtest.Text(answer)
		}
	}
	models.OnPrompt("hippocampus/replay", hangAtFirst(0, "", `{"summary":"Ada moves to Porto in May."}`))
	models.OnPrompt("hippocampus/reflect", hangAtFirst(1, "", `{"insights":[]}`))
	models.OnPrompt("hippocampus/score", hangAtFirst(2, "paint", `{"facts":[]}`))
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Ada likes tea", "importance": 0.9}, 201)
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Ada drinks tea daily", "importance": 0.9}, 201)
	s.call("POST", "/v1/turns", object{"user_id": "bob", "conversation_id": "move", "wait": true, "messages": []object{
		{"role": "user", "content": "I move to Porto in May."}, {"role": "assistant", "content": "Then you need a flat."},
		{"role": "tool", "name": "broker", "content": "A flat in Rua das Flores is reserved.", "kind": "decision"},
	}}, 200)
	s.call("POST", "/v1/conversations/move/end", object{"user_id": "bob"}, 202)
	turn := s.call("POST", "/v1/turns", object{"user_id": "carl", "messages": []object{
		{"role": "user", "content": "I paint at night."}}}, 202).body["id"].(string)
	eventually(t, "the model being asked for everything", func() string {
		for i := range asked {
			if !asked[i].Load() {
				return []string{"replay", "reflection", "scorer"}[i]
			}
		}
		return ""
	})
	killed.Store(true)
	s = next()
	began := time.Now()
	eventually(t, "everything being done", func() string {
		if r := s.call("GET", "/v1/turns/"+turn, nil, 200); r.body["status"] != "processed" {
			return r.raw
		}
		jobs := s.call("GET", "/v1/jobs?kind=reflect_user", nil, 200)
		for _, job := range jobs.list("jobs") {
			if job["state"] != "completed" {
				return jobs.raw
			}
		}
		all := s.call("GET", "/v1/conversations/move/consolidations?user_id=bob", nil, 200)
		for _, one := range all.list("consolidations") {
			if one["state"] == "pending" {
				return all.raw
			}
		}
		return ""
	})
	t.Logf("the work of a killed server was done after %s", time.Since(began))
}
