package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// identified returns messages of the user and the assistant in turns, each with an id of its number.
func identified(from int, contents ...string) (messages []object) {
	for i, content := range contents {
		role := []string{"user", "assistant"}[(from+i)%2]
		messages = append(messages, object{"id": fmt.Sprint("m", from+i), "role": role, "content": content})
	}
	return messages
}

// A client sets ids of its messages. Each id is one event, whatever part of the chat is reported to any of several
// servers, and its words do not matter.
func TestMessageIDs_DecideWhatIsOneEvent(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		settings := size.settings(t)
		servers := []*server{start(t, settings...)}
		if size.name != "sqlite" {
			servers = append(servers, start(t, settings...))
		}
		s := servers[0]
		report := func(s *server, more object, messages []object, statuses ...int) reply {
			body := object{"user_id": "ada", "conversation_id": "c", "messages": messages}
			for key, value := range more {
				body[key] = value
			}
			return s.call("POST", "/v1/turns", body, statuses...)
		}
		chat := identified(0, "I keep bees in Ghent.", "How many hives?", "Nine.", "A lot.", "Nine.", "You said so.")
		var reports sync.WaitGroup
		for from := range 5 {
			for _, s := range servers {
				reports.Go(func() { report(s, nil, chat[from:from+2], 200, 202) })
			}
		}
		reports.Wait()
		events := map[string]int{}
		for _, turn := range s.call("GET", "/v1/conversations/c?user_id=ada", nil, 200).list("turns") {
			for _, m := range turn["messages"].([]any) {
				events[m.(map[string]any)["id"].(string)]++
			}
		}
		for i := range chat {
			if n := events[fmt.Sprint("m", i)]; n != 1 || len(events) != len(chat) {
				t.Errorf("message %d is %d events of %v", i, n, events)
			}
		}
		working := s.call("GET", "/v1/conversations/c/working?user_id=ada", nil, 200).raw
		if !strings.Contains(working, `"message_id":"m5"`) {
			t.Errorf("the working memory: %s", working)
		}

		edited := identified(6, "My cat is called Rex.", "Rex is a fine name.")
		first := report(s, object{"id": "first", "wait": true}, edited, 200).body["id"].(string)
		edited[0]["content"] = "My cat is called Max."
		edited[1]["content"] = "Max is a fine name."
		if got := report(s, nil, edited, 409); !strings.Contains(got.raw, first) {
			t.Errorf("an edited message: %s", got.raw)
		}
		for try := range 2 { // the second is a retry
			replaced := report(s, object{"id": "second", "replaces": "first", "wait": true}, edited, 200)
			if got := replaced.body["repeated"] == true; got != (try == 1) {
				t.Errorf("try %d: %s", try, replaced.raw)
			}
		}
		if got := s.recalled("ada", "What is my cat called?"); strings.Contains(got, "Rex") || !strings.Contains(got, "Max") {
			t.Errorf("recalled after the edit: %s", got)
		}
		twice := identified(8, "Hello", "Hello")
		twice[1]["id"] = twice[0]["id"]
		report(s, nil, twice, 400)
		report(s, nil, []object{{"id": nil, "role": "user", "content": "Nobody has numbered this."}}, 200, 202)

		exported := s.call("GET", "/v1/export?user_id=ada", nil, 200).raw
		receipt := s.call("DELETE", "/v1/users/ada", nil, 200).body
		if receipt["verified"] != true {
			t.Errorf("the erasure: %v", receipt)
		}
		fresh := start(t, size.settings(t)...)
		fresh.call("POST", "/v1/import", exported, 200)
		if got := report(fresh, nil, chat, 200).body; got["repeated_messages"] != float64(len(chat)) {
			t.Errorf("reported again after an import: %v", got)
		}
		if got := report(s, nil, chat, 200, 202).body; got["repeated"] == true {
			t.Errorf("reported again after the erasure: %v", got)
		}
	})
}
