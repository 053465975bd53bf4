package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chat reports turns of a user and the assistant, one for each pair of contents.
func (s *server) chat(user string, contents ...string) {
	s.t.Helper()
	for pair := range slices.Chunk(contents, 2) {
		said := turn(user, pair[0])
		said["conversation_id"] = "of-" + user
		said["messages"] = append(said["messages"].([]object), object{"role": "assistant", "content": pair[1]})
		s.call("POST", "/v1/turns", said, 200)
	}
}

// statedIDs returns the ids of a user's active memories by content.
func (s *server) statedIDs(user string) map[string]string {
	s.t.Helper()
	ids := map[string]string{}
	for _, m := range s.call("GET", "/v1/memories?status=active&limit=100&user_id="+user, nil, 200).list("memories") {
		ids[m["type"].(string)+": "+m["content"].(string)] = m["id"].(string)
	}
	return ids
}

// idOf returns the id of the user's active memory whose type and content begin with a text.
func (s *server) idOf(user, beginning string) string {
	s.t.Helper()
	for content, id := range s.statedIDs(user) {
		if strings.HasPrefix(content, beginning) {
			return id
		}
	}
	s.t.Fatalf("%s has no active memory %q: %v", user, beginning, s.statedIDs(user))
	return ""
}

// effects returns what a call did to other memories, as "what was done: why".
func (r reply) effects() (effects []string) {
	for _, e := range r.list("effects") {
		effects = append(effects, fmt.Sprintf("%s: %v", e["done"], e["why"]))
	}
	slices.Sort(effects)
	return effects
}

// "Forget this" forgets a statement in all memories that state it, and one restore brings all of them back.
func TestForget_ForgetsTheStatement(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		tell := func(user string) map[string]string {
			s.chat(user,
				"I am allergic to peanuts, so no satay for me, please. My dog is called Rex.",
				"Understood: you are allergic to peanuts. Rex sounds lovely.",
				"What shall I cook tonight?", "Since you are allergic to peanuts: a risotto.")
			return s.statedIDs(user)
		}
		const question = "What am I allergic to?"
		for user, beginning := range map[string]string{"fact": "fact: I am allergic", "message": "message: I am allergic"} {
			before := tell(user)
			if got := s.recalled(user, question); strings.Count(got, "peanuts") < 2 {
				t.Fatalf("%s: recalled before: %s", user, got)
			}
			id := s.idOf(user, beginning)
			forgotten := s.call("DELETE", "/v1/memories/"+id, nil, 200)
			want := []string{"forgotten: echoes", "shortened: echoes", "shortened: source"}
			if user == "message" {
				want = []string{"forgotten: echoes", "forgotten: echoes", "forgotten: restates", "forgotten: restates"}
			}
			if diff := cmp.Diff(want, forgotten.effects()); diff != "" {
				t.Errorf("%s: effects (-want +got):\n%s", user, diff)
			}
			after := s.statedIDs(user)
			texts := []string{s.recalled(user, question), fmt.Sprint(slices.Collect(maps.Keys(after)))}
			context := s.call("POST", "/v1/context", object{"user_id": user, "query": question}, 200)
			texts = append(texts, context.body["text"].(string))
			for _, text := range texts {
				if strings.Contains(text, "peanut") {
					t.Errorf("%s: still stated: %s", user, text)
				}
			}
			if got := s.recalled(user, "What is my dog called?"); (user == "fact") != strings.Contains(got, "Rex") {
				t.Errorf("%s: of the dog is recalled %s", user, got)
			}
			if again := s.call("DELETE", "/v1/memories/"+id, nil, 200).effects(); again != nil {
				t.Errorf("%s: forgetting again did %v", user, again)
			}
			s.call("POST", "/v1/memories/"+id+"/restore", nil, 200)
			if diff := cmp.Diff(before, s.statedIDs(user)); diff != "" {
				t.Errorf("%s: after the restore (-want +got):\n%s", user, diff)
			}
			if got := s.recalled(user, question); !strings.Contains(got, "peanuts") {
				t.Errorf("%s: recalled after the restore: %s", user, got)
			}
		}
	})
}

// A client may forget one memory alone, a pinned one stays, and restoring any of the memories that were forgotten
// together brings back the rest.
func TestForget_HonoursScopeAndPins(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.chat("ada", "I live in Lisbon.", "Welcome to Lisbon, Ada!")
		before := s.statedIDs("ada")
		fact, message := s.idOf("ada", "fact:"), s.idOf("ada", "message: I live")
		if got := s.call("DELETE", "/v1/memories/"+fact+"?scope=item", nil, 200).effects(); got != nil {
			t.Errorf("forgetting the item alone did %v", got)
		}
		if got := len(s.statedIDs("ada")); got != len(before)-1 {
			t.Errorf("%d memories are left of %d", got, len(before))
		}
		s.call("POST", "/v1/memories/"+fact+"/restore", nil, 200)

		s.call("PATCH", "/v1/memories/"+message, object{"pinned": true}, 200)
		got := s.call("DELETE", "/v1/memories/"+fact, nil, 200).effects()
		if want := []string{"forgotten: echoes", "kept: source"}; !cmp.Equal(want, got) {
			t.Errorf("with a pinned message: %v, want %v", got, want)
		}
		s.call("PATCH", "/v1/memories/"+message, object{"pinned": false}, 200)
		s.call("POST", "/v1/memories/"+fact+"/restore", nil, 200)

		results := s.call("POST", "/v1/memories/forget", object{"ids": []string{fact, message}}, 200).list("results")
		if len(results) != 2 || results[0]["effects"] == nil || results[1]["effects"] != nil {
			t.Errorf("forgetting both: %v", results)
		}
		if left := s.statedIDs("ada"); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
		echo := results[0]["effects"].([]any)[0].(map[string]any)["id"].(string)
		s.call("POST", "/v1/memories/restore", object{"ids": []string{echo, message}}, 200)
		if diff := cmp.Diff(before, s.statedIDs("ada")); diff != "" {
			t.Errorf("after the restore (-want +got):\n%s", diff)
		}
		s.call("DELETE", "/v1/memories/"+fact+"?scope=everything", nil, 400)
	})
}

// No reader of the conversation's log gets a forgotten text. The restore brings it back, and it is recognised if the
// client reports it again.
func TestForget_CoversTheLog(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		chat := []string{
			"I am allergic to peanuts, so no satay for me, please. My dog is called Rex.",
			"Noted: you are allergic to peanuts! Rex sounds lovely.",
			"What shall I cook tonight?", "Since you are allergic to peanuts: a risotto.",
		}
		s.chat("ada", chat...)
		prompted := turn("ada", "And what for lunch?") // another open conversation, with a message that is no memory
		system := object{"role": "system", "content": "Be brief. The user is allergic to peanuts, no satay please."}
		prompted["conversation_id"] = "other"
		prompted["messages"] = append([]object{system}, prompted["messages"].([]object)...)
		s.call("POST", "/v1/turns", prompted, 200)
		other := func() string { return s.call("GET", "/v1/conversations/other?user_id=ada", nil, 200).raw }
		read := func() (texts []string) {
			ask := object{"user_id": "ada", "conversation_id": "of-ada"}
			texts = append(texts, s.call("POST", "/v1/context", ask, 200).body["text"].(string))
			for _, path := range []string{"", "/working"} {
				texts = append(texts, s.call("GET", "/v1/conversations/of-ada"+path+"?user_id=ada", nil, 200).raw)
			}
			listed := s.call("GET", "/v1/conversations?user_id=ada", nil, 200)
			turn := s.call("GET", "/v1/conversations/of-ada?user_id=ada", nil, 200).list("turns")[0]["id"].(string)
			return append(texts, string(listed.raw), s.call("GET", "/v1/turns/"+turn, nil, 200).raw)
		}
		before := read()
		forgotten := s.call("DELETE", "/v1/memories/"+s.idOf("ada", "fact: I am allergic"), nil, 200)
		var events []string
		for _, e := range forgotten.list("events") {
			events = append(events, fmt.Sprintf("%v %v", e["number"], e["done"]))
		}
		slices.Sort(events)
		if diff := cmp.Diff([]string{"1 shortened", "1 shortened", "2 shortened", "4 forgotten"}, events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if got := other(); strings.Contains(got, "peanut") || !strings.Contains(got, "Be brief.") {
			t.Errorf("another conversation: %s", got)
		}
		for i, text := range read() {
			if i < 4 && strings.Contains(text, "peanut") {
				t.Errorf("reader %d still has it: %s", i, text)
			}
			if !strings.Contains(text, "Rex") {
				t.Errorf("reader %d lacks the rest: %s", i, text)
			}
		}
		s.chat("ada", "Thank you for the risotto, it was good.", "You are welcome.")
		all := turn("ada", "")
		messages := []object{}
		for i, content := range append(chat, "Thank you for the risotto, it was good.", "You are welcome.", "Which wine?") {
			messages = append(messages, object{"role": []string{"user", "assistant"}[i%2], "content": content})
		}
		all["conversation_id"], all["messages"] = "of-ada", messages
		reported := s.call("POST", "/v1/turns", all, 200)
		if got := reported.body["repeated_messages"]; got != 6. {
			t.Errorf("%v messages are known, want 6", got)
		}
		if got := s.recalled("ada", "What am I allergic to?"); strings.Contains(got, "peanut") {
			t.Errorf("the report brought it back: %s", got)
		}
		s.call("POST", "/v1/memories/"+forgotten.body["id"].(string)+"/restore", nil, 200)
		if got := other(); !strings.Contains(got, "peanut") {
			t.Errorf("another conversation after the restore: %s", got)
		}
		for i, text := range read() {
			// The context has the later turn as well, and less room for the first one.
			isContext := i == 0
			got, want := strings.Count(text, "peanut"), strings.Count(before[i], "peanut")
			if got != want && !isContext || got < 2 && isContext {
				t.Errorf("reader %d after the restore: %s\nbefore: %s", i, text, before[i])
			}
		}
	})
}

// Memories are forgotten by turn, conversation and filter as well, pinned ones stay, and a deletion of a conversation
// says what becomes of its memories.
func TestForget_BySelection(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		texts := func() []string {
			texts := []string{}
			for text := range s.statedIDs("ada") {
				texts = append(texts, text)
			}
			slices.Sort(texts)
			return texts
		}
		forget := func(body object) reply {
			t.Helper()
			body["user_id"] = "ada"
			return s.call("POST", "/v1/memories/forget", body, 200)
		}
		s.chat("ada", "I live in Lisbon.", "Welcome!", "I work as a marine biologist.", "A fine job!")
		for _, hobby := range []string{"Plays chess", "Plays the oboe"} {
			write := object{"user_id": "ada", "content": hobby, "metadata": object{"kind": "hobby"}}
			s.call("POST", "/v1/memories", write, 201)
		}
		before := texts()
		turns := s.call("GET", "/v1/conversations/of-ada?user_id=ada", nil, 200).list("turns")
		second := turns[1]["id"].(string)

		s.call("PATCH", "/v1/memories/"+s.idOf("ada", "fact: Plays the oboe"), object{"pinned": true}, 200)
		hobbies := object{"filter": object{"metadata": object{"kind": "hobby"}}}
		dry := forget(object{"filter": hobbies["filter"], "dry_run": true})
		if len(dry.list("results")) != 1 || fmt.Sprint(dry.body["more"]) != "false" || len(texts()) != len(before) {
			t.Errorf("the dry run: %s", dry.raw)
		}
		done := forget(hobbies)
		if got := fmt.Sprint(done.body["pinned"]); !strings.Contains(got, s.idOf("ada", "fact: Plays the oboe")) {
			t.Errorf("pinned: %s", got)
		}
		if got := strings.Join(texts(), "\n"); strings.Contains(got, "chess") || !strings.Contains(got, "oboe") {
			t.Errorf("after the filter: %s", got)
		}
		forget(object{"turn_id": second})
		if got := strings.Join(texts(), "\n"); strings.Contains(got, "biologist") || !strings.Contains(got, "Lisbon") {
			t.Errorf("after the turn: %s", got)
		}
		ids := []string{}
		for _, one := range forget(object{"conversation_id": "of-ada"}).list("results") {
			ids = append(ids, one["id"].(string))
		}
		if got := strings.Join(texts(), "\n"); strings.Contains(got, "Lisbon") || !strings.Contains(got, "oboe") {
			t.Errorf("after the conversation: %s", got)
		}
		s.call("POST", "/v1/memories/restore", object{"ids": ids}, 200)
		if got := strings.Join(texts(), "\n"); !strings.Contains(got, "Lisbon") {
			t.Errorf("after the restore: %s", got)
		}
		kept := s.call("DELETE", "/v1/conversations/of-ada?user_id=ada&memories=forget", nil, 200)
		if n, _ := kept.body["forgotten"].(float64); n < 2 || strings.Contains(strings.Join(texts(), "\n"), "Lisbon") {
			t.Errorf("deleted with %v memories: %s", kept.body["forgotten"], texts())
		}
		s.call("GET", "/v1/conversations/of-ada?user_id=ada", nil, 404)

		for _, wrong := range []object{
			{"user_id": "ada"}, {"ids": ids, "user_id": "ada"}, {"turn_id": second}, {"user_id": "ada", "filter": 3},
		} {
			s.call("POST", "/v1/memories/forget", wrong, 400)
		}
		s.call("POST", "/v1/memories/forget", object{"user_id": "bob", "turn_id": "none"}, 404)
	})
}

// The log keeps what a pinned memory states. It lacks the whole message if the memory of the message was edited, since
// the memory's words differ from those of the log.
func TestForget_CoversTheLogOfPinnedAndEditedMemories(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		said := func(user string) string {
			log := s.call("GET", "/v1/conversations/of-"+user+"?user_id="+user, nil, 200).list("turns")
			return log[0]["messages"].([]any)[0].(map[string]any)["content"].(string)
		}
		for user, change := range map[string]object{"pinned": {"pinned": true}, "edited": {"content": "Home is Porto."}} {
			s.chat(user, "I live in Lisbon.", "What a view!")
			message, forgotten := s.idOf(user, "message: I live"), s.idOf(user, "fact:")
			s.call("PATCH", "/v1/memories/"+message, change, 200)
			want := "I live in Lisbon."
			if user == "edited" {
				forgotten, want = message, ""
			}
			s.call("DELETE", "/v1/memories/"+forgotten, nil, 200)
			if got := said(user); got != want {
				t.Errorf("%s: the log has %q, want %q", user, got, want)
			}
		}
	})
}
