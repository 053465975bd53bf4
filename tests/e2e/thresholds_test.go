package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
)

// learner is a server whose thresholds learn, with a clock that the test moves.
type learner struct {
	*server
	clock string
	now   time.Time
	said  int
}

// startLearner starts a server with a scorer that proposes what the test says.
func startLearner(t *testing.T, size size) *learner {
	t.Helper()
	models := llmtest.New(t)
	models.OnPrompt("hippocampus/score", func(r llmtest.ChatRequest) llmtest.Reply {
		_, said, _ := strings.Cut(r.User, "SAY ")
		text, importance, _ := strings.Cut(said, " AT ")
		return llmtest.Text(fmt.Sprintf(
			`{"facts":[{"fact":%q,"importance":%.4s,"domain":"lifestyle_and_interests","type":"fact"}]}`, text, importance))
	})
	return startWatched(t, append(size.settings(t), withModels(models)...)...)
}

// startWatched starts a server whose thresholds learn, on a fixed morning.
func startWatched(t *testing.T, settings ...string) *learner {
	t.Helper()
	l := &learner{clock: filepath.Join(t.TempDir(), "clock"), now: time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)}
	if err := os.WriteFile(l.clock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.server = prepare(t, append(settings,
		"E2E_CLOCK="+l.clock, "HIPPOCAMPUS_LEARNING_ENABLED=true", "HIPPOCAMPUS_SCHEDULE_PURGE=@every 1s")...)
	l.move(0)
	l.run()
	return l
}

func (l *learner) move(d time.Duration) {
	l.now = l.now.Add(d)
	if err := os.Chtimes(l.clock, l.now, l.now); err != nil {
		l.t.Fatal(err)
	}
}

// say reports a turn that the scorer makes one fact of, and returns the candidate.
func (l *learner) say(user, text string, importance float64) object {
	l.t.Helper()
	l.said++
	turn := l.call("POST", "/v1/turns", object{"user_id": user, "wait": true, "messages": []object{
		{"role": "user", "content": fmt.Sprintf("SAY %s AT %.2f !", text, importance)},
	}}, 200)
	list := turn.list("candidates")
	if len(list) != 1 {
		l.t.Fatalf("candidates: %s", turn.raw)
	}
	return list[0]
}

// threshold is a threshold of the app as GET /v1/thresholds shows it.
func (l *learner) threshold(name string) object {
	l.t.Helper()
	for _, t := range l.call("GET", "/v1/thresholds", nil, 200).list("thresholds") {
		if t["name"] == name {
			return t
		}
	}
	l.t.Fatalf("there is no threshold %s", name)
	return nil
}

// night moves the clock past the nightly job to the next morning, and waits until the job has run and the gate has a
// value.
func (l *learner) night(gate float64) {
	l.t.Helper()
	runs := func() (done int) {
		for _, job := range l.call("GET", "/v1/jobs?kind=purge&limit=100", nil, 200).list("jobs") {
			if job["state"] == "completed" {
				done++
			}
		}
		return done
	}
	before := runs()
	l.move(24 * time.Hour)
	eventually(l.t, "the nightly job", func() string {
		if got := l.threshold("gate"); runs() == before || got["value"] != gate {
			return fmt.Sprintf("the gate is not %v: %v", gate, got)
		}
		return ""
	})
	l.move(time.Minute)
}

// The preview says what the next step does, and it does that: candidates that it lists are kept when they are said
// again. A week of promotions lowers the gate by bounded steps down to its floor, and one request restores it.
func TestThresholds_FollowAWeekOfPromotions(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		l := startLearner(t, size)
		for day, gate := range []float64{0.68, 0.66, 0.64, 0.62, 0.6, 0.6, 0.6} {
			var refused []string
			for n := range 5 {
				text := fmt.Sprintf("Ada visits town %d of country %d", n, day)
				c := l.say("ada", text, 0.605)
				if day < 4 && !strings.Contains(c["reason"].(string), "is under the gate of 0.") {
					t.Fatalf("day %d: %v", day, c)
				}
				refused = append(refused, text)
			}
			near := fmt.Sprintf("Ada owns %d very old clocks", day)
			if day < 5 {
				l.say("ada", near, gate+0.01)
			}
			var ids []string
			below := l.call("GET", "/v1/candidates?user_id=ada&verdict=below_threshold&limit=100", nil, 200)
			for _, c := range below.list("candidates") {
				if slices.Contains(refused, c["content"].(string)) {
					ids = append(ids, c["id"].(string))
				}
			}
			if day < 5 {
				l.call("POST", "/v1/candidates/promote", object{"ids": ids}, 200)
			}
			preview := l.call("GET", "/v1/thresholds/preview?days=1", nil, 200)
			first := preview.list("thresholds")[0]
			if first["next"] != gate {
				t.Fatalf("day %d: the preview says %v", day, first)
			}
			var kept []string
			for _, c := range listOf(first["kept"]) {
				kept = append(kept, c["content"].(string))
			}
			if want := []string{near}; day < 4 && !slices.Equal(kept, want) || day > 4 && len(kept) > 0 {
				t.Errorf("day %d: the preview keeps %v, want %v", day, kept, want)
			}
			l.night(gate)
			if day < 5 {
				c := l.say("bob", near, gate+0.01)
				if c["verdict"] != "kept" || !strings.Contains(c["reason"].(string), "learned on 2026-03-") {
					t.Errorf("day %d, after the step: %v", day, c)
				}
			}
		}
		l.kill()
		l.run()
		l.ready()
		gate := l.threshold("gate")
		if gate["value"] != 0.6 || gate["source"] != "learned" || len(listOf(gate["history"])) != 5 {
			t.Errorf("after a restart: %v", gate)
		}
		l.call("DELETE", "/v1/thresholds", nil, 200)
		gate = l.threshold("gate")
		if gate["value"] != 0.7 || gate["source"] != "setting" || len(listOf(gate["history"])) != 6 {
			t.Errorf("after the reset: %v", gate)
		}
		if c := l.say("ada", "Ada repairs bicycles on Sundays", 0.69); c["verdict"] != "below_threshold" {
			t.Errorf("after the reset: %v", c)
		}
		l.erase("ada")
		l.erase("bob")
		if got := l.threshold("gate")["evidence"].(map[string]any)["lower"]; got != 0.0 {
			t.Errorf("evidence of erased users: %v", got)
		}
	})
}

// Facts that are forgotten soon after they were kept raise the gate, unless they are restored.
func TestThresholds_RiseByForgottenFacts(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		l := startLearner(t, size)
		var ids []string
		for n := range 6 {
			c := l.say("ada", fmt.Sprintf("Ada has bought lamp number %d in shop %d", n, n*7), 0.71)
			if c["verdict"] != "kept" {
				t.Fatalf("%v", c)
			}
			ids = append(ids, c["memory_id"].(string))
			l.call("DELETE", "/v1/memories/"+ids[n], nil, 200)
		}
		l.call("POST", "/v1/memories/"+ids[0]+"/restore", nil, 200)
		if e := l.threshold("gate")["evidence"].(map[string]any); e["higher"] != 5.0 || e["lower"] != 0.0 {
			t.Fatalf("evidence: %v", e)
		}
		first := l.call("GET", "/v1/thresholds/preview", nil, 200).list("thresholds")[0]
		if n := len(listOf(first["refused"])); first["next"] != 0.72 || n != 6 {
			t.Errorf("the preview refuses %d: %v", n, first)
		}
		l.night(0.72)
		c := l.say("ada", "Ada has bought a lamp for the garden", 0.71)
		if !strings.Contains(c["reason"].(string), "gate of 0.72, learned on 2026-03-05") {
			t.Errorf("after the step: %v", c)
		}
		l.key = l.createKey("--app", "other", "--role", "admin")
		if got := l.threshold("gate"); got["value"] != 0.7 || got["source"] == "learned" {
			t.Errorf("of another app: %v", got)
		}
		if c := l.say("ada", "Ada has bought a lamp for the garden", 0.71); c["verdict"] != "kept" {
			t.Errorf("in another app: %v", c)
		}
	})
}

// Irrelevant results of little confidence raise the confidence from which contexts have memories. The answers say which
// threshold they were made with. While learning is off, the setting serves.
func TestThresholds_RaiseTheConfidenceOfContexts(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		l := startWatched(t, append(size.settings(t), "HIPPOCAMPUS_RECALL_LOG=true")...)
		used := func() object {
			t.Helper()
			r := l.call("POST", "/v1/context", object{"user_id": "ada", "query": "Does Ada like jazz?"}, 200)
			return r.body["min_confidence"].(map[string]any)
		}
		if got := used(); got["value"] != 0.15 || got["source"] != "setting" {
			t.Fatalf("at the start: %v", got)
		}
		for n := range 12 {
			l.call("POST", "/v1/memories", object{"user_id": "ada", "content": fmt.Sprintf("Ada paints wall %d green.", n)}, 201)
		}
		l.irrelevant("ada", 10, "Is the wall tall?", "Is Bob tall?", "Which road is tall?", "Is the green car tall?")
		confidence := l.threshold("confidence")
		if confidence["next"] != 0.17 {
			t.Fatalf("%v", confidence)
		}
		preview := l.call("GET", "/v1/thresholds/preview", nil, 200).list("thresholds")[1]
		for _, g := range listOf(preview["gone"]) {
			if c := g["confidence"].(float64); c < 0.15 || c >= 0.17 || g["feedback"] != "irrelevant" {
				t.Errorf("would be gone: %v", g)
			}
		}
		l.night(0.7)
		if got := used(); got["value"] != 0.17 || got["source"] != "learned" {
			t.Errorf("after the step: %v", got)
		}
		r := l.call("POST", "/v1/context", object{"user_id": "ada", "query": "jazz", "min_confidence": 0}, 200)
		if got := r.body["min_confidence"].(map[string]any); got["value"] != 0.0 || got["source"] != "request" {
			t.Errorf("of a request: %v", got)
		}
		l.stop()
		l.env = append(l.env, "HIPPOCAMPUS_LEARNING_ENABLED=false")
		l.run()
		l.ready()
		if got := used(); got["value"] != 0.15 || got["source"] != "setting" {
			t.Errorf("with learning off: %v", got)
		}
	})
}

// Used results of little confidence lower the confidence from which contexts have memories.
func TestThresholds_LowerTheConfidenceOfContexts(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		l := startWatched(t, append(size.settings(t), "HIPPOCAMPUS_RECALL_LOG=true")...)
		for n := range 12 {
			l.call("POST", "/v1/memories", object{"user_id": "ada", "content": fmt.Sprintf("Ada paints wall %d green.", n)}, 201)
		}
		l.unsure("used", "ada", 10, "Is the wall tall?", "Is Bob tall?", "Which road is tall?", "Is the green car tall?")
		if got := l.threshold("confidence"); got["next"] != 0.13 {
			t.Fatalf("%v", got)
		}
		l.night(0.7)
		r := l.call("POST", "/v1/context", object{"user_id": "ada", "query": "Does Ada like jazz?"}, 200)
		if got := r.body["min_confidence"].(map[string]any); got["value"] != 0.13 || got["source"] != "learned" {
			t.Errorf("after the step: %v", got)
		}
	})
}

// irrelevant gives the feedback that results of little confidence are irrelevant.
func (s *server) irrelevant(user string, enough int, queries ...string) {
	s.t.Helper()
	s.unsure("irrelevant", user, enough, queries...)
}

// unsure gives feedback on results whose confidence is a little above the threshold, until there is enough of it.
func (s *server) unsure(feedback, user string, enough int, queries ...string) {
	s.t.Helper()
	given := 0
	for _, query := range queries {
		r := s.call("POST", "/v1/recall", object{"user_id": user, "query": query, "route": false}, 200)
		var ids []any
		for _, m := range r.list("memories") {
			if c := m["confidence"].(float64); c >= 0.15 && c < 0.25 {
				ids = append(ids, m["id"])
			}
		}
		if len(ids) == 0 {
			continue
		}
		logged := func() string {
			if list := s.call("GET", "/v1/recalls?limit=1&user_id="+user, nil, 200).list("recalls"); len(list) == 0 ||
				list[0]["id"] != r.body["recall_id"] {
				return fmt.Sprint(list)
			}
			return ""
		}
		eventually(s.t, "the log of recalls", logged)
		s.feedback(r.body["recall_id"], object{"user_id": user, feedback: ids}, 200)
		if given += len(ids); given >= enough {
			return
		}
	}
	s.t.Fatalf("only %d results have little confidence", given)
}
