package e2e

import (
	"strings"
	"testing"
)

// What has ended does not answer about the present, however it got its end, and answers about the past, and as of then.
func TestShelfLife_PlansAreFormerAfterTheirDay(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		const flight = "My flight to Rome is on 3 March"
		var said object
		for user, content := range map[string]string{"turn": flight + ".", "fact": "I take a flight to Rome on 3 March."} {
			said = turn(user, content)
			said["at"] = "2026-02-20T10:00:00Z"
			s.call("POST", "/v1/turns", said, 200)
		}
		said = turn("client", "Do you see the flight to Rome in my calendar?")
		said["at"], said["expires_at"] = "2026-02-20T10:00:00Z", "2026-03-03"
		s.call("POST", "/v1/turns", said, 200)
		write := func(user string) object {
			return object{"user_id": user, "content": flight, "at": "2026-02-20T10:00:00Z", "expires_at": "2026-03-03"}
		}
		s.call("POST", "/v1/memories", write("write"), 201)
		s.call("POST", "/v1/memories/batch", object{"memories": []object{write("batch")}}, 200)
		plain := write("patch")
		delete(plain, "expires_at")
		id := s.call("POST", "/v1/memories", plain, 201).body["id"].(string)
		s.call("PATCH", "/v1/memories/"+id, object{"expires_at": "2026-03-03T24:00:00Z"}, 400)
		s.call("PATCH", "/v1/memories/"+id, object{"expires_at": "2026-03-04T00:00:00Z"}, 200)
		for _, user := range []string{"turn", "fact", "client", "write", "batch", "patch"} {
			if got := s.recalled(user, "When is my flight to Rome?"); strings.Contains(got, "flight") {
				t.Errorf("%s: about the present: %s", user, got)
			}
			for name, query := range map[string]object{
				"before":         {"query": "When is my flight to Rome?", "at": "2026-03-01T10:00:00Z"},
				"as of":          {"query": "When is my flight to Rome?", "as_of": "2026-03-01T10:00:00Z"},
				"include former": {"query": "When is my flight to Rome?", "include_former": true},
				"the past":       {"query": "When was my flight to Rome?"},
			} {
				query["user_id"] = user
				got := s.call("POST", "/v1/recall", query, 200)
				isFormer := strings.Contains(got.raw, `"former_until":"2026-03-04T00:00:00Z"`)
				if !strings.Contains(got.raw, "flight") || isFormer != (name == "include former" || name == "the past") {
					t.Errorf("%s, %s: %s", user, name, got.raw)
				}
			}
		}
		text := s.call("POST", "/v1/context", object{"user_id": "turn", "query": "When was my flight to Rome?"}, 200)
		if !strings.Contains(text.raw, "until 2026-03-04") {
			t.Errorf("the context: %s", text.raw)
		}
		s.call("PATCH", "/v1/memories/"+id, object{"expires_at": ""}, 200)
		if got := s.recalled("patch", "When is my flight to Rome?"); !strings.Contains(got, "flight") {
			t.Errorf("after its end was removed: %s", got)
		}
		exported := s.call("GET", "/v1/export?user_id=write", nil, 200).raw
		if !strings.Contains(exported, `"expires_at":"2026-03-04T00:00:00Z"`) {
			t.Errorf("exported: %s", exported)
		}
	})
}

// In a message of several statements, a dated plan ends by itself, and the other statements go on to answer, whether
// they are facts or not.
func TestShelfLife_PlansEndByThemselvesInLongerMessages(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for user, rest := range map[string]string{
			"fact": "I am allergic to peanuts.", "remark": "The peanuts at the airport were awful.", "chinese": "我对花生过敏。",
		} {
			plan, query, about, other := "My flight to Rome is on 3 March.", "When is my flight to Rome?", "flight", "peanuts"
			if user == "chinese" {
				plan, query, about, other = "我3月3日有个面试。", "我的面试是什么时候？", "面试", "花生"
			}
			said := turn(user, plan+" "+rest)
			said["at"] = "2026-02-20T10:00:00Z"
			s.call("POST", "/v1/turns", said, 200)
			for query, isPlan := range map[string]bool{query: true, other: false} {
				got := s.recalled(user, query)
				if strings.Contains(got, about) || !isPlan && !strings.Contains(got, other) {
					t.Errorf("%s, about the present: %s", query, got)
				}
				before := s.call("POST", "/v1/recall", object{
					"user_id": user, "query": query, "at": "2026-03-01T10:00:00Z",
				}, 200)
				if isPlan && !strings.Contains(before.raw, about) {
					t.Errorf("%s, before: %s", query, before.raw)
				}
			}
			past := s.call("POST", "/v1/recall", object{"user_id": user, "query": query, "include_former": true}, 200)
			if !strings.Contains(past.raw, `"former_until":"2026-03-04T00:00:00Z"`) {
				t.Errorf("%s, former: %s", query, past.raw)
			}
		}
	})
}
