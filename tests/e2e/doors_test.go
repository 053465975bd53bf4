package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The same sentence gets the same domain, whether it is said in a turn, written, imported from mem0, put into the
// memory file, saved by the memory tool or sent by a client of mem0.
func TestDoors_GiveTheSameDomain(t *testing.T) {
	t.Parallel()
	s := start(t)
	doors := map[string]func(user, said string){
		"turn":  func(user, said string) { s.call("POST", "/v1/turns", turn(user, said), 200) },
		"write": func(user, said string) { s.call("POST", "/v1/memories", object{"user_id": user, "content": said}, 201) },
		"import": func(user, said string) {
			path := filepath.Join(t.TempDir(), "mem0.json")
			list, err := json.Marshal(object{"results": []object{{"id": "1", "memory": said, "user_id": user}}})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, list, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := s.carry(adminKey, "import", "--from", "mem0", path); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		},
		"file": func(user, said string) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPut,
				s.address()+"/v1/files/memory.md?user_id="+user, strings.NewReader("# Facts\n\n- "+said+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+s.key)
			request.Header.Set("Content-Type", "text/markdown")
			answer, err := httpClient.Do(request)
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Fatalf("memory.md: %v, %v", answer, err)
			}
			_ = answer.Body.Close()
		},
		"tool": func(user, said string) {
			s.call("POST", "/v1/memory-tool",
				object{"user_id": user, "command": "create", "path": "/memories/notes.md", "file_text": said}, 200)
		},
		"mem0": func(user, said string) {
			s.call("POST", "/mem0/v1/memories/", object{
				"user_id": user, "messages": []object{{"role": "user", "content": said}}, "infer": false,
			}, 200)
		},
	}
	for i, c := range []struct{ said, domain string }{
		{"I work as a marine biologist at the aquarium.", "professional_and_academic"},
		{"My sister Clara is getting married in June.", "social_and_relationships"},
		{"我每周三晚上去学游泳。", "lifestyle_and_interests"},
	} {
		for door, enter := range doors {
			user := fmt.Sprintf("%s-%d", door, i)
			enter(user, c.said)
			eventually(t, user+" in "+c.domain, func() string {
				r := s.call("GET", "/v1/memories?user_id="+user, nil, 200)
				list := r.list("memories")
				if len(list) == 0 || slices.ContainsFunc(list, func(m object) bool { return m["domain"] != c.domain }) {
					return r.raw
				}
				return ""
			})
		}
	}
}

// The option include chooses messages, facts or both, and excludes no type that the request names.
func TestRecall_IncludesMessagesOrFacts(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, said := range []string{"I adopted a greyhound last week.", "Which collar suits a greyhound?"} {
		s.call("POST", "/v1/turns", turn("ada", said), 200)
	}
	kinds := func(include any) (messages, facts int) {
		body := object{"user_id": "ada", "query": "What about the greyhound?"}
		if include != nil {
			body["include"] = include
		}
		for _, m := range s.call("POST", "/v1/recall", body, 200).list("memories") {
			if m["type"] == "message" {
				messages++
			} else {
				facts++
			}
		}
		return messages, facts
	}
	for _, c := range []struct {
		include         any
		messages, facts bool
	}{
		{nil, true, true},
		{[]string{"messages", "facts"}, true, true},
		{[]string{"messages"}, true, false},
		{[]string{"facts"}, false, true},
	} {
		if messages, facts := kinds(c.include); messages > 0 != c.messages || facts > 0 != c.facts {
			t.Errorf("include %v: %d messages and %d facts", c.include, messages, facts)
		}
	}
	for _, refused := range []object{
		{"user_id": "ada", "query": "greyhound", "include": []string{"messages"}, "types": []string{"fact"}},
		{"user_id": "ada", "query": "greyhound", "include": []string{"facts"}, "types": []string{"message"}},
		{"user_id": "ada", "query": "greyhound", "include": []string{"summaries"}},
	} {
		s.call("POST", "/v1/recall", refused, 400)
	}
}
