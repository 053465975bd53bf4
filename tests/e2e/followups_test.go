package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// followUp is a question of a user, its answer, and a further question.
type followUp struct{ question, answer, further, found string }

// readFollowUps reads a file of testdata/followups; en.txt describes the form.
func readFollowUps(t *testing.T, name string) (said []string, asked []followUp) {
	t.Helper()
	text, err := os.ReadFile("testdata/followups/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if question, asks := strings.CutPrefix(line, "? "); asks {
			parts := strings.Split(question, " | ")
			asked = append(asked, followUp{parts[0], parts[1], parts[2], parts[3]})
		} else if !strings.HasPrefix(line, "#") {
			said = append(said, line)
		}
	}
	return said, asked
}

// "And what does she teach?" names neither the sister nor what was asked before. A recall that is given what was said
// before finds the answer among the first three memories, and a context in the conversation among the first five, which
// have what was just said also.
func TestRecall_OfAFollowUpHasTheQuestionBefore(t *testing.T) {
	t.Parallel()
	for language, other := range map[string]string{"en": "I paid invoice %d yesterday.", "zh": "我昨天付了 %d 号账单。"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			said, asked := readFollowUps(t, language+".txt")
			s := start(t)
			for i := range 60 {
				said = append(said, fmt.Sprintf(other, i))
			}
			for i, text := range said {
				s.call("POST", "/v1/turns", object{
					"user_id": "ada", "wait": true, "conversation_id": fmt.Sprint("c", i/4),
					"messages": []object{{"role": "user", "content": text}},
				}, 200)
			}
			var alone, given, logged int
			for i, f := range asked {
				first := func(path string, more object) int {
					request := object{"user_id": "ada", "query": f.further, "limit": 3, "touch": false}
					for name, value := range more {
						request[name] = value
					}
					found := contents(s.call("POST", path, request, 200).list("memories"))
					if strings.Contains(strings.Join(found, "\n"), f.found) {
						return 1
					}
					if more != nil {
						t.Logf("%s of %q after %q: %q", path, f.further, f.question, found)
					}
					return 0
				}
				alone += first("/v1/recall", nil)
				given += first("/v1/recall", object{"previous": f.question + " " + f.answer})
				conversation := fmt.Sprint("asked", i)
				s.call("POST", "/v1/turns", object{
					"user_id": "ada", "wait": true, "conversation_id": conversation, "messages": []object{
						{"role": "user", "content": f.question}, {"role": "assistant", "content": f.answer},
					},
				}, 200)
				logged += first("/v1/context", object{"conversation_id": conversation, "limit": 5})
			}
			t.Logf("of %d, %d are found alone, %d with what was said before, %d by the log", len(asked), alone, given, logged)
			if given < len(asked)-2 || logged < len(asked)-2 || given < alone+2 {
				t.Errorf("of %d, %d are found alone, %d with what was said before, %d by the log",
					len(asked), alone, given, logged)
			}
		})
	}
}
