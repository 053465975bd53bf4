package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
)

// A conversation is logged and readable on every replica, is condensed once although
// a server is killed during the model call, and disappears when it is deleted or its
// user is erased.
func TestConversation_IsReadOnEveryReplica(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		var asked atomic.Int32
		models.OnPrompt("hippocampus/compact", func(r llmtest.ChatRequest) llmtest.Reply {
			if asked.Add(1) == 1 {
				return llmtest.Hang() // until the server is killed
			}
			return llmtest.Text(fmt.Sprintf(`{"summary":"Ada counted up to %d."}`, strings.Count(r.User, `"said"`)))
		})
		models.Facts("biologist",
			llmtest.Fact{Fact: "Ada is a marine biologist.", Importance: 0.9, Domain: "professional_and_academic"})
		settings := append(append(size.settings(t), withModels(models)...),
			"HIPPOCAMPUS_SESSION_EVENTS=10")
		s := start(t, settings...)
		readers := []*server{s}
		if s.setting("DATABASE_URL") != "" { // several processes may share it
			readers = append(readers, start(t, settings...))
		}
		say := func(message object) {
			s.call("POST", "/v1/turns", object{"user_id": "ada", "conversation_id": "count", "messages": []object{message}}, 202)
		}
		said := func(r *server, query string) []string {
			return contents(r.call("GET", "/v1/conversations/count/working?"+query, nil, 200).list("events"))
		}
		for i := 1; i <= 10; i++ {
			say(object{"role": "user", "content": fmt.Sprint("number ", i)})
			for n, r := range readers {
				started := time.Now()
				if got := said(r, ""); len(got) != i || got[i-1] != fmt.Sprint("number ", i) {
					t.Fatalf("reader %d after event %d: %q", n, i, got)
				}
				t.Logf("event %d was read by reader %d in %s", i, n, time.Since(started))
			}
		}

		// The eleventh event exceeds the limit: a model is called, and the server is killed.
		say(object{
			"role":    "tool",
			"name":    "abacus",
			"content": "out of beads",
			"kind":    "error",
			"tags":    []string{"beads"},
			"context": object{"action_taken": true},
		})
		eventually(t, "the model being asked", func() string {
			if asked.Load() == 0 {
				return "it was not"
			}
			return ""
		})
		for _, r := range readers {
			r.kill()
		}
		for _, r := range readers {
			r.run()
		}
		if got := said(s, "kind=error&tag=beads&min_importance=1"); !slices.Equal(got, []string{"out of beads"}) {
			t.Errorf("after the restart: %q", got)
		}
		// If the killed job is rescued before these two events arrive, it condenses five events; otherwise the job of the two
		// condenses six.
		for i := 12; i <= 13; i++ {
			say(object{"role": "user", "content": fmt.Sprint("number ", i)})
		}
		for _, r := range readers {
			eventually(t, "the older half being condensed", func() string {
				w := r.call("GET", "/v1/conversations/count/working", nil, 200)
				c := w.body["conversation"].(map[string]any)
				through, _ := c["summarised_through"].(float64)
				if (through != 5 && through != 6) || w.body["held"] != 13-through ||
					c["summary"] != fmt.Sprintf("Ada counted up to %v.", through) {
					return w.raw
				}
				return ""
			})
			if got := said(r, "limit=2"); !slices.Equal(got, []string{"number 12", "number 13"}) {
				t.Errorf("the latest two: %q", got)
			}
		}
		log := s.call("GET", "/v1/conversations/count?user_id=ada&limit=500", nil, 200)
		if turns := log.list("turns"); len(turns) != 13 || turns[12]["first_event"] != 13. {
			t.Errorf("the log: %s", log.raw)
		}

		// Only chat messages are scored.
		turn := s.call("POST", "/v1/turns",
			object{"user_id": "ada", "conversation_id": "work", "wait": true, "messages": []object{
				{"role": "user", "content": "I am a marine biologist.", "kind": "observation"}}}, 200)
		if turn.body["status"] != "processed" || len(turn.list("candidates")) != 0 {
			t.Errorf("an observation was scored: %s", turn.raw)
		}
		turn = s.call("POST", "/v1/turns",
			object{"user_id": "ada", "conversation_id": "work", "wait": true, "messages": []object{
				{"role": "user", "content": "I am a marine biologist."}}}, 200)
		if len(turn.list("candidates")) != 1 {
			t.Errorf("a chat message was not scored: %s", turn.raw)
		}
		titles := func() (all []any) {
			for _, c := range s.call("GET", "/v1/conversations?user_id=ada", nil, 200).list("conversations") {
				all = append(all, c["title"])
			}
			return all
		}
		if got := titles(); !slices.Equal(got, []any{"I am a marine biologist.", "number 1"}) {
			t.Errorf("titles %q", got)
		}
		s.call("PATCH", "/v1/conversations/count", object{"title": "数数"}, 200)
		if got := titles(); got[1] != "数数" {
			t.Errorf("titles %q", got)
		}

		s.call("DELETE", "/v1/conversations/count", nil, 200)
		for _, r := range readers {
			r.call("GET", "/v1/conversations/count/working", nil, 404)
		}
		say(object{"role": "user", "content": "anew"})
		for _, r := range readers {
			if got := said(r, ""); !slices.Equal(got, []string{"anew"}) {
				t.Errorf("begun again: %q", got)
			}
		}
		receipt := s.erase("ada")
		if deleted := receipt.body["deleted"].(map[string]any); deleted["conversations"] != 2. || deleted["turns"] != 3. {
			t.Errorf("the receipt: %s", receipt.raw)
		}
		for _, r := range readers {
			r.call("GET", "/v1/conversations/count/working", nil, 404)
		}
	})
}
