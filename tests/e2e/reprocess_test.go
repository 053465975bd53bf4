package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// embedderOf are the settings of a scripted embedder, and chatOf those of a chat model, which may come later.
func embedderOf(models *llmtest.Server) []string { return withModels(models)[2:] }
func chatOf(models *llmtest.Server) []string     { return withModels(models)[:2] }

// restartWith restarts the server with more settings.
func (s *server) restartWith(env ...string) {
	s.t.Helper()
	s.stop()
	s.env = append(slices.Clip(s.env), env...)
	s.run()
}

// ended waits until a run has a state.
func (s *server) ended(run, state string) (r reply) {
	s.t.Helper()
	eventually(s.t, "the run being "+state, func() string {
		if r = s.call("GET", "/v1/reprocessings/"+run, nil, 200); r.body["state"] != state {
			return r.raw
		}
		return ""
	})
	return r
}

// exported returns the lines of a user's memories, turns and facts in an export, without the histories, the times of
// changes and what is forgotten.
func (s *server) exported(user string) (lines []string) {
	s.t.Helper()
	for line := range strings.Lines(s.call("GET", "/v1/export?user_id="+user, nil, 200).raw) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			s.t.Fatalf("%v in %s", err, line)
		}
		if o["format"] != nil || o["end"] != nil || o["memory_mode"] != nil {
			continue
		}
		if m, ok := o["memory"].(map[string]any); ok {
			if m["status"] == "forgotten" {
				continue
			}
			for _, changing := range []string{"updated_at", "last_accessed_at", "access_count"} {
				delete(m, changing)
			}
			delete(o, "events")
			delete(o, "relations")
		}
		text, err := json.Marshal(o)
		if err != nil {
			s.t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	if len(lines) == 0 {
		s.t.Fatalf("the export of %s is empty", user)
	}
	slices.Sort(lines)
	return lines
}

func lifestyle(text string) llmtest.Fact {
	return llmtest.Fact{Fact: text, Importance: 0.9, Domain: memory.Lifestyle}
}

// An app runs by rules, and gets the key of a model: a dry run says what the run then does, the run replaces what rules
// took, leaves what the user decided, and an undo restores the export from before.
func TestReprocess_ScoresByAModelThatCameLater(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		s := start(t, slices.Concat(size.settings(t), embedderOf(models))...)
		home := s.call("POST", "/v1/turns", turn("ada", "I live in Groningen."), 200)
		s.call("POST", "/v1/turns", turn("ada", "I love green tea."), 200)
		s.call("POST", "/v1/turns", turn("ada", "I work as a nurse."), 200)
		s.call("POST", "/v1/turns", turn("bea", "I love green tea."), 200)
		if home.body["scored_by"] != "rules" {
			t.Fatalf("%s", home.raw)
		}
		kept := home.list("candidates")[0]["memory_id"].(string)
		for _, m := range s.call("GET", "/v1/memories?user_id=ada&type=fact", nil, 200).list("memories") {
			if strings.Contains(m["content"].(string), "nurse") {
				s.call("DELETE", "/v1/memories/"+m["id"].(string)+"?scope=item", nil, 200)
			}
		}
		models.Facts("Groningen", lifestyle("I live in Groningen."), lifestyle("I have a cat."))
		models.Facts("green tea", lifestyle("The user drinks green tea"))
		models.Facts("nurse", lifestyle("I work as a nurse."))
		s.restartWith(chatOf(models)...)
		before, others := s.exported("ada"), s.exported("bea")

		choice := object{"user_id": "ada", "scorer": "rules"}
		dry := s.call("POST", "/v1/turns/reprocess", object{"user_id": "ada", "scorer": "rules", "dry_run": true}, 200)
		would := map[string]float64{}
		for _, turn := range dry.list("turns") {
			for _, list := range []string{"added", "kept", "removed"} {
				would[list] += float64(len(turn[list].([]any)))
			}
		}
		if got := s.exported("ada"); !slices.Equal(got, before) {
			t.Fatalf("a dry run changed\n%s\nto\n%s", strings.Join(before, "\n"), strings.Join(got, "\n"))
		}
		run := s.call("POST", "/v1/turns/reprocess", choice, 202).body["id"].(string)
		done := s.ended(run, "done")
		did := done.body["counts"].(map[string]any)
		if did["turns"] != 3.0 || did["added"] != would["added"] || did["kept"] != would["kept"] ||
			did["removed"] != would["removed"] {
			t.Errorf("%s, the dry run: %s", done.raw, dry.raw)
		}
		facts := contents(s.call("GET", "/v1/memories?user_id=ada&type=fact&status=active", nil, 200).list("memories"))
		if text := fmt.Sprint(facts); strings.Contains(text, "nurse") || !strings.Contains(text, "drinks green tea") {
			t.Errorf("the facts are %q", facts)
		}
		if m := s.call("GET", "/v1/memories/"+kept, nil, 200); m.body["status"] != "active" {
			t.Errorf("%s", m.raw)
		}
		s.storesEqual(scripted, "ada", "bea")
		if got := s.exported("bea"); !slices.Equal(got, others) {
			t.Errorf("another user has changed:\n%s", strings.Join(got, "\n"))
		}
		s.call("POST", "/v1/reprocessings/"+run+"/undo", nil, 202)
		s.ended(run, "undone")
		if got := s.exported("ada"); !slices.Equal(got, before) {
			t.Errorf("the undo made\n%s\nof\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
		}
		s.storesEqual(scripted, "ada", "bea")
	})
}

// A run goes on after kill -9, on two servers as well, and scores each turn once.
func TestReprocess_GoesOnAfterAKill(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		const n = 12
		models := llmtest.New(t)
		s := start(t, slices.Concat(size.settings(t), embedderOf(models))...)
		for i := range n {
			s.call("POST", "/v1/turns", turn("ada", fmt.Sprintf("I love tea of kind %d.", i)), 200)
		}
		before := s.exported("ada")
		var asked atomic.Int64
		models.OnChat(func(llmtest.ChatRequest) llmtest.Reply {
			asked.Add(1)
			return llmtest.Text(`{"facts":[{"fact":"I love tea.","importance":0.9,"domain":"lifestyle_and_interests"}]}`)
		})
		s.restartWith(chatOf(models)...)
		run := s.call("POST", "/v1/turns/reprocess", object{"user_id": "ada"}, 202).body["id"].(string)
		eventually(t, "some turns being scored", func() string {
			if asked.Load() < n/3 {
				return fmt.Sprint(asked.Load())
			}
			return ""
		})
		s.kill()
		s.run()
		if size.name != "sqlite" {
			prepared := prepare(t, s.env...)
			prepared.run()
		}
		done := s.ended(run, "done")
		if did := done.body["counts"].(map[string]any); did["turns"] != float64(n) || did["failed"] != 0.0 {
			t.Errorf("%s", done.raw)
		}
		s.call("POST", "/v1/reprocessings/"+run+"/undo", nil, 202)
		s.kill()
		s.run()
		s.ended(run, "undone")
		if got := s.exported("ada"); !slices.Equal(got, before) {
			t.Errorf("the undo made\n%s\nof\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
		}
	})
}

// A user who is merged or erased during a run takes the run along.
func TestReprocess_EndsWithItsUser(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		s := start(t, slices.Concat(size.settings(t), embedderOf(models))...)
		for _, user := range []string{"ada", "bea"} {
			s.call("POST", "/v1/turns", turn(user, "I love green tea."), 200)
		}
		models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Status(503) })
		s.restartWith(chatOf(models)...)
		runs := map[string]string{}
		for _, user := range []string{"ada", "bea"} {
			runs[user] = s.call("POST", "/v1/turns/reprocess", object{"user_id": user}, 202).body["id"].(string)
			eventually(t, "the run waiting", func() string {
				r := s.call("GET", "/v1/reprocessings/"+runs[user], nil, 200)
				if note, _ := r.body["note"].(string); !strings.HasPrefix(note, "waits: ") {
					return r.raw
				}
				return ""
			})
		}
		s.call("POST", "/v1/turns/reprocess", object{}, 409)
		s.call("POST", "/v1/users/ada/rename", object{"to": "eve"}, 200)
		if r := s.ended(runs["ada"], "stopped"); r.body["user_id"] != "eve" {
			t.Errorf("%s", r.raw)
		}
		s.call("DELETE", "/v1/users/bea", nil, 200)
		s.call("GET", "/v1/reprocessings/"+runs["bea"], nil, 404)
	})
}
