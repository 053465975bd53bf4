package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// A statement that a person repeats in the same words is one item of a recall and of a context, which states how often
// and when last it was said. Another person's message in the same words is another item.
func TestRepeats_AreOneItem(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for user, c := range map[string]struct{ said, other, query, mark string }{
			"english": {
				"My back hurts again.", "My knee is fine.", "Does my back hurt?",
				"user: My back hurts again. (said 3 times, last on 2026-01-03)",
			},
			"chinese": {"我的背又疼了。", "我的膝盖没事。", "我的背疼吗？", "user: 我的背又疼了。（说过 3 次，最近是 2026-01-03）"},
		} {
			say := func(day int, role, content string) {
				s.call("POST", "/v1/turns", object{
					"user_id": user, "wait": true, "at": fmt.Sprintf("2026-01-%02dT10:00:00Z", day),
					"conversation_id": fmt.Sprint(day), "messages": []object{{"role": role, "content": content}},
				}, 200)
			}
			for day := 1; day <= 3; day++ {
				say(day, "user", c.said)
				say(day, "user", c.other)
			}
			say(4, "assistant", c.said)
			ask := object{"user_id": user, "query": c.query, "touch": false, "types": []string{"message"}}
			found := map[string]object{}
			for _, m := range s.call("POST", "/v1/recall", ask, 200).list("memories") {
				key := m["said_by"].(string) + ": " + m["content"].(string)
				if found[key] != nil {
					t.Errorf("%s: %q is there twice", user, key)
				}
				found[key] = m
			}
			m, of := found["user: "+c.said], found["assistant: "+c.said]
			if m["said_times"] != 3.0 || m["last_said_at"] != "2026-01-03T10:00:00Z" || of == nil ||
				of["said_times"] != nil {
				t.Errorf("%s: said %v times, last at %v; of the assistant %v", user, m["said_times"], m["last_said_at"], of)
			}
			context := s.call("POST", "/v1/context", ask, 200).body["text"].(string)
			if !strings.Contains(context, c.mark) || strings.Count(context, "user: "+strings.TrimRight(c.said, ".。")) != 1 {
				t.Errorf("%s: the context lacks %q:\n%s", user, c.mark, context)
			}
		}
	})
}
