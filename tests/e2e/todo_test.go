package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// "What do I still need to do?" has no word of its answers. What the user has still to do comes first, and the context
// has it: neither what is done, nor customs, nor what others have to do.
func TestRecall_OfWhatIsStillToBeDone(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "zh"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile("testdata/todo/" + language + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			s := start(t)
			var open []string
			first, held, asked := 0, 0, 0
			for n, line := range slices.Collect(strings.Lines(string(text))) {
				if strings.HasPrefix(line, "#") {
					continue
				}
				left, right, _ := strings.Cut(strings.TrimSpace(line), " | ")
				if question, asks := strings.CutPrefix(left, "? "); asks {
					asked++
					wanted := open
					if right != "" {
						wanted = []string{right}
					}
					request := object{"user_id": "ada", "query": question, "at": "2026-05-20T12:00:00Z", "touch": false}
					context := s.call("POST", "/v1/context", request, 200).body["text"].(string)
					request["limit"] = len(wanted)
					found := contents(s.call("POST", "/v1/recall", request, 200).list("memories"))
					missed := without(wanted, strings.Join(found, "\n"))
					unheld := without(wanted, context)
					if len(missed) <= len(wanted)/8 {
						first++
					}
					if len(unheld) == 0 {
						held++
					}
					if len(missed)+len(unheld) > 0 {
						t.Logf("%q: %q are not first, %q not in the context; found %q", question, missed, unheld, found)
					}
					continue
				}
				sign, said, _ := strings.Cut(right, " ")
				if sign == "+" {
					open = append(open, said)
				}
				s.call("POST", "/v1/turns", object{
					"user_id": "ada", "wait": true, "conversation_id": left,
					"at":       left + time.Date(0, 1, 1, 9, n, 0, 0, time.UTC).Format("T15:04:05Z"),
					"messages": []object{{"role": "user", "content": said}},
				}, 200)
			}
			t.Logf("of %d questions %d have their answers first, %d in the context", asked, first, held)
			if first < asked || held < asked {
				t.Errorf("of %d questions %d have their answers first, %d in the context", asked, first, held)
			}
		})
	}
}

// without returns the texts that are not parts of another one.
func without(texts []string, other string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return strings.Contains(other, text) })
}
