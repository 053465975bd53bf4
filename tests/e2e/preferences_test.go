package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A request for advice names neither an allergy nor a taste. Its context has both, and what has changed or was
// forgotten is not in it.
func TestContext_HasWhatTheUserPrefers(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		say := func(day, said string) string {
			return s.call("POST", "/v1/turns", object{"user_id": "ada", "at": day + "T13:00:00Z", "wait": true,
				"messages": []object{{"role": "user", "content": said}}}, 200).body["id"].(string)
		}
		say("2026-03-01", "I am allergic to peanuts.")
		say("2026-03-02", "I hate coriander.")
		say("2026-03-03", "My favourite colour is green.")
		say("2026-03-04", "My favourite colour is blue.")
		secret := say("2026-03-05", "I like surprise parties.")
		say("2026-03-06", "The report for Bosch is due next Friday.")
		s.call("DELETE", "/v1/turns/"+secret, nil, 200)
		ask := func(more object) (preferences []string, text any) {
			request := object{"user_id": "ada", "query": "What should I cook tonight?", "at": "2026-03-20T18:00:00Z",
				"min_confidence": 0.9}
			for field, value := range more {
				request[field] = value
			}
			body := s.call("POST", "/v1/context", request, 200).body
			for _, m := range body["preferences"].([]any) {
				content := m.(map[string]any)["content"].(string)
				if !strings.Contains(body["text"].(string), content) {
					t.Errorf("%v: %q is not in\n%s", more, content, body["text"])
				}
				preferences = append(preferences, content)
			}
			return preferences, body["text"]
		}
		got, text := ask(nil)
		slices.Sort(got)
		want := []string{"I am allergic to peanuts.", "I hate coriander.", "My favourite colour is blue."}
		if !slices.Equal(got, want) {
			t.Errorf("preferences %q, want %q in\n%s", got, want, text)
		}
		allergy := object{"query": "What am I allergic to?", "min_confidence": 0.1, "touch": false}
		if got, _ := ask(allergy); slices.Contains(got, want[0]) {
			t.Errorf("a recalled memory is a preference also: %q", got)
		}
		for _, none := range []object{
			{"preferences": false}, {"as_of": "2026-03-19T00:00:00Z"}, {"domains": []string{"tasks_and_schedules"}},
			{"present": want}, {"max_tokens": 20}, {"user_id": "eve"},
		} {
			if got, text := ask(none); len(got) > 0 {
				t.Errorf("%v: preferences %q in\n%s", none, got, text)
			}
		}
		s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "What am I allergic to?", "limit": 1}, 200)
		accesses := map[string]float64{}
		eventually(t, "counting the access of what was recalled last", func() string {
			for _, m := range s.call("GET", "/v1/memories?user_id=ada&limit=100", nil, 200).list("memories") {
				if m["type"] != "message" {
					accesses[m["content"].(string)] = m["access_count"].(float64)
				}
			}
			if accesses[want[0]] == 0 {
				return "it is not counted yet"
			}
			return ""
		})
		if n := accesses[want[1]]; n > 0 {
			t.Errorf("a preference that was not asked for counts as accessed %v times", n)
		}
	})
}

// Each line of testdata/preferences is a preference and a request that it concerns, in other words. A user has those of
// a language, and 60 other statements. Without `preferences` most requests miss theirs.
func TestContext_OfARequestForAdviceHasThePreference(t *testing.T) {
	t.Parallel()
	s := start(t)
	for user, lines := range linesOf(t, "preferences") {
		var statements [][2]string
		for i := range 60 {
			others := map[string][]string{
				"en": {"The parcel for number %d is at the neighbour's.", "I paid invoice %d yesterday.",
					"Bus %d was late again.", "Room %d has a new projector."},
				"zh": {"%d 号的包裹在邻居家。", "我昨天付了 %d 号账单。", "%d 路公交车又晚点了。", "%d 号房间有了新投影仪。"},
			}[user]
			statements = append(statements, [2]string{fmt.Sprintf(others[i%len(others)], i)})
		}
		s.writeStatements(user, slices.Concat(statements, lines))
		held := func(preferences bool) (n int) {
			for _, line := range lines {
				text := s.call("POST", "/v1/context", object{
					"user_id": user, "query": line[1], "touch": false, "preferences": preferences,
				}, 200).body["text"].(string)
				if strings.Contains(text, strings.TrimRight(line[0], ".。")) {
					n++
				} else if preferences {
					t.Logf("%q misses %q", line[1], line[0])
				}
			}
			return n
		}
		with, without := held(true), held(false)
		t.Logf("%s: %d of %d requests have their preference, %d without preferences", user, with, len(lines), without)
		if with < len(lines)-1 || with <= without {
			t.Errorf("%s: %d of %d requests have their preference, %d without preferences", user, with, len(lines), without)
		}
	}
}
