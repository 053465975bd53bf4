package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A fact leaves its timeline with the memory that states it, comes back with the restore, and does not take the place
// of what was recorded since.
func TestForget_CoversTimelines(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		put := func(key, value string) {
			t.Helper()
			s.call("PUT", "/v1/facts", object{"user_id": "ada", "type": "profile", "key": key, "value": value}, 200)
		}
		valid := func() (facts []string) {
			for _, f := range s.call("GET", "/v1/facts?user_id=ada", nil, 200).list("facts") {
				facts = append(facts, fmt.Sprintf("%v: %v", f["key"], f["value"]))
			}
			slices.Sort(facts)
			return facts
		}
		want := func(what string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, valid()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
			text := s.call("POST", "/v1/context", object{"user_id": "ada", "query": "Ada's home"}, 200).body["text"].(string)
			if got := strings.Contains(text, "Lisbon"); got != slices.Contains(want, "home_city: Lisbon") {
				t.Errorf("%s: the context has Lisbon: %t\n%s", what, got, text)
			}
		}
		put("home_city", "Lisbon")
		put("job", "baker")
		id := s.idOf("ada", "fact: The user's home city")
		results := s.call("POST", "/v1/memories/forget", object{"ids": []string{id}, "dry_run": true}, 200).list("results")
		if fmt.Sprint(results[0]["facts"]) == "<nil>" {
			t.Errorf("the dry run names no fact: %v", results)
		}
		want("after a dry run", "home_city: Lisbon", "job: baker")

		s.call("DELETE", "/v1/memories/"+id+"?scope=item", nil, 200)
		want("after the item alone", "home_city: Lisbon", "job: baker")
		s.call("POST", "/v1/memories/"+id+"/restore", nil, 200)

		forgotten := s.call("DELETE", "/v1/memories/"+id, nil, 200).list("facts")
		if len(forgotten) != 1 || forgotten[0]["key"] != "home_city" || forgotten[0]["done"] != "forgotten" {
			t.Errorf("the answer names %v", forgotten)
		}
		want("after forgetting", "job: baker")
		s.call("POST", "/v1/memories/"+id+"/restore", nil, 200)
		want("after the restore", "home_city: Lisbon", "job: baker")

		s.call("DELETE", "/v1/memories/"+id, nil, 200)
		put("home_city", "Porto")
		want("with another home", "home_city: Porto", "job: baker")
		if back := s.call("POST", "/v1/memories/"+id+"/restore", nil, 200).list("facts"); len(back) != 0 {
			t.Errorf("a taken place: %v", back)
		}
		if diff := cmp.Diff([]string{"home_city: Porto", "job: baker"}, valid()); diff != "" {
			t.Errorf("after the restore, with another home (-want +got):\n%s", diff)
		}
	})
}

// A value on a timeline ends when another memory contradicts it, however that memory was made, so that a context has
// only one of the two. The value is valid again when the change is undone, unless another value was recorded since.
func TestFormer_CoversTimelines(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for user, tell := range map[string]func(user, memory string){
			"turn": func(user, _ string) { s.call("POST", "/v1/turns", turn(user, "I live in Groningen now."), 200) },
			"write": func(user, _ string) {
				s.call("POST", "/v1/memories",
					object{"user_id": user, "content": "I live in Groningen now.", "dedup": true}, 201)
			},
			"edit": func(_, memory string) {
				s.call("PATCH", "/v1/memories/"+memory, object{"content": "The user's home city is Groningen."}, 200)
			},
			"denial": func(_, memory string) {
				s.call("PATCH", "/v1/memories/"+memory, object{"content": "The user's home city is not Utrecht any more."}, 200)
			},
		} {
			put := func(user, value string) {
				s.call("PUT", "/v1/facts",
					object{"user_id": user, "type": "profile", "key": "home_city", "value": value}, 200)
			}
			want := func(what, user string, want ...any) {
				t.Helper()
				if got := s.facts(user, "&type=profile&key=home_city"); !slices.Equal(got, want) {
					t.Errorf("%s: %s: %v is valid, want %v", user, what, got, want)
				}
			}
			put(user, "Utrecht")
			id := s.idOf(user, "fact: The user's home city")
			content := s.call("GET", "/v1/memories/"+id, nil, 200).body["content"]
			tell(user, id)
			want("said otherwise", user)
			if user == "denial" {
				s.call("PATCH", "/v1/memories/"+id, object{"content": content}, 200)
				want("edited back", user, "Utrecht")
				continue
			}
			context := s.call("POST", "/v1/context", object{"user_id": user, "query": "Where do I live?"}, 200)
			if text := context.body["text"].(string); strings.Contains(text, "Utrecht") ||
				!strings.Contains(text, "Groningen") {
				t.Errorf("%s: the context is %s", user, text)
			}
			if user == "edit" { // no message states what the memory said before
				s.call("PATCH", "/v1/memories/"+id, object{"content": content}, 200)
				want("edited back", user, "Utrecht")
				continue
			}
			s.call("POST", "/v1/memories/"+id+"/restore", nil, 200)
			want("undone", user, "Utrecht")

			other := user + "-later"
			put(other, "Utrecht")
			id = s.idOf(other, "fact: The user's home city")
			tell(other, id)
			put(other, "Porto")
			s.call("POST", "/v1/memories/"+id+"/restore", nil, 200)
			want("undone after another value", other, "Porto")
		}
	})
}
