package e2e

import (
	"slices"
	"strings"
	"testing"
)

// statement is a recalled memory: its content, and the day until which it was true.
type statement struct{ content, until string }

// statements returns what a request recalls, best first.
func (s *server) statements(request object) (list []statement) {
	s.t.Helper()
	for _, m := range s.call("POST", "/v1/recall", request, 200).list("memories") {
		until, _ := m["former_until"].(string)
		list = append(list, statement{m["content"].(string), until[:min(len(until), len("2006-01-02"))]})
	}
	return list
}

// A query for the past, by its words or by include_former, returns former statements below the statements that
// superseded them, with the day until which they were true. With as_of a recall returns what was current then.
func TestFormer_ThePastIsMarked(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for user, c := range map[string]struct {
			said        [3]string // a month apart
			now, before string    // queries
			mark        string    // of the second statement
		}{
			"english": {
				said: [3]string{"I live in Utrecht.", "I live in Groningen now.", "I live in Porto now."},
				now:  "Where do I live?", before: "Where did I live before?", mark: " (until 2026-03-03)",
			},
			"chinese": {
				said: [3]string{"我住在上海。", "我现在住在杭州。", "我现在住在成都。"},
				now:  "我住在哪里？", before: "我以前住在哪里？", mark: "（至 2026-03-03）",
			},
		} {
			for i, content := range c.said {
				at := []string{"2026-01-03T10:00:00Z", "2026-02-03T10:00:00Z", "2026-03-03T10:00:00Z"}[i]
				said := turn(user, content)
				said["at"] = at
				s.call("POST", "/v1/turns", said, 200)
			}
			first, second, third := statement{c.said[0], "2026-02-03"}, statement{c.said[1], "2026-03-03"},
				statement{c.said[2], ""}
			// expect compares what is recalled, in any order, except that the first one must be the best.
			expect := func(what string, request object, want ...statement) {
				t.Helper()
				request["user_id"] = user
				got := s.statements(request)
				sameSet := len(got) == len(want)
				for _, w := range want {
					sameSet = sameSet && slices.Contains(got, w)
				}
				if !sameSet || len(want) > 0 && got[0] != want[0] {
					t.Errorf("%s, %s: recalled %v, want %v", user, what, got, want)
				}
			}
			expect("now", object{"query": c.now}, third)
			expect("former too", object{"query": c.now, "include_former": true}, third, first, second)
			expect("former too, by the sum", object{
				"query": c.now, "include_former": true, "mode": "additive",
			}, third, first, second)
			expect("by words", object{"query": c.before}, third, first, second)
			second.until = ""
			expect("as of February", object{"query": c.now, "as_of": "2026-02-20T00:00:00Z"}, second)
			expect("as of the instant", object{"query": c.now, "as_of": "2026-02-03T10:00:00Z"}, second)
			expect("as of February, former too", object{
				"query": c.now, "as_of": "2026-02-20T00:00:00Z", "include_former": true,
			}, second, first)
			first.until = ""
			expect("as of January", object{"query": c.now, "as_of": "2026-02-03T09:59:59Z"}, first)
			expect("before all", object{"query": c.now, "as_of": "2026-01-01T00:00:00Z"})
			for query, marked := range map[string]bool{c.now: false, c.before: true} {
				text := s.call("POST", "/v1/context", object{"user_id": user, "query": query}, 200).body["text"].(string)
				if strings.Contains(text, c.said[1]+c.mark) != marked || strings.Contains(text, c.said[2]+c.mark[:3]) ||
					!strings.Contains(text, c.said[2]) {
					t.Errorf("%s: the context of %q: %s", user, query, text)
				}
			}
		}
	})
}

// A superseded memory that was written directly has no message, and is found directly.
func TestFormer_MemoriesWithoutAMessageAreFound(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for i, content := range []string{"I live in Utrecht.", "I live in Groningen now."} {
			at := []string{"2026-01-03T10:00:00Z", "2026-02-03T10:00:00Z"}[i]
			s.call("POST", "/v1/memories", object{"user_id": "ada", "content": content, "dedup": true, "at": at}, 201)
		}
		for _, request := range []object{
			{"query": "Where did I live before?"}, {"query": "Where do I live?", "include_former": true},
			{"query": "Where do I live?", "include_former": true, "filter": object{"type": "fact"}},
		} {
			request["user_id"] = "ada"
			got := s.statements(request)
			if len(got) != 2 || got[0].until != "" || got[1].content != "I live in Utrecht." || got[1].until == "" {
				t.Errorf("%v: recalled %v", request, got)
			}
		}
		january := object{"user_id": "ada", "query": "Where do I live?", "as_of": "2026-01-20T00:00:00Z"}
		if got := s.statements(january); !slices.Equal(got, []statement{{"I live in Utrecht.", ""}}) {
			t.Errorf("as of January: recalled %v", got)
		}
		answer := s.call("POST", "/v1/recall", object{
			"user_id": "ada", "query": "Where do I live?", "include_former": true, "explain": true,
			"types": []string{"preference"},
		}, 200)
		if got := answer.list("memories"); len(got) != 0 {
			t.Errorf("of another type: recalled %v", got)
		}
	})
}
