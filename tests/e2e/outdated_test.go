package e2e

import (
	"slices"
	"testing"
)

// Without a model, the latest of three homes comes first, although only the oldest message has the words of the query.
func TestRecall_RanksASupersedingMemoryFirst(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		say := func(content string) {
			s.call("POST", "/v1/turns", object{"user_id": "ada", "wait": true,
				"messages": []object{{"role": "user", "content": content}}}, 200)
		}
		first := func(want ...string) {
			t.Helper()
			r := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "Where does Ada live?"}, 200)
			var found []string
			for _, m := range r.list("memories") {
				found = append(found, m["content"].(string))
			}
			if len(found) < len(want) || !slices.Equal(found[:len(want)], want) {
				t.Errorf("recalled %q, want %q first", found, want)
			}
		}
		say("I live in Lisbon.")
		say("I have two cats called Miso and Tofu.")
		first("I live in Lisbon.")
		say("I moved to Porto last week.")
		first("I moved to Porto last week.", "I live in Lisbon.")
		say("I moved to Berlin yesterday.")
		first("I moved to Berlin yesterday.", "I live in Lisbon.")
	})
}
