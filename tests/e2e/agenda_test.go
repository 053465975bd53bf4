package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// agenda is what a user said, and questions for whatever happened or is planned in some time.
type agenda struct {
	said  [][2]string // a day and a statement
	asked []struct {
		question string
		answers  []string // words of each statement that belongs to the time
	}
}

// readAgenda reads a file of testdata/agenda; en.txt describes the form.
func readAgenda(t *testing.T, name string) (a agenda) {
	t.Helper()
	text, err := os.ReadFile("testdata/agenda/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.TrimSpace(line), " | ")
		switch question, asks := strings.CutPrefix(parts[0], "? "); {
		case strings.HasPrefix(line, "#"):
		case asks:
			a.asked = append(a.asked, struct {
				question string
				answers  []string
			}{question, parts[1:]})
		default:
			a.said = append(a.said, [2]string{parts[0], strings.TrimPrefix(parts[1], "- ")})
		}
	}
	return a
}

// "What do I have on next week?" names no word of its answers. What was said in that time, or is about it, comes first,
// and the context has it; what else the user said of weeks, plans and schedules does not displace it.
func TestRecall_OfWhateverHappenedOrIsPlanned(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "zh"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			a := readAgenda(t, language+".txt")
			s := start(t)
			for i, said := range a.said {
				s.call("POST", "/v1/turns", object{
					"user_id": "ada", "wait": true, "conversation_id": said[0],
					"at":       said[0] + time.Date(0, 1, 1, 9, i, 0, 0, time.UTC).Format("T15:04:05Z"),
					"messages": []object{{"role": "user", "content": said[1]}},
				}, 200)
			}
			first, held := 0, 0
			for _, q := range a.asked {
				request := object{"user_id": "ada", "query": q.question, "at": "2026-05-06T12:00:00Z", "touch": false}
				text := s.call("POST", "/v1/context", request, 200).body["text"].(string)
				request["limit"] = len(q.answers) + 2
				found := contents(s.call("POST", "/v1/recall", request, 200).list("memories"))
				in := func(texts []string, answer string) bool {
					return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, answer) })
				}
				missed := slices.DeleteFunc(slices.Clone(q.answers), func(answer string) bool { return in(found, answer) })
				unheld := slices.DeleteFunc(slices.Clone(q.answers), func(answer string) bool {
					return in([]string{text}, answer)
				})
				if len(missed) == 0 {
					first++
				}
				if len(unheld) == 0 {
					held++
				}
				if len(missed)+len(unheld) > 0 {
					t.Logf("%q: not among the first %d: %q, not in the context: %q; found %q",
						q.question, len(q.answers)+2, missed, unheld, found)
				}
			}
			t.Logf("of %d questions %d have their answers first, %d in the context", len(a.asked), first, held)
			if first < len(a.asked)-1 || held < len(a.asked)-1 {
				t.Errorf("of %d questions %d have their answers first, %d in the context", len(a.asked), first, held)
			}
		})
	}
}
