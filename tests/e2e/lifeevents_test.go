package e2e

import (
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// What a user said in a turn is found again by the deep reflection on the conversation, in other words. The user's
// memories hold one life event once, and only the later of two homes.
func TestDeepReflection_RemembersALifeEventOnce(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		const (
			lived = "The user lives in Lisbon."
			told  = "The user's beagle Bruno died in March."
			found = "Bruno, the beagle of the user, died in March."
			moved = "The user moved to Porto."
		)
		models := llmtest.New(t)
		models.Facts("Bruno died", llmtest.Fact{Fact: told, Importance: 0.8, Domain: memory.Domains[0]})
		models.OnPrompt("hippocampus/replay", func(llmtest.ChatRequest) llmtest.Reply {
			return llmtest.Text(`{"summary":"Bruno died, and the user moved to Porto."}`)
		})
		models.OnPrompt("hippocampus/deep", func(llmtest.ChatRequest) llmtest.Reply {
			return answer(object{"facts": []object{
				{"type": "profile", "key": "pet_status", "value": "died in March", "text": found, "confidence": 0.9},
				{"type": "profile", "key": "home_city", "value": "Porto", "text": moved, "confidence": 0.9},
			}})
		})
		models.OnPrompt("hippocampus/judge", func(r llmtest.ChatRequest) llmtest.Reply {
			return judgedBy(r, map[string]string{moved: lived}, map[string]string{found: told})
		})
		s := start(t, append(size.settings(t), withModels(models)...)...)
		home := s.call("POST", "/v1/memories",
			object{"user_id": "ada", "content": lived}, 201).body["id"].(string)
		for _, said := range []string{"Bruno died in March, our beagle.", "I moved to Porto.", "It is quiet here."} {
			s.call("POST", "/v1/turns", object{"user_id": "ada", "conversation_id": "news", "wait": true,
				"messages": []object{{"role": "user", "content": said}}}, 200)
		}
		s.call("POST", "/v1/conversations/news/end", object{"user_id": "ada", "wait": true}, 200)

		m := s.call("GET", "/v1/memories/"+home, nil, 200).body
		if m["status"] != "superseded" {
			t.Errorf("the former home is %v", m)
		}
		var events []string
		for _, f := range s.call("GET", "/v1/memories?user_id=ada&status=active&type=fact", nil, 200).list("memories") {
			events = append(events, f["content"].(string))
			if fact, ok := f["metadata"].(map[string]any)["fact"].(map[string]any); !ok || fact["confidence"] != 0.9 {
				t.Errorf("%s does not state the fact of its timeline: %v", f["content"], f["metadata"])
			}
		}
		if len(events) != 2 {
			t.Errorf("the active facts are %q", events)
		}
		s.storesEqual(scripted, "ada")
	})
}

// Without a model, a fact of a timeline and a statement of the same single attribute supersede each other, and the
// superseded memory can be restored.
func TestFacts_SupersedeStatementsWithoutAModel(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		write := func(content string) string {
			return s.call("POST", "/v1/memories",
				object{"user_id": "ada", "content": content, "dedup": true}, 201).body["id"].(string)
		}
		old := write("I live in Lisbon.")
		fact := s.call("PUT", "/v1/facts",
			object{"user_id": "ada", "type": "profile", "key": "home_city", "value": "Porto"}, 200).body
		stated := fact["fact"].(map[string]any)["memory_id"].(string)
		if m := s.call("GET", "/v1/memories/"+old, nil, 200).body; m["superseded_by"] != stated {
			t.Errorf("the statement of before is %v", m)
		}
		latest := write("I live in Faro now.")
		if m := s.call("GET", "/v1/memories/"+stated, nil, 200).body; m["superseded_by"] != latest {
			t.Errorf("the memory of the fact is %v", m)
		}
		if m := s.call("POST", "/v1/memories/"+old+"/restore", nil, 200).body; m["status"] != "active" {
			t.Errorf("the restored statement is %v", m)
		}
	})
}
