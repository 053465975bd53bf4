package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A fact from a message with a name states the name. What one person says neither replaces nor repeats what another one
// says, and is not forgotten with it. A name that is the user's id denotes the user and no other person.
func TestSpeakers_FactsCarryTheNames(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		day := 0
		say := func(name, content string) {
			t.Helper()
			day++
			message := object{"role": "user", "content": content}
			if name != "" {
				message["name"] = name
			}
			s.call("POST", "/v1/turns", object{
				"user_id": "nora", "wait": true, "messages": []object{message}, "at": fmt.Sprintf("2026-01-%02dT10:00:00Z", day),
			}, 200)
		}
		facts := func(status string) (list []string) {
			for _, m := range s.call("GET", "/v1/memories?user_id=nora&type=fact&status="+status, nil, 200).list("memories") {
				who, _ := m["said_by"].(string)
				list = append(list, who+": "+m["content"].(string))
			}
			slices.Sort(list)
			return list
		}
		want := func(status string, list ...string) {
			t.Helper()
			if got := facts(status); !slices.Equal(got, list) {
				t.Errorf("%s facts %q, want %q", status, got, list)
			}
		}
		say("Clara", "I live in Utrecht.")
		say("Tom", "I live in Leeds.")
		say("Nora", "I live in Porto.")
		say("Tom", "I am allergic to peanuts.")
		say("Clara", "I am allergic to peanuts.")
		want("active", ": I live in Porto.", "Clara: I am allergic to peanuts.", "Clara: I live in Utrecht.",
			"Tom: I am allergic to peanuts.", "Tom: I live in Leeds.")
		context := s.call("POST", "/v1/context", object{"user_id": "nora", "query": "Where does Tom live?"}, 200)
		if text := context.body["text"].(string); !strings.Contains(text, "- Tom: I live in Leeds.") {
			t.Errorf("the context does not say who lives in Leeds:\n%s", text)
		}
		first := s.call("POST", "/v1/recall", object{"user_id": "nora", "query": "Where does Clara live?"}, 200)
		if m := first.list("memories")[0]; m["content"] != "I live in Utrecht." || m["said_by"] != "Clara" {
			t.Errorf("Clara lives where %v says: %v", m["said_by"], m["content"])
		}

		say("Tom", "I moved to York last week.")
		want("superseded", "Tom: I live in Leeds.")
		say("", "I moved to Lisbon last week.")
		want("superseded", ": I live in Porto.", "Tom: I live in Leeds.")
		for _, m := range s.call("GET", "/v1/memories?user_id=nora&type=fact", nil, 200).list("memories") {
			if m["content"] == "I am allergic to peanuts." && m["said_by"] == "Tom" {
				s.call("DELETE", "/v1/memories/"+m["id"].(string), nil, 200)
			}
		}
		if left := facts("active"); !slices.Contains(left, "Clara: I am allergic to peanuts.") {
			t.Errorf("Clara's allergy was forgotten with Tom's: %q are left", left)
		}
	})
}
