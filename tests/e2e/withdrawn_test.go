package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/llm/llmtest"
)

// report reports messages of a conversation, the user's and the assistant's in turn, with an id of the client.
func (s *server) report(id string, more object, contents ...string) reply {
	s.t.Helper()
	said := object{"id": id, "user_id": "ada", "conversation_id": "of-ada", "wait": true}
	var messages []object
	for i, content := range contents {
		messages = append(messages, object{"role": []string{"user", "assistant"}[i%2], "content": content})
	}
	said["messages"] = messages
	for key, value := range more {
		said[key] = value
	}
	return s.call("POST", "/v1/turns", said, 200, 202)
}

// readers returns what each reader of the conversation gets.
func (s *server) readers(query string) map[string]string {
	s.t.Helper()
	ask := object{"user_id": "ada", "conversation_id": "of-ada", "query": query}
	return map[string]string{
		"recall":       s.recalled("ada", query),
		"context":      s.call("POST", "/v1/context", ask, 200).body["text"].(string),
		"conversation": s.call("GET", "/v1/conversations/of-ada?user_id=ada", nil, 200).raw,
		"working":      s.call("GET", "/v1/conversations/of-ada/working?user_id=ada", nil, 200).raw,
		"list":         s.call("GET", "/v1/memories?status=active&limit=100&user_id=ada", nil, 200).raw,
	}
}

// A client takes back what a user has edited or deleted: it is not recalled, what it superseded is valid again, and the
// user can say it again.
func TestWithdraw_TakesBackATurn(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		chat := []string{"I live in Utrecht.", "It has fine canals."}
		s.report("t1", nil, chat...)
		before := s.statedIDs("ada")
		s.report("t2", nil, "I live in Groningen now.", "Groningen it is, then.")
		s.report("t3", nil, "How do I get to work?", "Since you live in Groningen now, take the train.")
		if got := s.recalled("ada", "Where do I live?"); strings.Contains(got, "Utrecht") {
			t.Fatalf("recalled before: %s", got)
		}
		fact := s.idOf("ada", "fact: I live in Groningen")

		done := s.call("DELETE", "/v1/turns/t2", nil, 200)
		if done.body["status"] != "withdrawn" || done.body["withdrawn_at"] == nil {
			t.Errorf("the answer: %s", done.raw)
		}
		want := []string{"forgotten: echoes", "forgotten: said", "forgotten: said", "restored: replaced"}
		if diff := cmp.Diff(want, done.effects()); diff != "" {
			t.Errorf("effects (-want +got):\n%s", diff)
		}
		for reader, text := range s.readers("Where do I live?") {
			if strings.Contains(text, "Groningen") || !strings.Contains(text, "Utrecht") {
				t.Errorf("%s: %s", reader, text)
			}
		}
		after := s.statedIDs("ada")
		for content, id := range before {
			if after[content] != id {
				t.Errorf("%q is not what it was: %v", content, after)
			}
		}

		again := s.call("DELETE", "/v1/turns/"+done.body["id"].(string), nil, 200)
		if len(again.effects()) != 0 || again.body["withdrawn_at"] != done.body["withdrawn_at"] {
			t.Errorf("withdrawn again: %s", again.raw)
		}
		for _, refused := range []struct{ method, path string }{
			{"POST", "/v1/turns/t2/replay"}, {"POST", "/v1/memories/" + fact + "/restore"},
			{"POST", "/v1/memories/" + fact + "/restore?scope=item"},
		} {
			if got := s.call(refused.method, refused.path, nil, 409); !strings.Contains(got.raw, "withdrawn") {
				t.Errorf("%s: %s", refused.path, got.raw)
			}
		}
		s.call("DELETE", "/v1/turns/t9", nil, 404)
		if got := s.call("GET", "/v1/turns/t2", nil, 200); strings.Contains(got.raw, "it is, then") {
			t.Errorf("the turn: %s", got.raw)
		}

		chat = append(chat, "How do I get to work?", "Take the train.", "I live in Groningen now.")
		if got := s.report("t4", nil, chat...).body; got["status"] != "processed" {
			t.Errorf("said again: %v", got)
		}
		got := s.recalled("ada", "Where do I live?")
		if strings.Contains(got, "Utrecht") || !strings.Contains(got, "Groningen") {
			t.Errorf("recalled after it was said again: %s", got)
		}
	})
}

// One request puts an edited message in the place of the earlier one, even if the client reports its whole list, and an
// answer can be generated again.
func TestWithdraw_ReplacesATurn(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.report("t1", nil, "I live in Utrecht.", "It has fine canals.")
		s.report("t2", nil, "I work as a nurse in Groningen.", "Nursing in Groningen is demanding.")
		list := []string{
			"I live in Utrecht.", "It has fine canals.", "I work as a midwife in Zwolle.", "Midwives are needed.",
		}
		for try := range 2 { // the second is a retry
			edited := s.report("t3", object{"replaces": "t2"}, list...).body
			if edited["status"] != "processed" || edited["first_event"] != 5.0 || (edited["repeated"] == true) != (try == 1) {
				t.Errorf("try %d: %v", try, edited)
			}
		}
		for reader, text := range s.readers("What is my work?") {
			if strings.Contains(text, "nurse") || strings.Contains(text, "Groningen") || !strings.Contains(text, "midwife") {
				t.Errorf("%s: %s", reader, text)
			}
		}
		if got := s.call("GET", "/v1/turns/t2", nil, 200).body["status"]; got != "withdrawn" {
			t.Errorf("the replaced turn is %v", got)
		}

		list[3] = "A midwife in Zwolle: how rewarding."
		if got := s.report("t4", object{"replaces": "t3"}, list...).body; got["first_event"] != 7.0 {
			t.Errorf("the answer that was generated again: %v", got)
		}
		for try := range 12 { // more events than the server looks at first are withdrawn
			id, replaced := fmt.Sprint("r", try), object{"replaces": fmt.Sprint("r", try-1)}
			if try == 0 {
				replaced = object{"replaces": "t4"}
			}
			if got := s.report(id, replaced, list...).body; got["repeated_messages"] != 2.0 {
				t.Fatalf("try %d: %v", try, got)
			}
		}
		if got := s.recalled("ada", "Where do I live?"); strings.Count(got, "Utrecht") != 1 {
			t.Errorf("recalled: %s", got)
		}

		titled := func(want string) {
			t.Helper()
			c := s.call("GET", "/v1/conversations/titled?user_id=ada", nil, 200).body["conversation"].(map[string]any)
			if c["title"] != want {
				t.Errorf("the conversation is called %q, want %q", c["title"], want)
			}
		}
		in := object{"conversation_id": "titled"}
		s.report("title-1", in, "I collect stamps.")
		s.report("title-2", object{"conversation_id": "titled", "replaces": "title-1"}, "I collect coins.")
		titled("I collect coins.")
		s.report("title-3", in, "I collect maps.")
		s.call("DELETE", "/v1/turns/title-2", nil, 200)
		titled("I collect maps.")

		s.call("POST", "/v1/turns", object{
			"user_id": "bob", "conversation_id": "of-ada", "replaces": "r11", "messages": turn("bob", "Hello")["messages"],
		}, 404)
		for replaced, status := range map[string]int{"unknown": 404, "t9": 404} {
			refused := turn("ada", "I like tea.")
			refused["conversation_id"], refused["replaces"], refused["id"] = "of-ada", replaced, "refused"
			s.call("POST", "/v1/turns", refused, status)
		}
		elsewhere := turn("ada", "I like tea.")
		elsewhere["conversation_id"], elsewhere["replaces"] = "another", "r11"
		s.call("POST", "/v1/turns", elsewhere, 400)
	})
}

// A statement of two turns stays when one of them is withdrawn. A memory in the middle of a chain of supersessions is
// taken out of the chain.
func TestWithdraw_KeepsWhatOthersState(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.report("t1", nil, "I live in Lisbon.", "Lovely.")
		s.report("t2", nil, "What is the weather like?", "Sunny, as you live in Lisbon.")
		s.report("t3", nil, "I live in Lisbon.", "So you said.")
		if got := s.call("DELETE", "/v1/turns/t1", nil, 200).effects(); !cmp.Equal(got, []string{"forgotten: said"}) {
			t.Errorf("withdrawing one of two: %v", got)
		}
		if got := s.recalled("ada", "Where do I live?"); !strings.Contains(got, "Lisbon") {
			t.Errorf("recalled after one was withdrawn: %s", got)
		}
		s.idOf("ada", "fact: I live in Lisbon")
		s.call("DELETE", "/v1/turns/t3", nil, 200)
		if left := s.statedIDs("ada"); strings.Contains(fmt.Sprint(left), "Lisbon") {
			t.Errorf("left: %v", left)
		}

		homes := []string{"Utrecht", "Groningen", "Zwolle"}
		for i, home := range homes {
			said := turn("bob", "I live in "+home+" now.")
			said["id"], said["at"] = "home-"+home, fmt.Sprintf("2026-01-0%dT10:00:00Z", i+1)
			s.call("POST", "/v1/turns", said, 200)
		}
		live := func(what, want string) {
			t.Helper()
			got := s.recalled("bob", "Where do I live?")
			for _, home := range homes {
				if strings.Contains(got, home) != (home == want) {
					t.Errorf("%s: %s, want %s", what, got, want)
				}
			}
		}
		live("at first", "Zwolle")
		s.call("DELETE", "/v1/turns/home-Groningen", nil, 200)
		live("without the second", "Zwolle")
		s.call("DELETE", "/v1/turns/home-Zwolle", nil, 200)
		live("without the second and the third", "Utrecht")
	})
}

// A turn that waits for the model is not processed once it is withdrawn, and its candidates are not promoted.
func TestWithdraw_CoversWhatIsNotProcessed(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		models.Facts("harbour", llmtest.Fact{Fact: "The user likes the harbour", Importance: 0.1})
		s := start(t, append(size.settings(t), withModels(models)...)...)
		turn := s.report("low", nil, "I rather like the harbour in Bergen.", "It is fine.").body
		candidate := s.call("GET", "/v1/candidates?user_id=ada", nil, 200).list("candidates")[0]["id"].(string)
		s.call("DELETE", "/v1/turns/low", nil, 200)
		promoted := s.call("POST", "/v1/candidates/promote", object{"ids": []string{candidate}}, 200)
		if !strings.Contains(promoted.raw, "was withdrawn") {
			t.Errorf("promoted a candidate of turn %s: %s", turn["id"], promoted.raw)
		}

		models.SetDown(true)
		s.report("waits", object{"wait": false}, "My boat is called Perseverance.", "A fine name.")
		if got := s.call("DELETE", "/v1/turns/waits", nil, 200).body["status"]; got != "withdrawn" {
			t.Errorf("the waiting turn is %v", got)
		}
		models.SetDown(false)
		s.report("next", nil, "My horse is called Bucephalus.", "After Alexander's, I take it.")
		left := fmt.Sprint(s.statedIDs("ada"))
		if strings.Contains(left, "Perseverance") || strings.Contains(left, "harbour") {
			t.Errorf("left: %s", left)
		}
	})
}
