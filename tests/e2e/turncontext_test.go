package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A turn that asks for its context is durable, is processed as any other, and is answered with the memories of its user
// alone and with nothing of itself, however often it is sent: its own words count neither as found nor as known.
func TestTurns_AnswerWithTheirContext(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		s.call("POST", "/v1/turns", turn("ada", "I am allergic to peanuts."), 200)
		s.call("POST", "/v1/turns", turn("bob", "I am allergic to walnuts."), 200)
		var fit any // of t-1
		for _, id := range []string{"t-1", "t-1", "t-2"} {
			sent := object{"id": id, "user_id": "ada", "wait": true, "return": "context", "messages": []object{
				{"role": "user", "content": "I moved to Lisbon."}, {"role": "user", "content": "What am I allergic to?"},
			}}
			got := s.call("POST", "/v1/turns", sent, 200)
			answer, made := got.body["context"].(map[string]any)
			if !made || got.body["status"] != "processed" {
				t.Fatalf("%s", got.raw)
			}
			text := answer["text"].(string)
			if fit == nil {
				fit = answer["fit"]
			} else if diff := cmp.Diff(fit, answer["fit"]); id == "t-1" && diff != "" {
				t.Errorf("the fit of the repeated turn: %s", diff)
			}
			if !strings.Contains(text, "peanuts") || strings.Contains(text, "walnuts") {
				t.Errorf("%s: %s", id, text)
			}
			if strings.Contains(text, "What am I allergic") || id == "t-1" && strings.Contains(text, "Lisbon") {
				t.Errorf("%s: the context has the turn: %s", id, text)
			}
		}
		if got := s.recalled("ada", "Where does she live?"); !strings.Contains(got, "Lisbon") {
			t.Errorf("recalled: %s", got)
		}
	})
}
