package e2e

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// facts returns the values of a user's facts, as the API lists them.
func (s *server) facts(user, query string) (values []any) {
	s.t.Helper()
	for _, f := range s.call("GET", "/v1/facts?user_id="+user+query, nil, 200).list("facts") {
		values = append(values, f["value"])
	}
	return values
}

// The valid value changes over the years, regardless of the order in which the evidence
// arrives, and the memories change with it: at once, or by the schedule if the change is in
// the future.
func TestFacts_FollowTimeline(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, append(size.settings(t), "HIPPOCAMPUS_SCHEDULE_FACTS=@every 1s")...)
		put := func(fields object) object {
			fields["user_id"], fields["type"] = "ada", "profile"
			return s.call("PUT", "/v1/facts", fields, 200).body
		}
		state := func(outcome object) any { return outcome["fact"].(map[string]any)["state"] }
		put(object{"key": "home city", "value": "Lisbon", "confidence": 0.9, "valid_from": "2020-01-01T00:00:00Z"})
		put(object{"key": "宠物", "value": "小狗豆包", "confidence": 0.9})
		put(object{"key": "languages", "value": []string{"Portuguese", "English"}})
		if got := state(put(object{"key": "home city", "value": "Rome", "confidence": 0.4})); got != "refused" {
			t.Errorf("a guess became %v", got)
		}
		put(object{"key": "home city", "value": "Porto", "confidence": 0.7, "valid_from": "2024-01-01T00:00:00Z"})
		late := object{"key": "home city", "value": "Faro", "confidence": 0.7, "valid_from": "2022-01-01T00:00:00Z"}
		if got := state(put(late)); got != "accepted" {
			t.Errorf("the late evidence became %v", got)
		}

		s.storesEqual(builtin, "ada") // a kill during a push delays the push until its claim expires
		s.kill()
		s.run()
		for at, want := range map[string]string{
			"2019-06-01": "", "2021-06-01": "Lisbon", "2023-06-01": "Faro", "2025-06-01": "Porto",
		} {
			var got string
			for _, value := range s.facts("ada", "&key=home_city&at="+at+"T00:00:00Z") {
				got += value.(string)
			}
			if got != want {
				t.Errorf("in %s: %q, want %q", at, got, want)
			}
		}
		found := contents(
			s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "home city", "route": false}, 200).list("memories"))
		if len(found) == 0 || found[0] != "The user's home city is Porto." ||
			slices.Contains(found, "The user's home city is Lisbon.") {
			t.Errorf("recalled %q", found)
		}
		found = contents(
			s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "她的宠物是什么？", "route": false, "limit": 1},
				200).list("memories"))
		if !slices.Equal(found, []string{"用户的宠物是小狗豆包。"}) {
			t.Errorf("recalled %q", found)
		}
		s.storesEqual(builtin, "ada")

		soon := now().Add(2 * time.Second).UTC().Format(time.RFC3339Nano)
		put(object{"key": "home city", "value": "Braga", "confidence": 0.9, "valid_from": soon})
		if n := len(s.active("ada")); n != 3 {
			t.Errorf("%d memories before the change is due", n)
		}
		eventually(t, "the schedule applying the change", func() string {
			found = contents(s.call("GET", "/v1/memories?user_id=ada", nil, 200).list("memories"))
			if slices.Contains(found, "The user's home city is Braga.") && len(found) == 3 {
				return ""
			}
			return strings.Join(found, ", ")
		})

		s.call("DELETE", "/v1/facts?user_id=ada&type=profile&key="+url.QueryEscape("Home City"), nil, 200)
		if got := s.facts("ada", "&key=home_city"); len(got) != 0 || len(s.active("ada")) != 2 {
			t.Errorf("after the end: %v", got)
		}
		var states []any
		for _, f := range s.call("GET", "/v1/facts/history?user_id=ada&type=profile&key=home_city", nil, 200).list("facts") {
			states = append(states, f["state"])
		}
		if want := []any{"accepted", "refused", "accepted", "accepted", "accepted", "ended"}; !slices.Equal(states, want) {
			t.Errorf("history %v, want %v", states, want)
		}
		s.storesEqual(builtin, "ada")
		receipt := s.erase("ada")
		if n := receipt.body["deleted"].(map[string]any)["facts"]; n != 8.0 {
			t.Errorf("receipt %s", receipt.raw)
		}
		if got := s.facts("ada", ""); len(got) != 0 {
			t.Errorf("after the erasure: %v", got)
		}
	})
}
