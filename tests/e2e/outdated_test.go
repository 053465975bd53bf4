package e2e

import (
	"slices"
	"strings"
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
		recalled := func(query string, want ...string) {
			t.Helper()
			found := strings.Split(s.recalled("ada", query), "\n")
			if len(found) < len(want) || !slices.Equal(found[:len(want)], want) {
				t.Errorf("%s recalled %q, want %q first", query, found, want)
			}
		}
		say("I live in Lisbon.")
		say("I have two cats called Miso and Tofu.")
		recalled("Where does Ada live?", "I live in Lisbon.")
		say("I moved to Porto last week.")
		recalled("Where does Ada live?", "I moved to Porto last week.", "I have two cats called Miso and Tofu.")
		recalled("Where did Ada live before?", "I moved to Porto last week.", "I live in Lisbon.")
		say("I moved to Berlin yesterday.")
		recalled("Where does Ada live?", "I moved to Berlin yesterday.", "I have two cats called Miso and Tofu.")
		recalled("Where did Ada live before?", "I moved to Berlin yesterday.", "I live in Lisbon.")
	})
}
