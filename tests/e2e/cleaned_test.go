package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// A text with characters that a store cannot hold is kept with U+FFFD in their place, and the answer names the text. An
// id or a name with such a character is refused.
func TestTexts_AreCleanedAtEveryDoor(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for name, broken := range map[string]string{"NUL": `\u0000`, "half a pair": `\ud83d`, "a byte": "\xff"} {
			user := "ada-" + strings.ReplaceAll(name, " ", "-")
			fill := strings.NewReplacer("~", broken, "USER", user).Replace
			send := func(method, path, format string, status int) reply {
				t.Helper()
				return s.call(method, fill(path), fill(format), status)
			}
			isCleaned := func(answer object, paths ...string) {
				t.Helper()
				list := listOf(answer["cleaned"])
				if len(list) != len(paths) {
					t.Fatalf("%s: cleaned is %v, want %q", name, list, paths)
				}
				for i, path := range paths {
					if list[i]["path"] != path || list[i]["count"] != 1.0 {
						t.Errorf("%s: cleaned is %v, want %q", name, list, paths)
					}
				}
			}
			talk := send("POST", "/v1/turns", `{"user_id":"USER","conversation_id":"c-USER","wait":true,
				"messages":[{"role":"user","content":"I live in Oslo~ now."}],"metadata":{"a":"~"}}`, 200)
			isCleaned(talk.body, "messages[0].content", "metadata.a")
			if log := s.call("GET", "/v1/conversations/c-"+user, nil, 200); !strings.Contains(log.raw, "Oslo\uFFFD now.") {
				t.Errorf("%s: the conversation is %s", name, log.raw)
			}
			if !s.contentsOf(user, "")["I live in Oslo\uFFFD now."] {
				t.Errorf("%s: the memories of the turn are %v", name, s.contentsOf(user, ""))
			}
			written := send("POST", "/v1/memories", `{"user_id":"USER","content":"Plays~ chess.","tags":["x~"]}`, 201)
			isCleaned(written.body, "content", "tags[0]")
			batch := send("POST", "/v1/memories/batch",
				`{"memories":[{"user_id":"USER","content":"Sings."},{"user_id":"USER","content":"Likes~ tea."}]}`, 200)
			isCleaned(batch.list("results")[0])
			isCleaned(batch.list("results")[1], "content")
			changed := send("PATCH", "/v1/memories/"+written.body["id"].(string), `{"content":"Plays~ Go."}`, 200)
			isCleaned(changed.body, "content")
			if changed.body["content"] != "Plays\uFFFD Go." {
				t.Errorf("%s: the changed memory is %s", name, changed.raw)
			}
			isCleaned(send("PUT", "/v1/facts",
				`{"user_id":"USER","type":"home","key":"city","value":"Oslo~"}`, 200).body, "value")
			isCleaned(send("POST", "/v1/instructions",
				`{"scope":"user","user_id":"USER","name":"n","content":"Be brief~."}`, 201).body, "content")
			isCleaned(send("POST", "/v1/memory-tool", `{"user_id":"USER","command":"create",
				"path":"/memories/a.md","file_text":"Has a boat~."}`, 200).body, "file_text")
			titled := send("PATCH", "/v1/conversations/c-USER", `{"title":"Oslo~"}`, 200)
			if titled.body["title"] != "Oslo\uFFFD" {
				t.Errorf("%s: the conversation is %s", name, titled.raw)
			}
			send("POST", "/v1/recall", `{"user_id":"USER","query":"Where~ do I live?"}`, 200)
			send("POST", "/v1/context", `{"user_id":"USER","query":"Where do I live~?","present":["~"]}`, 200)
			isCleaned(send("POST", "/mem0/v3/memories/add/",
				`{"user_id":"USER","messages":[{"role":"user","content":"I own a kayak~."}],"infer":false}`, 200).body,
				"messages[0].content")
			if status := s.sendAs("POST", "/mcp", fill(
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_memory",`+
					`"arguments":{"user_id":"USER","content":"I own a drum~."}}}`)); status != http.StatusOK {
				t.Errorf("%s: MCP answers %d", name, status)
			}
			for _, want := range []string{
				"Likes\uFFFD tea.", "Has a boat\uFFFD.", "I own a kayak\uFFFD.", "I own a drum\uFFFD.",
			} {
				if !s.contentsOf(user, "")[want] {
					t.Errorf("%s: no memory is %q", name, want)
				}
			}
			for what, body := range map[string]string{
				"user_id":           `{"user_id":"~","content":"x"}`,
				"agent_id":          `{"user_id":"USER","agent_id":"~","content":"x"}`,
				"a key of metadata": `{"user_id":"USER","content":"x","metadata":{"~":1}}`,
			} {
				if r := send("POST", "/v1/memories", body, 400); r.list("errors") == nil {
					t.Errorf("%s in %s: %s", name, what, r.raw)
				}
			}
			send("POST", "/v1/turns", `{"user_id":"USER","messages":[{"role":"user","content":"x","name":"~"}]}`, 400)
		}
	})
}
