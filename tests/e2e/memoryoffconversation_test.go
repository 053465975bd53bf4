package e2e

import (
	"net/url"
	"strings"
	"testing"
)

// setConversationMemory sets how much of memory is on for a conversation of ada.
func (s *server) setConversationMemory(id, mode string) {
	s.t.Helper()
	path := "/v1/conversations/" + url.PathEscape(id) + "?user_id=ada"
	if set := s.call("PUT", path, object{"memory": mode}, 200); set.body["memory"] != mode || set.body["id"] != id {
		s.t.Errorf("set to %s: %s", mode, set.raw)
	}
}

// While memory is off for a conversation, or only read, also before its first turn, nothing new of it is kept by any
// door, and what asks for it follows the setting. The user's other conversations are not affected, nor is a
// conversation of the same id of another user. The setting ends with the conversation.
func TestMemoryOff_OfAConversation(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, append(size.settings(t), "HIPPOCAMPUS_RECALL_LOG=true")...)
		s.call("POST", "/v1/turns", off("on", "", "I am allergic to peanuts."), 200)
		for _, mode := range []string{"off", "read"} {
			id := "chat/" + mode
			s.setConversationMemory(id, mode)
			for _, asked := range []string{"on", "read", "off"} {
				said := off(asked, id, "I keep axolotls in "+mode+asked+".")
				said["id"] = mode + asked
				want, level := mode, "conversation"
				if asked == "off" || asked == mode {
					want, level = asked, "turn"
				}
				for range 2 {
					stored := s.call("POST", "/v1/turns", said, 200)
					if stored.body["status"] != "processed" || stored.body["memory"] != want ||
						stored.list("left_out")[0]["level"] != level {
						t.Errorf("%s, %s: %s", mode, asked, stored.raw)
					}
				}
			}
			s.wantRefusedInConversation(id, mode)
			asks := object{"user_id": "ada", "conversation_id": id, "query": "What is she allergic to?"}
			made := s.call("POST", "/v1/context", asks, 200)
			if strings.Contains(made.raw, "peanuts") != (mode == "read") || strings.Contains(made.raw, "axolotl") ||
				strings.Contains(made.raw, "memory is off for the conversation") != (mode == "off") {
				t.Errorf("%s: the context: %s", mode, made.raw)
			}
			found := s.call("POST", "/v1/recall", asks, 200)
			if strings.Contains(found.raw, "memory is off for the conversation") != (mode == "off") {
				t.Errorf("%s: the recall: %s", mode, found.raw)
			}
			if got := s.recalled("ada", "What is she allergic to?"); !strings.Contains(got, "peanuts") {
				t.Errorf("%s: without a conversation, recalled %q", mode, got)
			}
			theirs := turn("bob", "I work as a baker in "+mode+"ton.")
			theirs["conversation_id"] = id
			if of := s.call("POST", "/v1/turns", theirs, 200); of.body["memory"] != nil {
				t.Errorf("%s: of another user: %s", mode, of.raw)
			}
			log := s.call("GET", "/v1/conversations/"+url.PathEscape(id)+"?user_id=ada", nil, 200)
			if shown := log.body["conversation"].(map[string]any); shown["memory"] != mode ||
				strings.Count(log.raw, "axolotls") != 3 {
				t.Errorf("%s: the log: %s", mode, log.raw)
			}
		}
		s.call("POST", "/v1/turns", off("on", "other", "I work as a florist in Porto."), 200)
		all := s.call("GET", "/v1/memories?user_id=ada&limit=100", nil, 200).raw
		if strings.Contains(all, "axolotl") || !strings.Contains(all, "florist") {
			t.Errorf("the memories: %s", all)
		}
		for _, row := range s.rowsNaming("axolotl") {
			if !strings.HasPrefix(row, "turns") {
				t.Errorf("a row: %s", row)
			}
		}
		s.call("DELETE", "/v1/conversations/chat%2Foff?user_id=ada", nil, 200)
		s.setConversationMemory("chat/read", "on")
		for _, id := range []string{"chat/off", "chat/read"} {
			said := s.call("POST", "/v1/turns", off("on", id, "I play the cello in "+id+"."), 200)
			if said.body["memory"] != nil {
				t.Errorf("afterwards: %s", said.raw)
			}
		}
	})
}

// wantRefusedInConversation wants a write and an item of a batch to be refused that name a conversation of ada.
func (s *server) wantRefusedInConversation(id, mode string) {
	s.t.Helper()
	write := object{"user_id": "ada", "conversation_id": id, "content": "I keep axolotls."}
	refused := s.call("POST", "/v1/memories", write, 409)
	detail, _ := refused.body["detail"].(string)
	if !strings.Contains(detail, mode) ||
		!strings.Contains(detail, "PUT /v1/conversations/"+url.PathEscape(id)+"?user_id=ada") {
		s.t.Errorf("the write: %s", refused.raw)
	}
	other := object{"user_id": "ada", "content": "I have a bicycle for " + mode + " days."}
	batch := s.call("POST", "/v1/memories/batch", object{"memories": []object{write, other}}, 200).list("results")
	if batch[0]["error"].(map[string]any)["status"] != 409.0 || batch[1]["id"] == nil {
		s.t.Errorf("%s: the batch: %v", mode, batch)
	}
}

// The modes of conversations go with exports, where an import has what its own conversations allow, and with a user who
// is merged into another one. Hostile ids and modes are refused, and a key of one user sets the modes of that user.
func TestMemoryOff_OfAConversationIsTheUsers(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		from, to := start(t, size.settings(t)...), start(t, size.settings(t)...)
		for _, id := range []string{"kept", "lost"} {
			from.call("POST", "/v1/turns", off("on", id, "I have a cello that I call "+id+"."), 200)
		}
		from.setConversationMemory("kept", "read")
		from.setConversationMemory("not begun", "off")
		to.setConversationMemory("lost", "off")
		file := t.TempDir() + "/export.ndjson"
		if out, err := from.carry(adminKey, "export", file); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for range 2 {
			out, err := to.carry(adminKey, "import", file)
			if err == nil || !strings.Contains(out, "PUT /v1/conversations/lost") ||
				strings.Contains(out, "conversations/kept") {
				t.Errorf("the import: %v: %s", err, out)
			}
		}
		all := to.call("GET", "/v1/memories?user_id=ada", nil, 200).raw
		if !strings.Contains(all, "call kept") || strings.Contains(all, "call lost") {
			t.Errorf("the memories: %s", all)
		}
		to.call("POST", "/v1/users/ada/rename", object{"to": "ida"}, 200)
		for id, mode := range map[string]string{"kept": "read", "not begun": "off", "lost": "off"} {
			said := off("on", id, "I keep axolotls.")
			said["user_id"] = "ida"
			if stored := to.call("POST", "/v1/turns", said, 200); stored.body["memory"] != mode {
				t.Errorf("%s of the renamed user: %s", id, stored.raw)
			}
		}
		to.erase("ida")
		said := off("on", "not begun", "I play the oboe.")
		said["user_id"] = "ida"
		if stored := to.call("POST", "/v1/turns", said, 200); stored.body["memory"] != nil {
			t.Errorf("after the erasure: %s", stored.raw)
		}
		for _, mode := range []any{"OFF", "", nil, 0, []string{"off"}} {
			to.call("PUT", "/v1/conversations/c?user_id=ada", object{"memory": mode}, 400)
		}
		to.call("PUT", "/v1/conversations/c?user_id=ada", object{}, 400)
		to.call("PUT", "/v1/conversations/c", object{"memory": "off"}, 400)
		to.call("PUT", "/v1/conversations/"+strings.Repeat("c", 257)+"?user_id=ada", object{"memory": "off"}, 400)
		to.call("PUT", "/v1/conversations/%00?user_id=ada", object{"memory": "off"}, 400)
	})
}

// The setting of a conversation holds behind the proxy, and for clients of mem0 and MCP.
func TestMemoryOff_OfAConversationHoldsForOtherProtocols(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s, model := startProxy(t, size.settings(t)...)
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "The vault code is 7121."}, 201)
		s.setConversationMemory("c", "off")
		ask := func(conversation string) string {
			s.call("POST", chats, object{
				"user": "ada", "metadata": object{"conversation_id": conversation},
				"messages": []object{{"role": "user", "content": "What is the vault code? I keep axolotls in " + conversation}},
			}, 200)
			return model.got()
		}
		if got := ask("c"); !strings.Contains(got, "axolotls") || strings.Contains(got, "7121") {
			t.Errorf("the model was given %q", got)
		}
		if got := ask("d"); !strings.Contains(got, "7121") {
			t.Errorf("in another conversation, the model was given %q", got)
		}
		eventually(t, "the turns of the proxy", func() string {
			turns := s.call("GET", "/v1/turns?user_id=ada", nil, 200)
			modes := map[any]any{}
			for _, turn := range turns.list("turns") {
				modes[turn["conversation_id"]] = turn["memory"]
			}
			if len(modes) != 2 || modes["c"] != "off" || modes["d"] != nil {
				return turns.raw
			}
			return ""
		})
		said := object{"user_id": "ada", "run_id": "c", "infer": false,
			"messages": []object{{"role": "user", "content": "I keep ocelots."}}}
		if stored, err := s.try("POST", "/mem0/v1/memories/", said); err != nil || stored.status != 409 {
			t.Errorf("mem0: %v: %s", err, stored.raw)
		}
		added, err := s.callTool("add_memory", "", object{
			"content": "I keep ocelots.", "user_id": "ada", "conversation_id": "c",
		})
		if err != nil || !strings.Contains(added.raw, "PUT /v1/conversations/c") {
			t.Errorf("MCP: %v: %s", err, added.raw)
		}
		if all := s.call("GET", "/v1/memories?user_id=ada&limit=100", nil, 200).raw; strings.Contains(all, "ocelot") {
			t.Errorf("the memories: %s", all)
		}
	})
}

// A mode that is set at one of two servers of one database is obeyed by the other one at once, whatever it has cached.
func TestMemoryOff_OtherServersObeyAtOnce(t *testing.T) {
	on(t, sizes[1:], func(t *testing.T, size size) {
		settings := size.settings(t)
		one, other := start(t, settings...), start(t, settings...)
		t.Cleanup(one.stop)
		t.Cleanup(other.stop)
		said := off("on", "c", "I am allergic to peanuts.")
		one.call("POST", "/v1/turns", said, 200)
		asks := object{"user_id": "ada", "query": "What is she allergic to?"}
		inTalk := object{"user_id": "ada", "conversation_id": "c", "query": "What is she allergic to?"}
		obeyed := func(what, level, mode string) {
			t.Helper()
			about := map[string]object{"user": asks, "conversation": inTalk}[level]
			for _, path := range []string{"/v1/recall", "/v1/context"} {
				if got := other.call("POST", path, about, 200).raw; strings.Contains(got, "peanuts") != (mode != "off") {
					t.Errorf("%s is %s: %s: %s", what, mode, path, got)
				}
			}
			stored := other.call("POST", "/v1/turns", off("on", "c", "I keep axolotls in "+level+mode+"."), 200)
			if got := stored.body["memory"]; mode == "on" && got != nil || mode != "on" && got != mode {
				t.Errorf("%s is %s: the turn: %s", what, mode, stored.raw)
			}
		}
		obeyed("the user's", "user", "on") // and keeps what it has read
		for _, mode := range []string{"off", "on", "read", "off", "on"} {
			one.setMemory("ada", mode)
			obeyed("the user's", "user", mode)
		}
		for _, mode := range []string{"off", "on", "read", "off", "on"} {
			one.setConversationMemory("c", mode)
			obeyed("the conversation's", "conversation", mode)
		}
	})
}
