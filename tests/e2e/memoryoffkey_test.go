package e2e

import (
	"strings"
	"testing"
)

// Requests with a key for which memory is off, or only read, keep nothing by any door, and recall as the mode says.
// Turns are stored without becoming memories, and writes are refused. Other keys are not affected, and the mode of a
// key makes no turn that is sent again with another key a conflict.
func TestMemoryOff_OfAKey(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s, model := startProxy(t, size.settings(t)...)
		whole := s.key
		s.call("POST", "/v1/turns", turn("ada", "I am allergic to peanuts."), 200)
		id := s.call("GET", "/v1/memories?user_id=ada", nil, 200).list("memories")[0]["id"].(string)
		known := off("on", "c", "I play the cello.")
		known["id"] = "t-1"
		s.call("POST", "/v1/turns", known, 200)
		for _, mode := range []string{"off", "read"} {
			s.key = s.createKey("--role", "admin", "--memory", mode)
			if shown := s.call("GET", "/v1/key", nil, 200); shown.body["memory"] != mode {
				t.Errorf("the key: %s", shown.raw)
			}
			again := s.call("POST", "/v1/turns", known, 200)
			if again.body["repeated"] != true || again.body["memory"] != nil {
				t.Errorf("%s: sent again: %s", mode, again.raw)
			}
			for _, conversation := range []string{"", "c"} {
				said := s.call("POST", "/v1/turns", off("on", conversation, "I keep axolotls in "+mode+"."), 200)
				if said.body["status"] != "processed" || said.body["memory"] != mode ||
					said.list("left_out")[0]["level"] != "key" {
					t.Errorf("%s: %s", mode, said.raw)
				}
			}
			s.wantForbiddenWrites(mode, id)
			asks := object{"user_id": "ada", "query": "What is she allergic to?"}
			for what, answer := range map[string]reply{
				"recall": s.call("POST", "/v1/recall", asks, 200), "context": s.call("POST", "/v1/context", asks, 200),
				"profile": s.call("GET", "/v1/users/ada/profile", nil, 200),
			} {
				if strings.Contains(answer.raw, "peanuts") != (mode == "read") {
					t.Errorf("%s: %s: %s", mode, what, answer.raw)
				}
			}
			asking := off("on", "", "What am I allergic to?")
			asking["return"] = "context"
			if made := s.call("POST", "/v1/turns", asking, 200); strings.Contains(made.raw, "peanuts") != (mode == "read") {
				t.Errorf("%s: with the turn: %s", mode, made.raw)
			}
			s.call("POST", chats, object{
				"user": "ada", "messages": []object{{"role": "user", "content": "I keep axolotls. What am I allergic to?"}},
			}, 200)
			if got := model.got(); strings.Contains(got, "peanuts") != (mode == "read") {
				t.Errorf("%s: behind the proxy: %q", mode, got)
			}
			found, err := s.askMCP("", object{"query": "What is she allergic to?", "user_id": "ada"})
			if err != nil || strings.Contains(found.raw, "peanuts") != (mode == "read") {
				t.Errorf("%s: MCP: %v: %s", mode, err, found.raw)
			}
			s.key = whole
			listed := s.call("GET", "/v1/admin/keys", nil, 200).list("keys")
			if listed[0]["memory"] != mode || listed[len(listed)-1]["memory"] != "on" {
				t.Errorf("the keys: %v", listed)
			}
		}
		if got := s.recalled("ada", "What is she allergic to?"); !strings.Contains(got, "peanuts") {
			t.Errorf("with another key, recalled %q", got)
		}
		if all := s.call("GET", "/v1/memories?user_id=ada&limit=100", nil, 200).raw; strings.Contains(all, "axolotl") {
			t.Errorf("the memories: %s", all)
		}
		made := s.call("POST", "/v1/admin/keys", object{"role": "read", "memory": "read"}, 201)
		if made.body["memory"] != "read" {
			t.Errorf("the key: %s", made.raw)
		}
		for _, mode := range []any{"OFF", "", nil, 1, []string{"off"}} {
			s.call("POST", "/v1/admin/keys", object{"role": "read", "memory": mode}, 400)
		}
	})
}

// wantForbiddenWrites sends what would keep something new of ada, who has a memory with an id.
func (s *server) wantForbiddenWrites(mode, id string) {
	s.t.Helper()
	promotion := write{"POST", "/v1/candidates/promote", object{"user_id": "ada", "min_importance": 0}}
	for _, w := range append(writesOf(id), promotion) {
		refused := s.call(w.method, w.path, w.body, 403)
		if detail, _ := refused.body["detail"].(string); !strings.Contains(detail, mode) ||
			!strings.Contains(detail, "key") {
			s.t.Errorf("%s %s: %s", w.method, w.path, refused.raw)
		}
	}
	axolotls := object{"user_id": "ada", "content": "I keep axolotls."}
	batch := s.call("POST", "/v1/memories/batch", object{"memories": []object{axolotls}}, 200).list("results")
	if batch[0]["error"].(map[string]any)["status"] != 403.0 {
		s.t.Errorf("%s: the batch: %v", mode, batch)
	}
	file := s.t.TempDir() + "/export.ndjson"
	if out, err := s.carry(s.key, "export", file); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	if out, err := s.carry(s.key, "import", file); err == nil || !strings.Contains(out, "key") {
		s.t.Errorf("%s: the import: %v: %s", mode, err, out)
	}
	s.call("PATCH", "/v1/memories/"+id, object{"pinned": true}, 200)
}
