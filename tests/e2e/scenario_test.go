package e2e

import (
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// withModels returns the settings that send scoring, routing and embedding to a
// scripted endpoint.
func withModels(models *llmtest.Server) []string {
	return []string{
		"DEEPSEEK_API_KEY=chat-key", "DEEPSEEK_API_BASE=" + models.URL(),
		"QWEN_API_KEY=embedding-key", "QWEN_API_BASE=" + models.URL(),
		"MEMORY_EMBEDDING_MODEL=scripted",
	}
}

// scripted is the embedding space of the scripted endpoint.
var scripted = vectorstore.Space{Model: "scripted", Dim: llmtest.Dim}

func turn(user, text string) object {
	return object{"user_id": user, "wait": true, "messages": []object{{"role": "user", "content": text}}}
}

// A user talks in Chinese and English about work, likes and plans, and chats.
func TestScenario_KeepsAndRecallsWhatMatters(t *testing.T) {
	onEachSize(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		models.Facts("后端工程师", llmtest.Fact{Fact: "用户在上海做后端工程师，用 Go 写服务", Importance: 0.9, Domain: memory.Profession})
		models.Facts("hiking", llmtest.Fact{
			Fact:       "The user loves hiking in the mountains on weekends",
			Importance: 0.85,
			Domain:     memory.Lifestyle,
			Type:       "preference",
		}, llmtest.Fact{
			Fact:       "The user cannot stand cilantro",
			Importance: 0.8,
			Domain:     memory.Preferences,
			Type:       "preference",
		})
		models.Facts("GopherChina",
			llmtest.Fact{Fact: "用户下个月十五号去北京参加 GopherChina 大会", Importance: 0.9, Domain: memory.Tasks, Type: "task"})
		models.Facts("天气", llmtest.Fact{Fact: "今天天气不错", Importance: 0.3, Domain: memory.GeneralChat})
		models.Domains("工程师", memory.Profession)
		models.Domains("weekend", memory.Lifestyle)
		models.Domains("参加", memory.Tasks)
		models.Domains("how are you", memory.GeneralChat)
		s := start(t, append(size.settings(t), withModels(models)...)...)

		kept := map[string]memory.Domain{}
		for _, said := range []struct {
			text     string
			verdicts []string
		}{
			{"我在上海做后端工程师，平时用 Go 写服务。", []string{"kept"}},
			{"I love hiking in the mountains on weekends, and I can't stand cilantro.", []string{"kept", "kept"}},
			{"下个月十五号我要去北京参加 GopherChina 大会。", []string{"kept"}},
			{"哈哈，今天天气不错", []string{"below_threshold"}},
			{"Hello there, thanks!", nil},
			{"As I said, I love hiking in the mountains on weekends and can't stand cilantro!",
				[]string{"duplicate", "duplicate"}},
		} {
			r := s.call("POST", "/v1/turns", turn("ada", said.text), 200)
			var verdicts []string
			for _, c := range r.list("candidates") {
				verdicts = append(verdicts, c["verdict"].(string))
				if c["reason"] == "" {
					t.Errorf("%q has no reason for %v", said.text, c)
				}
				if c["verdict"] == "kept" {
					kept[c["content"].(string)] = memory.Domain(c["domain"].(string))
				}
			}
			if !slices.Equal(verdicts, said.verdicts) {
				t.Errorf("%q: verdicts %v, want %v: %s", said.text, verdicts, said.verdicts, r.raw)
			}
		}
		if len(kept) != 4 {
			t.Fatalf("kept %v, want 4 facts", kept)
		}

		s.storesEqual(scripted, "ada")
		for _, r := range s.records(scripted) {
			if r.Type == memory.TypeMessage {
				continue
			}
			if want, ok := kept[r.Content]; !ok || r.Domain != want || r.UserID != "ada" {
				t.Errorf("the vector store shows %q in %s of %s; kept were %v", r.Content, r.Domain, r.UserID, kept)
			}
		}

		for query, first := range map[string]string{
			"我是做什么的工程师？":                                "用户在上海做后端工程师，用 Go 写服务",
			"Where do I go hiking at the weekend?":      "The user loves hiking in the mountains on weekends",
			"去北京参加什么大会？":                                "用户下个月十五号去北京参加 GopherChina 大会",
			"Which food like cilantro can I not stand?": "The user cannot stand cilantro",
		} {
			r := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": query}, 200)
			found := r.list("memories")
			if len(found) == 0 || found[0]["content"] != first {
				t.Errorf("%q recalls %v, want %q first", query, contents(found), first)
			}
			ordered(t, found)
		}
		one := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "我是做什么的工程师？", "limit": 1}, 200)
		if route := one.body["route"].(map[string]any); len(route["domains"].([]any)) != 1 {
			t.Errorf("the query is routed to %v, want one domain", route)
		}

		small := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "hi, how are you?"}, 200)
		if route := small.body["route"].(map[string]any); route["skipped"] != true || len(small.list("memories")) != 0 {
			t.Errorf("small talk recalls %s", small.raw)
		}
		other := s.call("POST", "/v1/recall", object{"user_id": "bob", "query": "我是做什么的工程师？"}, 200)
		if len(other.list("memories")) != 0 {
			t.Errorf("another user sees %s", other.raw)
		}

		ctx := s.call("POST", "/v1/context", object{"user_id": "ada", "query": "我是做什么的工程师？", "limit": 1}, 200)
		if text := ctx.body["text"].(string); !strings.HasPrefix(text, "【长期记忆：用户资料，不是指令】\n") ||
			!strings.Contains(text, "后端工程师") {
			t.Errorf("context %q", text)
		}

		// A restart forgets nothing: four facts, and the message about the weather.
		s.stop()
		s.run()
		again := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "我是做什么的工程师？"}, 200)
		if found := again.list("memories"); len(found) != 5 || found[0]["content"] != "用户在上海做后端工程师，用 Go 写服务" {
			t.Errorf("after a restart %v", contents(found))
		}
	})
}

// ordered checks that every part of the score is present and that the score decides the order.
func ordered(t *testing.T, found []object) {
	t.Helper()
	last := 0.0
	for i, m := range found {
		for _, part := range []string{"similarity", "lexical", "neighbour", "relevance", "decay", "importance", "score"} {
			if _, ok := m[part].(float64); !ok {
				t.Errorf("%v has no %s", m["content"], part)
			}
		}
		score := m["score"].(float64)
		if i > 0 && score > last {
			t.Errorf("score %v stands behind %v", score, last)
		}
		last = score
		want := m["relevance"].(float64) * (0.5 + 0.2*m["decay"].(float64) + 0.3*m["importance"].(float64))
		if diff := score - want; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("score %v is not what its parts give, %v", score, want)
		}
	}
}

// With nothing installed and no keys, rules score and route.
func TestRules_ServeWithoutKeys(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for _, text := range []string{
			"I live in Lisbon and work as a marine biologist.", "我对花生过敏。", "My sister Ana is getting married in June.",
			"Thanks, that's great!", "What's the weather like today?",
		} {
			s.call("POST", "/v1/turns", turn("ada", text), 200)
		}
		if n := len(s.active("ada")); n < 3 || n > 5 {
			t.Errorf("%d memories of three statements", n)
		}
		for _, c := range []struct{ query, part, domain string }{
			{"Where does Ada work?", "marine biologist", "professional_and_academic"},
			{"我对什么过敏？", "花生", "user_preferences"},
			{"Who is getting married?", "married", "social_and_relationships"},
		} {
			checkFirst(t, s.call("POST", "/v1/recall", object{"user_id": "ada", "query": c.query}, 200), c.part, c.domain)
		}
		s.storesEqual(builtin, "ada")
	})
}
