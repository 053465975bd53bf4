package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// A run over the whole app scores the turns of each user. Those of a user for whom memory is turned off during it stay
// as they were. A clone and an export made during the run are complete, and the undo changes
// all users back.
func TestReprocess_OfTheWholeApp(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		const each = 5
		users := []string{"ada", "bea", "cleo"}
		models := llmtest.New(t)
		s := start(t, slices.Concat(size.settings(t), embedderOf(models))...)
		said := func(user string) {
			for i := range each {
				s.call("POST", "/v1/turns", turn(user, fmt.Sprintf("I love tea of kind %d.", i)), 200)
			}
		}
		before := map[string][]string{}
		for _, user := range users {
			said(user)
			before[user] = s.exported(user)
		}
		held := make(chan struct{}) // holds the answers of the model until the user cleo is off
		models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
			<-held
			for i := range each {
				if strings.Contains(r.User, fmt.Sprintf("kind %d", i)) {
					return llmtest.Text(fmt.Sprintf(
						`{"facts":[{"fact":"I love tea of kind %d.","importance":0.6,"domain":"user_preferences"},`+
							`{"fact":"The user drinks kind %d","importance":0.9,"domain":"user_preferences"}]}`, i, i))
				}
			}
			return llmtest.Text(`{"facts":[]}`)
		})
		s.restartWith(chatOf(models)...)
		run := s.call("POST", "/v1/turns/reprocess", object{}, 202).body["id"].(string)
		s.call("PUT", "/v1/users/cleo", object{"memory": "off"}, 200)
		s.call("POST", "/v1/users/bea/clone", object{"into": "beatrix"}, 200)
		if during := s.exported("bea"); !slices.Equal(during, before["bea"]) {
			t.Errorf("the export during the run is\n%s", strings.Join(during, "\n"))
		}
		close(held)
		done := s.ended(run, "done")
		if did := done.body["counts"].(map[string]any); did["failed"] != 0.0 || did["turns"].(float64) < 2*each {
			t.Errorf("%s", done.raw)
		}
		s.call("PUT", "/v1/users/cleo", object{"memory": "on"}, 200)
		for _, user := range users {
			facts := contents(s.call("GET", "/v1/memories?type=fact&status=active&limit=100&user_id="+user, nil, 200).
				list("memories"))
			drinks := strings.Count(strings.Join(facts, "\n"), "drinks")
			if want := map[bool]int{true: each, false: 0}[user != "cleo"]; drinks != want {
				t.Errorf("%s has %d new facts, want %d: %q", user, drinks, want, facts)
			}
		}
		if got := s.exported("cleo"); !slices.Equal(got, before["cleo"]) {
			t.Errorf("memory is off for cleo, and the run made\n%s\nof\n%s", strings.Join(got, "\n"),
				strings.Join(before["cleo"], "\n"))
		}
		eventually(t, "the clone", func() string {
			n := len(s.call("GET", "/v1/memories?type=message&limit=100&user_id=beatrix", nil, 200).list("memories"))
			if n != each {
				return fmt.Sprint(n, " messages")
			}
			return ""
		})
		s.call("POST", "/v1/reprocessings/"+run+"/undo", nil, 202)
		s.ended(run, "undone")
		for _, user := range users[:2] {
			if got := s.exported(user); !slices.Equal(got, before[user]) {
				t.Errorf("the undo made\n%s\nof\n%s", strings.Join(got, "\n"), strings.Join(before[user], "\n"))
			}
		}
		s.storesEqual(scripted, append(users, "beatrix")...)
	})
}
