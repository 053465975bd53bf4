package e2e

import (
	"strings"
	"testing"
)

// setMemory sets how much of memory is on for a user.
func (s *server) setMemory(user, mode string) {
	s.t.Helper()
	if set := s.call("PUT", "/v1/users/"+user, object{"memory": mode}, 200); set.body["memory"] != mode {
		s.t.Errorf("set to %s: %s", mode, set.raw)
	}
}

// While memory is off for a user, or only read, nothing new of the user is kept by any door, and the recalls follow the
// setting. Other users are not affected, and a turn that is reported again is the same turn.
func TestMemoryOff_OfAUser(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		known := off("on", "c", "I am allergic to peanuts.")
		known["id"] = "t-1"
		id := s.call("POST", "/v1/turns", known, 200).body["id"]
		memories := s.call("GET", "/v1/memories?user_id=ada", nil, 200).list("memories")
		s.call("POST", "/v1/turns", turn("bob", "I am allergic to shrimps."), 200)
		for _, mode := range []string{"off", "read"} {
			s.setMemory("ada", mode)
			if again := s.call("POST", "/v1/turns", known, 200); again.body["id"] != id || again.body["repeated"] != true {
				t.Errorf("%s: again: %s", mode, again.raw)
			}
			for conversation, asked := range map[string]string{"c": "on", "": "read"} {
				said := s.call("POST", "/v1/turns", off(asked, conversation, "I keep axolotls in "+mode+asked+"."), 200)
				want := mode
				level := "user"
				if asked == "read" && mode == "read" {
					level = "turn"
				}
				if said.body["status"] != "processed" || said.body["memory"] != want ||
					said.list("left_out")[0]["level"] != level {
					t.Errorf("%s, %s: %s", mode, asked, said.raw)
				}
			}
			s.wantRefusedWrites(mode, memories[0]["id"].(string))
			recall := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "What is she allergic to?"}, 200)
			context := s.call("POST", "/v1/context", object{"user_id": "ada", "query": "What is she allergic to?"}, 200)
			profile := s.call("GET", "/v1/users/ada/profile", nil, 200)
			for what, answer := range map[string]reply{"recall": recall, "context": context, "profile": profile} {
				if strings.Contains(answer.raw, "peanuts") != (mode == "read") {
					t.Errorf("%s: %s: %s", mode, what, answer.raw)
				}
			}
			if says := strings.Contains(recall.raw, "memory is off for the user"); says != (mode == "off") {
				t.Errorf("%s: the reason: %s", mode, recall.raw)
			}
		}
		if got := s.recalled("bob", "What is he allergic to?"); !strings.Contains(got, "shrimps") {
			t.Errorf("of another user, recalled %q", got)
		}
		s.setMemory("ada", "on")
		s.call("POST", "/v1/turns", turn("ada", "I work as a florist in Porto."), 200)
		all := s.call("GET", "/v1/memories?user_id=ada&limit=100", nil, 200).raw
		if strings.Contains(all, "axolotl") || !strings.Contains(all, "florist") {
			t.Errorf("the memories: %s", all)
		}
		s.setMemory("ada", "off")
		s.erase("ada")
		if after := s.call("GET", "/v1/users/ada", nil, 200); after.body["memory"] != "on" {
			t.Errorf("after the erasure: %s", after.raw)
		}
	})
}

// write is a request that would keep something new.
type write struct {
	method, path string
	body         object
}

// writesOf are writes of ada, who has a memory with an id, at each door that takes a single one.
func writesOf(id string) []write {
	return []write{
		{"POST", "/v1/memories", object{"user_id": "ada", "content": "I keep axolotls."}},
		{"PATCH", "/v1/memories/" + id, object{"content": "I keep axolotls."}},
		{"PUT", "/v1/facts", object{"user_id": "ada", "type": "profile", "key": "pet", "value": "axolotl"}},
		{"POST", "/v1/skills/feeding/outcomes", object{"user_id": "ada", "workflow": "feed the axolotl", "success": true}},
		{"POST", "/v1/memory-tool", object{
			"user_id": "ada", "command": "create", "path": "/memories/pets.md", "file_text": "I keep axolotls.",
		}},
	}
}

// wantRefusedWrites sends what would keep something new of ada, who has a memory with an id.
func (s *server) wantRefusedWrites(mode, id string) {
	s.t.Helper()
	for _, w := range writesOf(id) {
		refused := s.call(w.method, w.path, w.body, 409)
		detail, _ := refused.body["detail"].(string)
		if !strings.Contains(detail, mode) || !strings.Contains(detail, "PUT /v1/users/ada") {
			s.t.Errorf("%s %s: %s", w.method, w.path, refused.raw)
		}
	}
	axolotls := object{"user_id": "ada", "content": "I keep axolotls."}
	other := object{"user_id": "bob", "content": "I am allergic to shrimps."}
	batch := s.call("POST", "/v1/memories/batch", object{"memories": []object{axolotls, other}}, 200).list("results")
	if batch[0]["error"].(map[string]any)["status"] != 409.0 || batch[1]["id"] == nil {
		s.t.Errorf("%s: the batch: %v", mode, batch)
	}
	s.call("PATCH", "/v1/memories/"+id, object{"pinned": true}, 200)
}

// The setting goes with an export. What an export states of a user for whom memory was off before is not imported, and
// the same export is imported completely where the user is unknown.
func TestMemoryOff_OfAUserIsExported(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		from, to := start(t, size.settings(t)...), start(t, size.settings(t)...)
		from.call("POST", "/v1/memories", object{"user_id": "ada", "content": "I am allergic to peanuts."}, 201)
		to.setMemory("bob", "off")
		from.call("POST", "/v1/memories", object{"user_id": "bob", "content": "I am allergic to shrimps."}, 201)
		from.setMemory("ada", "read")
		file := t.TempDir() + "/export.ndjson"
		if out, err := from.carry(adminKey, "export", file); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for range 2 {
			out, err := to.carry(adminKey, "import", file)
			if err == nil || !strings.Contains(out, "PUT /v1/users/bob") || strings.Contains(out, "PUT /v1/users/ada") {
				t.Errorf("the import: %v: %s", err, out)
			}
		}
		if got := to.recalled("ada", "What is she allergic to?"); !strings.Contains(got, "peanuts") {
			t.Errorf("recalled %q", got)
		}
		if set := to.call("GET", "/v1/users/ada", nil, 200); set.body["memory"] != "read" {
			t.Errorf("the setting: %s", set.raw)
		}
	})
}

// The setting of a user holds behind the proxy and for clients of mem0.
func TestMemoryOff_OfAUserHoldsForOtherProtocols(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s, model := startProxy(t, size.settings(t)...)
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "The vault code is 7121."}, 201)
		s.setMemory("ada", "off")
		s.call("POST", chats, object{
			"user": "ada", "messages": []object{{"role": "user", "content": "What is the vault code? I keep axolotls."}},
		}, 200)
		if got := model.got(); !strings.Contains(got, "axolotls") || strings.Contains(got, "7121") {
			t.Errorf("the model was given %q", got)
		}
		eventually(t, "the turn of the proxy", func() string {
			turns := s.call("GET", "/v1/turns?user_id=ada", nil, 200)
			if list := turns.list("turns"); len(list) != 1 || list[0]["memory"] != "off" {
				return turns.raw
			}
			return ""
		})
		said := object{"user_id": "ada", "messages": []object{{"role": "user", "content": "I keep axolotls."}}}
		s.call("POST", "/mem0/v1/memories/", said, 200)
		said["infer"] = false
		if stored, err := s.try("POST", "/mem0/v1/memories/", said); err != nil || stored.status != 409 {
			t.Errorf("mem0 with infer false: %v: %s", err, stored.raw)
		}
		found := s.call("POST", "/mem0/v2/memories/search/", object{
			"query": "What is the vault code?", "filters": object{"AND": []object{{"user_id": "ada"}}},
		}, 200)
		if strings.Contains(found.raw, "7121") {
			t.Errorf("mem0 found %s", found.raw)
		}
		if all := s.call("GET", "/v1/memories?user_id=ada", nil, 200).raw; strings.Contains(all, "axolotl") {
			t.Errorf("the memories: %s", all)
		}
	})
}
