package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A visitor logs in: recall as the user finds what both said, as the visitor nothing, and the stores stay equal.
func TestMerge_MovesAVisitorToAUser(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.call("POST", "/v1/turns", turn("vis/itor", "I work as a marine biologist in Lisbon."), 200)
		s.call("POST", "/v1/memories", object{"user_id": "vis/itor", "content": "Likes tea."}, 201)
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Has a dog named Rex."}, 201)
		s.call("POST", "/v1/memories", object{"user_id": "vis", "content": "Likes coffee."}, 201)
		const visitor = "/v1/users/vis%2Fitor"
		r := s.call("POST", visitor+"/merge", object{"into": "ada"}, 200)
		moved, _ := r.body["moved"].(map[string]any)
		if r.body["verified"] != true || moved["memories"] != 3.0 || moved["turns"] != 1.0 {
			t.Errorf("receipt %s", r.raw)
		}
		if again := s.call("POST", visitor+"/merge", object{"into": "ada"}, 200); again.raw != r.raw {
			t.Errorf("second receipt %s", again.raw)
		}
		recalled := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "Where does Ada work?"}, 200)
		if !strings.Contains(recalled.raw, "biologist") {
			t.Errorf("recalled as the user: %s", recalled.raw)
		}
		recalled = s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "What is the dog's name?"}, 200)
		if !strings.Contains(recalled.raw, "Rex") {
			t.Errorf("recalled as the user: %s", recalled.raw)
		}
		recalled = s.call("POST", "/v1/recall", object{"user_id": "vis/itor", "query": "Where does Ada work?"}, 200)
		if n := len(recalled.list("memories")); n != 0 {
			t.Errorf("recalled as the visitor: %s", recalled.raw)
		}
		eventually(t, "the vectors of the user", func() string {
			of := map[string]int{}
			for _, record := range s.records(builtin) {
				of[record.UserID]++
			}
			if of["ada"] != 4 || of["vis"] != 1 || len(of) != 2 {
				return fmt.Sprint(of)
			}
			return ""
		})
		s.call("POST", "/v1/memories", object{"user_id": "vis/itor", "content": "Said later."}, 201)
		s.call("POST", visitor+"/rename", object{"to": "ada"}, 409)
		s.call("POST", visitor+"/rename", object{"to": "eve"}, 200)
		s.storesEqual(builtin, "ada", "eve", "vis")
	})
}

// What is written for both users while they are merged is there once, or was refused.
func TestMerge_LosesNoConcurrentWrite(t *testing.T) {
	t.Parallel()
	s := start(t)
	const writes = 60
	type written struct{ contents []string }
	done := make(chan written, 2)
	for _, user := range []string{"visitor", "ada"} {
		go func() {
			var w written
			for i := range writes {
				content := fmt.Sprintf("Statement %d of %s.", i, user)
				if s.call("POST", "/v1/memories", object{"user_id": user, "content": content}, 201, 409).status == 201 {
					w.contents = append(w.contents, content)
				}
			}
			done <- w
		}()
	}
	for range 5 {
		s.call("POST", "/v1/users/visitor/merge", object{"into": "ada"}, 200)
	}
	want := slices.Concat((<-done).contents, (<-done).contents)
	s.call("POST", "/v1/users/visitor/merge", object{"into": "ada"}, 200)
	if left := s.everything("visitor"); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	sameSet(t, s.everything("ada"), want)
	s.storesEqual(builtin, "ada", "visitor")
}

func sameSet(t *testing.T, got, want []string) {
	t.Helper()
	count := map[string]int{}
	for _, text := range want {
		count[text]++
	}
	for _, text := range got {
		count[text]--
	}
	for text, n := range count {
		if n != 0 {
			t.Errorf("%q: %d more were acknowledged than are there", text, n)
		}
	}
}
