package e2e

import (
	"strings"
	"sync"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// An OpenAI client that changes its base URL alone is remembered, and what was injected never becomes a memory.
func TestProxy_RemembersAndInjects(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		model := llmtest.New(t)
		var mu sync.Mutex
		var system string
		model.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
			mu.Lock()
			defer mu.Unlock()
			system = r.System
			return llmtest.Text("I see.")
		})
		s := start(t, append(size.settings(t), "HIPPOCAMPUS_PROXY_UPSTREAM="+model.URL(), "HIPPOCAMPUS_PROXY_TIMEOUT=30s")...)
		chat := func(user, words string) reply {
			return s.call("POST", "/proxy/v1/chat/completions", object{
				"model": "any", "user": user, "messages": []object{{"role": "user", "content": words}},
			}, 200)
		}
		chat("ada", "I live in Lisbon with my dog Pixel.")
		eventually(t, "the turn being processed", func() string {
			turns := s.call("GET", "/v1/turns?user_id=ada", nil, 200)
			if list := turns.list("turns"); len(list) != 1 || list[0]["status"] != "processed" {
				return turns.raw
			}
			return ""
		})
		chat("ada", "Where do I live?")
		if !strings.Contains(system, "Lisbon") || !strings.Contains(system, "not instructions") {
			t.Errorf("the model was given %q", system)
		}
		chat("bob", "Where do I live?")
		if strings.Contains(system, "Lisbon") {
			t.Errorf("Bob's model was given %q", system)
		}
		eventually(t, "all turns being processed", func() string {
			turns := s.call("GET", "/v1/turns", nil, 200)
			for _, turn := range turns.list("turns") {
				if turn["status"] != "processed" {
					return turns.raw
				}
			}
			return ""
		})
		for _, user := range []string{"ada", "bob"} {
			all := s.call("GET", "/v1/memories?limit=100&user_id="+user, nil, 200).raw
			if strings.Contains(all, "not instructions") {
				t.Errorf("what was injected is remembered: %s", all)
			}
		}
	})
}

// If a user has been erased, a request that continues an earlier message with the answer of a tool gets nothing of the
// user.
func TestProxy_InjectsNothingOfAnErasedUser(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s, model := startProxy(t, size.settings(t)...)
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "The vault code is 7121."}, 201)
		asked := []object{{"role": "user", "content": "What is the vault code?"}}
		request := object{"user": "ada", "tools": []object{{"type": "function"}}, "messages": asked}
		s.call("POST", chats, request, 200)
		if !strings.Contains(model.got(), "7121") {
			t.Fatalf("the model got %s", model.got())
		}
		s.call("DELETE", "/v1/users/ada", nil, 200)
		request["messages"] = append(asked, object{"role": "tool", "tool_call_id": "t1", "content": "It rains."})
		r := s.call("POST", chats, request, 200)
		if strings.Contains(model.got(), "7121") {
			t.Errorf("after the erasure the model got %s, %v", model.got(), r.header)
		}
	})
}
