package e2e

import (
	"slices"
	"testing"
)

// If a client puts a context before the user's words, and reports both as the user's message, no memory is made of the
// context.
func TestTurns_KeepNoPastedContext(t *testing.T) {
	t.Parallel()
	s := start(t)
	for user, said := range map[string][]string{
		"nora": {
			"My sister Clara teaches chemistry in Porto.", "Which ferry goes to the island in winter?",
			"My balcony has room for two tomato plants.",
		},
		"lin": {"我妹妹在成都开了一家咖啡馆。", "冬天去海岛坐哪趟船？", "我家阳台能放两盆番茄。"},
	} {
		for _, text := range said[:2] {
			s.call("POST", "/v1/turns", turn(user, text), 200)
		}
		before := s.everything(user)
		pasted, _ := s.call("POST", "/v1/context",
			object{"user_id": user, "query": said[0], "max_tokens": 2000, "min_confidence": 0}, 200).body["text"].(string)
		if len(before) < 2 || pasted == "" {
			t.Fatalf("%s: %q, context %q", user, before, pasted)
		}
		s.call("POST", "/v1/turns", turn(user, pasted+"\n\n"+said[2]), 200)
		after := s.everything(user)
		for _, content := range after {
			if !slices.Contains(before, content) && content != said[2] {
				t.Errorf("%s: %q became a memory after the context %q", user, content, pasted)
			}
		}
		if !slices.Contains(after, said[2]) {
			t.Errorf("%s: %q did not become a memory", user, said[2])
		}
	}
}
