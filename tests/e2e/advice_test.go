package e2e

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"
)

// advised is a question about one turn.
type advised struct {
	user, text string
	turn       int  // place in the list of turns
	advice     bool // asks what the assistant advised; otherwise what the user stated
}

// advisedTurn is one exchange of a conversation with an assistant.
type advisedTurn struct {
	user, conversation string
	at                 time.Time
	said, answer       string
}

// readAdvice reads a file of testdata/advice; en.txt describes the form.
func readAdvice(t *testing.T, name string) (turns []advisedTurn, questions []advised) {
	t.Helper()
	file, err := os.Open("testdata/advice/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var next advisedTurn
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		line := scanner.Text()
		kind, rest, _ := strings.Cut(line, " ")
		switch last := len(turns) - 1; kind {
		case "#", "":
		case "=":
			user, day, _ := strings.Cut(rest, " ")
			at, err := time.Parse(time.DateOnly, day)
			if err != nil {
				t.Fatal(err)
			}
			next = advisedTurn{user: user, conversation: rest, at: at.Add(18 * time.Hour)}
		case "u:":
			next.said, next.at = rest, next.at.Add(time.Minute)
			turns = append(turns, next)
		case "a:":
			turns[last].answer = rest
		case "?f", "?a":
			questions = append(questions, advised{turns[last].user, rest, last, kind == "?a"})
		default: // a further line of an answer
			turns[last].answer += "\n" + line
		}
	}
	return turns, questions
}

// What an assistant advised is found. Its messages displace hardly any statement of the user that is among the first
// five memories without them: 0 of 61 in English, and 2 of 60 in Chinese, which share no word with the question.
func TestRecall_FindsAdviceAndKeepsStatements(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "zh"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			turns, questions := readAdvice(t, language+".txt")
			s := start(t)
			both := s.reportAdvice(turns, "", true)
			userAlone := s.reportAdvice(turns, " alone", false)
			end := turns[len(turns)-1].at.AddDate(0, 0, 7)
			var advices, found, statements, known, kept int
			for _, q := range questions {
				if q.advice {
					advices++
					if first := s.firstFive(q.user, q.text, end); holds(first, both[q.turn], true) {
						found++
					} else {
						t.Logf("advice not found: %s: %q", q.text, contents(first))
					}
					continue
				}
				statements++
				if !holds(s.firstFive(q.user+" alone", q.text, end), userAlone[q.turn], false) {
					continue
				}
				known++
				if first := s.firstFive(q.user, q.text, end); holds(first, both[q.turn], false) {
					kept++
				} else {
					t.Logf("displaced: %s: %q", q.text, contents(first))
				}
			}
			t.Logf("advice found: %d of %d; statements found without the assistant's messages: %d of %d, and with them: %d",
				found, advices, known, statements, kept)
			if advices < 30 || statements < 60 || float64(found) < 0.85*float64(advices) {
				t.Errorf("%d of %d questions of advice were answered", found, advices)
			}
			if known < 55 || float64(kept) < 0.96*float64(known) {
				t.Errorf("%d of %d statements are among the first five", kept, known)
			}
		})
	}
}

// reportAdvice reports the turns for users with a suffix, and returns the ids of the turns.
func (s *server) reportAdvice(turns []advisedTurn, suffix string, answers bool) (ids []string) {
	for _, turn := range turns {
		messages := []object{{"role": "user", "content": turn.said}}
		if answers {
			messages = append(messages, object{"role": "assistant", "content": turn.answer})
		}
		r := s.call("POST", "/v1/turns", object{
			"user_id": turn.user + suffix, "conversation_id": turn.conversation + suffix, "messages": messages,
			"at": turn.at.Format(time.RFC3339), "wait": true,
		}, 200, 201, 202)
		ids = append(ids, r.body["id"].(string))
	}
	return ids
}

// firstFive returns the first five memories that a recall with default settings returns.
func (s *server) firstFive(user, query string, at time.Time) []object {
	list := s.call("POST", "/v1/recall", object{
		"user_id": user, "query": query, "at": at.Format(time.RFC3339), "touch": false,
	}, 200).list("memories")
	return list[:min(len(list), 5)]
}

// holds reports whether memories contain a message of a turn that the assistant said, or that the user said.
func holds(memories []object, turn string, assistant bool) bool {
	for _, m := range memories {
		if m["source_turn_id"] == turn && (m["said_by"] == "assistant") == assistant {
			return true
		}
	}
	return false
}
