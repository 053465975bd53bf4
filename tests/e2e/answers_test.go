package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// good is the answer of the recovered model.
func good(llmtest.ChatRequest) llmtest.Reply {
	return llmtest.Text(
		fmt.Sprintf(`{"facts":[{"fact":"The user keeps bees","importance":0.9,"domain":%q}]}`, memory.Lifestyle))
}

// If a model repeats a malformed answer although it gets the reason, its turn fails: the candidate keeps the reason,
// rules extract the fact, and a replay replaces that fact once the model has recovered.
func TestScorer_RefusesMalformedAnswers(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		s := start(t, append(size.settings(t), withModels(models)...)...)
		bad := llmtest.Malformed()
		if len(bad) < 40 {
			t.Fatalf("%d malformed kinds", len(bad))
		}
		answers, ids := map[string]string{}, make([]string, len(bad))
		for i, b := range bad {
			answers[fmt.Sprintf("item%dx", i)] = b.Answer
		}
		models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
			return llmtest.Text(answers[numbered.FindString(r.User)])
		})
		for i := range bad {
			asked := turn(fmt.Sprintf("user-%d", i), fmt.Sprintf("I keep bees in item%dx", i))
			delete(asked, "wait")
			ids[i] = s.call("POST", "/v1/turns", asked, 202).body["id"].(string)
		}
		for i, b := range bad {
			var r reply
			eventually(t, b.Name+": the turn failing", func() string {
				if r = s.call("GET", "/v1/turns/"+ids[i], nil, 200); r.body["status"] != "failed" {
					return r.raw
				}
				return ""
			})
			if r.body["last_error"] == "" || r.body["attempts"] != 1.0 {
				t.Errorf("%s: %s", b.Name, r.raw)
			}
			var byRules []any
			candidates := r.list("candidates")
			candidates = slices.DeleteFunc(candidates, func(c object) bool {
				isRules := c["scorer"] == "rules" && c["verdict"] == "kept"
				if isRules {
					byRules = append(byRules, c["memory_id"])
				}
				return isRules
			})
			if len(candidates) == 0 || slices.ContainsFunc(candidates, func(c object) bool {
				return c["verdict"] != "invalid" || c["reason"] == ""
			}) {
				t.Errorf("%s: %s", b.Name, r.raw)
			}
			if n := s.active(fmt.Sprintf("user-%d", i)); len(n) != 1 || len(byRules) != 1 || byRules[0] != n[0] {
				t.Errorf("%s: the memories are %v, those of rules %v", b.Name, n, byRules)
			}
		}
		for i, b := range bad {
			s.replay(models, b.Name, fmt.Sprintf("user-%d", i), ids[i])
		}
		if n := len(s.call("GET", "/v1/turns?status=failed", nil, 200).list("turns")); n != 0 {
			t.Errorf("%d turns are still failed", n)
		}
	})
}

// Without the fallback, rules take no fact from a turn whose scorer fails. Its messages are kept.
func TestScorer_FailsWithoutTheFallback(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text("no JSON at all") })
		settings := append(size.settings(t), withModels(models)...)
		s := start(t, append(settings, "HIPPOCAMPUS_GATE_FALLBACK=false")...)
		asked := turn("user-1", "I keep bees in Braga")
		delete(asked, "wait")
		id := s.call("POST", "/v1/turns", asked, 202).body["id"].(string)
		eventually(t, "the turn failing", func() string {
			if r := s.call("GET", "/v1/turns/"+id, nil, 200); r.body["status"] != "failed" {
				return r.raw
			}
			return ""
		})
		got := s.call("GET", "/v1/memories?user_id=user-1", nil, 200).list("memories")
		if len(got) != 1 || got[0]["type"] != "message" {
			t.Fatalf("%+v", got)
		}
		s.replay(models, "no JSON", "user-1", id)
	})
}

// replay replays a turn with a good answer, and expects one memory.
func (s *server) replay(models *llmtest.Server, name, user, id string) {
	s.t.Helper()
	models.OnChat(good)
	s.call("POST", "/v1/turns/"+id+"/replay", nil, 202)
	s.remembered(name, user, id)
	s.call("POST", "/v1/turns/"+id+"/replay", nil, 409)
}

// remembered waits until a turn is processed, and expects one memory.
func (s *server) remembered(name, user, id string) {
	s.t.Helper()
	eventually(s.t, name+": the turn being processed", func() string {
		if r := s.call("GET", "/v1/turns/"+id, nil, 200); r.body["status"] != "processed" {
			return r.raw
		}
		return ""
	})
	if n := s.active(user); len(n) != 1 {
		s.t.Errorf("%s: then %d memories", name, len(n))
	}
}

// While the endpoint is unavailable the turn stays accepted, and no attempt is counted.
// Afterwards it is processed.
func TestTurn_WaitsWhileEndpointFails(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		s := start(t, slices.Concat(size.settings(t), withModels(models), []string{
			"HIPPOCAMPUS_CHAT_TIMEOUT=1s", "HIPPOCAMPUS_CHAT_RETRIES=0",
		})...)
		for name, fault := range map[string]llmtest.Reply{
			"429 with Retry-After": llmtest.Status(429).With("Retry-After", "3600"),
			"500":                  llmtest.Status(500), "503": llmtest.Status(503), "401": llmtest.Status(401),
			"hang": llmtest.Hang(), "cut": llmtest.Cut(),
			"chopped": llmtest.Text(`{"facts":[]}`).Chopped(),
		} {
			user := strings.ReplaceAll(name, " ", "-")
			models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return fault })
			asked := turn(user, "I keep bees")
			delete(asked, "wait")
			id := s.call("POST", "/v1/turns", asked, 202).body["id"].(string)
			eventually(t, name+": the failure being recorded", func() string {
				r := s.call("GET", "/v1/turns/"+id, nil, 200)
				if r.body["status"] != "accepted" || r.body["attempts"] != 0.0 || len(r.list("candidates")) != 0 {
					t.Fatalf("%s: %s", name, r.raw)
				}
				if text, _ := r.body["last_error"].(string); text == "" {
					return "no last_error yet"
				}
				return ""
			})
			if n := s.active(user); len(n) != 0 {
				t.Errorf("%s made memories", name)
			}
			models.OnChat(good)
			s.call("POST", "/v1/turns/"+id+"/replay", nil, 202, 409) // 409: a retry was faster
			s.remembered(name, user, id)
		}
	})
}
