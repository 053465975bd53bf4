package e2e

import (
	"slices"
	"sync/atomic"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// A conversation is consolidated exactly once, although it is ended on two servers
// that are killed during a model call. Stated events become memories, an idle
// conversation ends by itself, and an erasure removes everything.
func TestConsolidation_HappensOnce(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		var replays atomic.Int32
		models.OnPrompt("hippocampus/replay", func(llmtest.ChatRequest) llmtest.Reply {
			if replays.Add(1) == 1 {
				return llmtest.Hang() // until the server is killed
			}
			return llmtest.Text(`{"summary":"Ada moves to Porto in May; the flat is found."}`)
		})
		models.OnPrompt("hippocampus/deep", func(llmtest.ChatRequest) llmtest.Reply {
			return llmtest.Text(`{"facts":[{"type":"profile","key":"home_city","value":"Porto","confidence":0.9}],
				"insights":[{"text":"Ada plans long ahead.","level":"high"}],
				"preferences":[],"patterns":[],"projects":[],"skills":[]}`)
		})
		settings := append(append(size.settings(t), withModels(models)...), impatient...)
		settings = append(settings, "HIPPOCAMPUS_CHAT_TIMEOUT=1s", "HIPPOCAMPUS_CHAT_RETRIES=0",
			"HIPPOCAMPUS_JOBS_TIMEOUT=3s",
			"HIPPOCAMPUS_SCHEDULE_CONSOLIDATION=@every 1s", "HIPPOCAMPUS_SCHEDULE_IDLE=@every 1s",
			"HIPPOCAMPUS_CONSOLIDATION_IDLE=6s")
		servers := []*server{start(t, settings...)}
		if servers[0].setting("DATABASE_URL") != "" { // several processes may share it
			servers = append(servers, start(t, settings...))
		}
		say := func(id string, messages ...object) {
			servers[0].call("POST", "/v1/turns", object{"user_id": "ada", "conversation_id": id, "messages": messages}, 202)
		}
		say("move", object{"role": "user", "content": "I move to Porto in May."},
			object{"role": "assistant", "content": "Then you need a flat."}, object{
				"role":    "tool",
				"name":    "broker",
				"content": "A flat in Rua das Flores is reserved for Ada.",
				"kind":    "decision",
			})
		for _, s := range servers {
			s.call("POST", "/v1/conversations/move/end", object{"user_id": "ada"}, 202)
		}
		eventually(t, "the model being asked", func() string {
			if replays.Load() == 0 {
				return "it was not"
			}
			return ""
		})
		for _, s := range servers {
			s.kill()
		}
		for _, s := range servers {
			s.run()
		}
		states := func(s *server) (list []string) {
			for _, one := range s.call("GET", "/v1/conversations/move/consolidations", nil, 200).list("consolidations") {
				list = append(list, one["type"].(string)+" "+one["state"].(string))
			}
			slices.Sort(list)
			return list
		}
		want := []string{"deep_reflection done", "events done", "fast_replay done"}
		for _, s := range servers {
			eventually(t, "the consolidation", func() string {
				if got := states(s); !slices.Equal(got, want) {
					return s.call("GET", "/v1/conversations/move/consolidations", nil, 200).raw
				}
				return ""
			})
			r := s.call("POST", "/v1/conversations/move/end", object{"wait": true}, 200)
			if c := r.body["conversation"].(map[string]any); c["consolidated_through"] != 3. || c["end_reason"] != "client" {
				t.Errorf("ended again: %s", r.raw)
			}
			list := s.call("GET", "/v1/memories?user_id=ada&status=active", nil, 200).list("memories")
			list = slices.DeleteFunc(list, func(m object) bool { return m["type"] == "message" })
			memories := contents(list)
			slices.Sort(memories)
			if !slices.Equal(memories, []string{
				"A flat in Rua das Flores is reserved for Ada.",
				"Ada moves to Porto in May; the flat is found.",
				"Ada plans long ahead.",
				"The user's home city is Porto.",
			}) {
				t.Errorf("memories %q", memories)
			}
			if facts := s.call("GET", "/v1/facts?user_id=ada", nil, 200).list("facts"); len(facts) != 1 ||
				facts[0]["source"] != "conversation move" {
				t.Errorf("facts %v", facts)
			}
		}

		// An important event is consolidated at once, and an idle conversation ends.
		say("work", object{"role": "user", "content": "The nightly build has failed since Tuesday.", "kind": "error"})
		s := servers[len(servers)-1]
		eventually(t, "the event being kept, and the end", func() string {
			r := s.call("GET", "/v1/conversations/work", nil, 200)
			if c := r.body["conversation"].(map[string]any); c["consolidated_through"] != 1. || c["end_reason"] != "idle" {
				return r.raw
			}
			return ""
		})
		receipt := s.erase("ada")
		if deleted := receipt.body["deleted"].(map[string]any); deleted["consolidations"] != 4. ||
			deleted["conversations"] != 2. {
			t.Errorf("the receipt: %s", receipt.raw)
		}
	})
}
