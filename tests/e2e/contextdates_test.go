package e2e

import (
	"slices"
	"strings"
	"testing"
)

// A context says when a statement was said if its words depend on that, as "yesterday" does, or if the question asks
// for a time.
func TestContext_SaysWhenStatementsWereSaid(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for _, turn := range []struct{ at, said string }{
			{"2026-05-08T13:00:00Z", "I went to a support group for parents yesterday."},
			{"2026-06-02T13:00:00Z", "I live in Lisbon."},
			{"2026-06-03T13:00:00Z", "我昨天去了牙医诊所。"},
			{"2026-06-04T13:00:00Z", "We hiked along the coast last weekend."},
			{"2026-06-18T13:00:00Z", "We hiked along the coast last weekend."},
		} {
			s.call("POST", "/v1/turns", object{"user_id": "ada", "conversation_id": turn.at, "at": turn.at, "wait": true,
				"messages": []object{{"role": "user", "content": turn.said}}}, 200)
		}
		s.call("PUT", "/v1/facts", object{"user_id": "ada", "type": "work", "key": "employer", "value": "Hooli",
			"valid_from": "2026-04-01T00:00:00Z"}, 200, 201)
		for _, c := range []struct{ query, line string }{
			{"What support group did I visit?", "I went to a support group for parents yesterday. (said on 2026-05-08)"},
			{"Where do I live?", "I live in Lisbon."},
			{"Where did we hike?", "We hiked along the coast last weekend. (said on 2026-06-04 and 2026-06-18)"},
			{"When did I tell you that I live in Lisbon?", "I live in Lisbon. (said on 2026-06-02)"},
			{"How long have I worked for Hooli?", "The user's work employer is Hooli. (since 2026-04-01)"},
			{"我去了哪个诊所？", "我昨天去了牙医诊所。 (said on 2026-06-03)"},
		} {
			text := s.call("POST", "/v1/context", object{"user_id": "ada", "query": c.query, "at": "2026-07-01T09:00:00Z"}, 200).
				body["text"].(string)
			if !slices.Contains(strings.Split(text, "\n"), "- "+c.line) {
				t.Errorf("%s: want %q in\n%s", c.query, c.line, text)
			}
		}
	})
}
