package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
)

// parrots answers each chat call with a fact, for 110 tokens.
func parrots(models *llmtest.Server) {
	models.OnChat(func(llmtest.ChatRequest) llmtest.Reply {
		return llmtest.TextWithUsage(
			`{"facts":[{"fact":"Keeps green parrots","importance":0.9,"domain":"lifestyle_and_interests"}]}`,
			map[string]any{"prompt_tokens": 90, "completion_tokens": 20})
	})
}

// tokens returns what the app has used today, by GET /v1/stats.
func (s *server) tokens() object {
	s.t.Helper()
	used, _ := s.call("GET", "/v1/stats", nil, 200).body["tokens"].(map[string]any)
	return used
}

// An app that has used up its tokens of the day is asked about no more: its turns wait, requests that need a model are
// refused, and everything else works. The next day the turns are processed.
func TestTokens_QuotaMakesTurnsWait(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		parrots(models)
		clock := filepath.Join(t.TempDir(), "clock")
		if err := os.WriteFile(clock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		set := func(at time.Time) {
			if err := os.Chtimes(clock, at, at); err != nil {
				t.Fatal(err)
			}
		}
		day := now().UTC().Truncate(24 * time.Hour)
		set(day.Add(20 * time.Hour))
		s := startProgram(t, binary, slices.Concat([]string{
			"HIPPOCAMPUS_ADMIN_KEY=" + adminKey, "E2E_CLOCK=" + clock, "HIPPOCAMPUS_QUOTAS_CHAT_TOKENS=100",
		}, patient, size.settings(t), withModels(models))...)
		s.key = adminKey
		if r := s.call("POST", "/v1/turns", turn("ada", "I keep green parrots"), 200); r.body["status"] != "processed" {
			t.Fatalf("%s", r.raw)
		}
		asked := models.Chats()
		waits := turn("bea", "I moved to Porto in May and work as a welder.")
		delete(waits, "wait")
		path := "/v1/turns/" + s.call("POST", "/v1/turns", waits, 202).body["id"].(string)
		eventually(t, "the turn being deferred", func() string {
			r := s.call("GET", path, nil, 200)
			if why, _ := r.body["last_error"].(string); !strings.Contains(why, "quotas.chat_tokens") {
				return r.raw
			}
			return ""
		})
		eventually(t, "rules taking the statement, and the message being found", func() string {
			r := s.call("POST", "/v1/recall", object{"user_id": "bea", "query": "Where does Bea live?"}, 200)
			if len(r.list("memories")) == 0 {
				return r.raw
			}
			return ""
		})
		if r := s.call("GET", path, nil, 200); r.body["status"] != "accepted" || r.body["attempts"] != 0.0 {
			t.Errorf("a turn that waits: %s", r.raw)
		}
		for _, text := range []string{"Swims on Monday.", "Plays the cello.", "Is allergic to walnuts."} {
			s.call("POST", "/v1/memories", object{"user_id": "cem", "content": text}, 201)
		}
		r := s.call("POST", "/v1/reflect", object{"user_id": "cem", "force": true}, 429)
		wait, err := strconv.Atoi(r.header.Get("Retry-After"))
		detail, _ := r.body["detail"].(string)
		if err != nil || wait != 4*60*60 || !strings.Contains(detail, "raise quotas.chat_tokens") ||
			!strings.Contains(detail, "quota is 100 tokens") {
			t.Errorf("%v %s", r.header, r.raw)
		}
		if n := models.Chats(); n != asked {
			t.Errorf("the model was asked %d times beyond the quota", n-asked)
		}
		s.ready()
		metrics := s.call("GET", "/metrics", nil, 200).raw
		for _, counted := range []string{
			`hippocampus_prompt_failures_total{prompt="score",reason="quota"} 1`,
			`hippocampus_requests_refused_total{limit="quotas.chat_tokens"} 1`,
			`hippocampus_model_tokens_total{kind="chat"} 110`,
		} {
			if !strings.Contains(metrics, counted) {
				t.Errorf("the metrics lack %s", counted)
			}
		}
		eventually(t, "the tokens of the day", func() string {
			used := s.tokens()
			if embedded, _ := used["embedding"].(float64); embedded > 0 && used["chat"] == 110.0 &&
				used["chat_quota"] == 100.0 && used["day"] == day.Format(time.DateOnly) {
				return ""
			}
			return s.call("GET", "/v1/stats", nil, 200).raw
		})
		if shown, err := s.carry(adminKey, "stats"); err != nil || !strings.Contains(shown, "chat 110 of 100, embedding ") {
			t.Errorf("hippocampus stats: %v\n%s", err, shown)
		}
		s.stop()
		s.run()
		if used := s.tokens(); used["chat"] != 110.0 {
			t.Errorf("after a restart: %v", used)
		}
		set(day.Add(24*time.Hour + time.Minute))
		eventually(t, "the turn being processed the next day", func() string {
			if r := s.call("GET", path, nil, 200); r.body["status"] != "processed" {
				return r.raw
			}
			return ""
		})
		if used := s.tokens(); used["chat"] != 110.0 {
			t.Errorf("the next day: %v", used)
		}
	})
}

// What one server uses counts for the other.
func TestTokens_ServersShareTheCount(t *testing.T) {
	t.Parallel()
	models := llmtest.New(t)
	parrots(models)
	settings := slices.Concat(sizes[2].settings(t), withModels(models), []string{"HIPPOCAMPUS_QUOTAS_CHAT_TOKENS=100"})
	one, other := start(t, settings...), start(t, settings...)
	one.call("POST", "/v1/turns", turn("ada", "I keep green parrots"), 200)
	for _, text := range []string{"Swims on Monday.", "Plays the cello.", "Is allergic to walnuts."} {
		one.call("POST", "/v1/memories", object{"user_id": "cem", "content": text}, 201)
	}
	eventually(t, "the other server knowing what the first one has used", func() string {
		if chat, _ := other.tokens()["chat"].(float64); chat < 110 {
			return other.call("GET", "/v1/stats", nil, 200).raw
		}
		return ""
	})
	asked := models.Chats()
	other.call("POST", "/v1/reflect", object{"user_id": "cem", "force": true}, 429)
	if n := models.Chats(); n != asked {
		t.Errorf("the other server asked the model %d times", n-asked)
	}
}
