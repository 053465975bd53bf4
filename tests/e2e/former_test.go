package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// A statement that has stopped being true is not recalled, regardless of the way and the order in which the statements
// were made: neither its fact nor the message that the fact was taken from. A query for the past finds it.
func TestFormer_StatementsDoNotAnswer(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		say := func(user, at, content string) {
			said := turn(user, content)
			said["at"] = at
			s.call("POST", "/v1/turns", said, 200)
		}
		const before, later = "2026-01-03T10:00:00Z", "2026-02-03T10:00:00Z"
		doors := map[string]func(user string){
			"turn":    func(user string) { say(user, later, "I live in Groningen now.") },
			"earlier": func(user string) {}, // what is true now was said first
			"write": func(user string) {
				s.call("POST", "/v1/memories", object{"user_id": user, "content": "I live in Groningen now."}, 201)
			},
			"deduplicated": func(user string) {
				s.call("POST", "/v1/memories",
					object{"user_id": user, "content": "I live in Groningen now.", "dedup": true}, 201)
			},
			"fact": func(user string) {
				s.call("PUT", "/v1/facts",
					object{"user_id": user, "type": "profile", "key": "home_city", "value": "Groningen"}, 200)
			},
			"edit": func(user string) {
				s.call("PATCH", "/v1/memories/"+s.idOf(user, "fact: I live in Utrecht"),
					object{"content": "I live in Groningen now."}, 200)
			},
		}
		for user, tell := range doors {
			if user == "earlier" {
				say(user, later, "I live in Groningen now.")
			}
			say(user, before, "I live in Utrecht.")
			tell(user)
			if got := s.recalled(user, "Where do I live?"); strings.Contains(got, "Utrecht") ||
				!strings.Contains(got, "Groningen") {
				t.Errorf("%s: where the user lives: %s", user, got)
			}
			if got := s.recalled(user, "Where did I live before?"); !strings.Contains(got, "Utrecht") {
				t.Errorf("%s: where the user lived before: %s", user, got)
			}
			context := s.call("POST", "/v1/context", object{"user_id": user, "query": "Where do I live?"}, 200)
			if text := context.body["text"].(string); strings.Contains(text, "Utrecht") {
				t.Errorf("%s: the context has the former home: %s", user, text)
			}
			old := s.call("GET", "/v1/memories?status=superseded&user_id="+user, nil, 200).list("memories")
			if len(old) != 1 {
				t.Fatalf("%s: %v are superseded", user, old)
			}
			s.call("POST", "/v1/memories/"+old[0]["id"].(string)+"/restore", nil, 200)
			if got := s.recalled(user, "Where do I live?"); !strings.Contains(got, "Utrecht") {
				t.Errorf("%s: the restored home is not recalled: %s", user, got)
			}
		}
	})
}

// A former statement stays former when its successor is forgotten, with or without the successor's message. A restore
// of the successor leads to the same answers as before.
func TestFormer_StaysWhenItsSuccessorIsForgotten(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for scope, left := range map[string]string{"statement": "", "item": "I live in Groningen now."} {
			for i, content := range []string{"I live in Utrecht.", "I live in Groningen now.", "My cat is called Tom."} {
				said := turn(scope, content)
				said["at"] = fmt.Sprintf("2026-01-0%dT10:00:00Z", i+1)
				s.call("POST", "/v1/turns", said, 200)
			}
			before := s.recalled(scope, "Where do I live?")
			fact := s.idOf(scope, "fact: I live in Groningen")
			s.call("DELETE", "/v1/memories/"+fact+"?scope="+scope, nil, 200)
			got := s.recalled(scope, "Where do I live?")
			isLeft := strings.Contains(got, "Groningen")
			if strings.Contains(got, "Utrecht") || isLeft != (left != "") || !strings.Contains(got, left) {
				t.Errorf("%s: recalled after the successor was forgotten: %s", scope, got)
			}
			explained := s.call("POST", "/v1/recall",
				object{"user_id": scope, "query": "Where do I live?", "explain": true}, 200).raw
			if !strings.Contains(explained, `"former"`) {
				t.Errorf("%s: not explained: %s", scope, explained)
			}
			if got := s.recalled(scope, "Where did I live before?"); !strings.Contains(got, "Utrecht") {
				t.Errorf("%s: where the user lived before: %s", scope, got)
			}
			s.call("POST", "/v1/memories/"+fact+"/restore", nil, 200)
			if got := s.recalled(scope, "Where do I live?"); got != before {
				t.Errorf("%s: recalled after the restore: %s, want %s", scope, got, before)
			}
		}
	})
}

// recalled returns the contents of what a query recalls.
func (s *server) recalled(user, query string) string {
	s.t.Helper()
	var contents []string
	for _, m := range s.call("POST", "/v1/recall", object{"user_id": user, "query": query}, 200).list("memories") {
		contents = append(contents, m["content"].(string))
	}
	return strings.Join(contents, "\n")
}

// Without a model, a statement that the user has ended or reversed is not recalled.
func TestFormer_EndedStatementsDoNotAnswer(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for user, said := range map[string]struct{ before, later, query string }{
			"ada":  {"I love jazz.", "I hate jazz now.", "What does she think of jazz?"},
			"bo":   {"I smoke about ten cigarettes a day.", "I quit smoking in January.", "Does he smoke?"},
			"cleo": {"My favourite colour is blue.", "My favourite colour is green.", "What is her favourite colour?"},
			"dan":  {"I play the trumpet in a brass band.", "I don't play the trumpet any more.", "Does he play the trumpet?"},
			"eve":  {"I have a gym membership at FitPark.", "I cancelled my gym membership.", "Does she go to the gym?"},
			"fay":  {"I work for Maersk.", "I no longer work for Maersk.", "Does she work for Maersk?"},
			"gus":  {"I volunteer at the food bank.", "I used to volunteer at the food bank.", "Does he volunteer?"},
			"hao":  {"我在华为上班，做测试。", "我已经从华为离职了。", "他在华为上班吗？"},
			"jun":  {"我每天抽一包烟。", "我戒烟了。", "他抽烟吗？"},
			"lin":  {"我每个周末都打网球。", "我现在不打网球了。", "他打网球吗？"},
		} {
			s.call("POST", "/v1/turns", turn(user, said.before), 200)
			s.call("POST", "/v1/turns", turn(user, said.later), 200)
			if got := s.recalled(user, said.query); strings.Contains(got, said.before) || !strings.Contains(got, said.later) {
				t.Errorf("%s: %s recalled %q", user, said.query, got)
			}
		}
	})
}

// The current home comes before the assistant's echoes of former homes, although more words of the messages are about
// something else.
func TestFormer_CurrentStatementIsBeforeEchoes(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for i, city := range []string{"Porto", "Lisbon", "Ghent", "Utrecht", "Leeds", "Sligo", "Galway", "Turin"} {
			s.call("POST", "/v1/turns", object{
				"user_id": "ada", "conversation_id": "talk", "wait": true, "at": fmt.Sprintf("2026-01-%02dT10:00:00Z", i+1),
				"messages": []object{
					{"role": "user", "content": fmt.Sprintf("I live in %s now. I bought a loom number %d for 300 euros.", city, i)},
					{"role": "assistant", "content": fmt.Sprintf("Noted: you live in %s now, and you have item %d. Enjoy it by "+
						"the sea, near the kayak shop in York.", city, i)},
				},
			}, 200)
		}
		found := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "Where do I live?"}, 200).list("memories")
		if len(found) == 0 || found[0]["content"] != "I live in Turin now." {
			t.Errorf("found %v", found)
		}
	})
}
