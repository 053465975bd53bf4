package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The answer to a turn, and the turn when it is read, name what is not remembered of each message, with its reason.
func TestLeftOut_IsNamedInTheTurn(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, append(size.settings(t), "HIPPOCAMPUS_MESSAGES_ANSWER_CHARS=40")...)
		answer := s.call("POST", "/v1/turns", object{
			"user_id": "ada", "conversation_id": "c", "wait": true, "messages": []object{
				{"role": "system", "content": "Be brief."},
				{"role": "user", "content": "How do I move to Lisbon?"},
				{"role": "assistant", "content": "First you find a flat near the office. Then you pack."},
				{"role": "user", "content": "谢谢！"},
				{"role": "assistant", "content": "Any time."},
			},
		}, 200)
		want := []string{"0 role 8", "2 long_answer 12", "3 small_talk 3"}
		leftOut := func(r reply) (parts []string) {
			for _, part := range r.list("left_out") {
				parts = append(parts, fmt.Sprint(part["message"], " ", part["reason"], " ", part["characters"]))
			}
			return parts
		}
		if got := leftOut(answer); !slices.Equal(got, want) {
			t.Errorf("the answer has left out %q, want %q", got, want)
		}
		id := answer.body["id"].(string)
		s.kill()
		s.run()
		if got := leftOut(s.call("GET", "/v1/turns/"+id, nil, 200)); !slices.Equal(got, want) {
			t.Errorf("after a restart the turn has left out %q, want %q", got, want)
		}
		var kept []string
		for _, content := range contents(s.call("GET", "/v1/memories?user_id=ada&type=message", nil, 200).list("memories")) {
			kept = append(kept, strings.Fields(content)[0])
		}
		slices.Sort(kept)
		if !slices.Equal(kept, []string{"Any", "First", "How"}) {
			t.Errorf("remembered %q", kept)
		}
	})
}
