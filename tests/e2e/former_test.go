package e2e

import (
	"strings"
	"testing"
)

// What is no longer true does not answer, whichever way and in whichever order it was said: neither its fact nor the
// message that the fact was taken from. Who asks for the past finds it.
func TestFormer_StatementsDoNotAnswer(t *testing.T) {
	onMainSizes(t, func(t *testing.T, size size) {
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
				s.call("POST", "/v1/memories",
					object{"user_id": user, "content": "I live in Groningen now.", "dedup": true}, 201)
			},
			"fact": func(user string) {
				s.call("PUT", "/v1/facts",
					object{"user_id": user, "type": "profile", "key": "home_city", "value": "Groningen"}, 200)
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

// recalled returns the contents of what a query recalls.
func (s *server) recalled(user, query string) string {
	s.t.Helper()
	var contents []string
	for _, m := range s.call("POST", "/v1/recall", object{"user_id": user, "query": query}, 200).list("memories") {
		contents = append(contents, m["content"].(string))
	}
	return strings.Join(contents, "\n")
}
