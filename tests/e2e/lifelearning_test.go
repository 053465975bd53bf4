package e2e

import (
	"net/url"
	"slices"
	"testing"
	"time"
)

// units is what Maya asks for on two days, at the end of the talks maya-03 and maya-05. It is the one sentence that the
// script of the two weeks lacks: what is asked for there, is asked for once.
const units = "Please use metric units."

// withUnits returns the first five days of the script, with the sentence.
func withUnits(script []entry) (days []entry) {
	for _, e := range script {
		switch {
		case e.Servers != "":
			return days
		case e.Talk == "maya-03", e.Talk == "maya-05":
			e.Turns = append(slices.Clip(e.Turns), said{
				Said:  []message{{User: units}},
				Facts: []scoredFact{{Fact: units, Domain: "user_preferences", Type: "preference", Importance: 0.8}},
			})
		}
		days = append(days, e)
	}
	return days
}

// Five days of the life teach: what Maya asks for on two days becomes an instruction, feedback of Lin Xiao moves the
// confidence of contexts, and both find what the other has shared.
func TestTwoWeeks_Teach(t *testing.T) {
	script := withUnits(readScript(t))
	onTwoSizes(t, func(t *testing.T, size size) {
		l := newLife(t, size, script, append(evolving("propose"), "HIPPOCAMPUS_LEARNING_ENABLED=true",
			"HIPPOCAMPUS_RECALL_LOG=true", "HIPPOCAMPUS_SCHEDULE_PURGE=@every 1s")...)
		for _, e := range script {
			l.live(e)
		}
		l.until(lifeBegins.AddDate(0, 0, 5))
		s := l.servers[0]

		proposed := s.waitForProposals("maya", units)
		s.call("POST", "/v1/proposals/"+proposed[units]+"/approve", nil, 200)
		if lines := s.lines("maya"); !slices.Contains(lines, units) {
			t.Errorf("the instructions of maya: %q", lines)
		}
		if lines := s.lines("linxiao"); slices.Contains(lines, units) {
			t.Errorf("the instructions of linxiao: %q", lines)
		}

		s.irrelevant("linxiao", 10, "Which tram goes to the market?", "What does she sing?", "When does the choir rehearse?")
		confidence := func() object { return s.call("GET", "/v1/thresholds", nil, 200).list("thresholds")[1] }
		if c := confidence(); c["value"] != 0.15 || c["next"] != 0.17 {
			t.Errorf("after the feedback: %v", c)
		}
		l.until(l.now.Add(24 * time.Hour))
		eventually(t, "the step of the threshold", func() string {
			return unless(confidence()["value"] == 0.17, confidence())
		})
		asked := s.call("POST", "/v1/context", object{"user_id": "maya", "query": "Where do I work?"}, 200)
		if used := asked.body["min_confidence"].(map[string]any); used["value"] != 0.17 || used["source"] != "learned" {
			t.Errorf("the context of maya is made with %v", used)
		}

		for user, content := range map[string]string{"maya": night, "linxiao": peanut} {
			share(s, user, content)
		}
		if got := s.ask("linxiao", "Who works night shifts as a nurse?"); got[0] != "maya/<nil>: "+night {
			t.Errorf("linxiao recalls %q", got)
		}
		if got := s.ask("maya", "谁对花生过敏？"); got[0] != "linxiao/<nil>: "+peanut {
			t.Errorf("maya recalls %q", got)
		}
	})
}

// share promotes the active memory of a user that has a content.
func share(s *server, user, content string) {
	s.t.Helper()
	found := s.call("GET", "/v1/memories?limit=500&user_id="+url.QueryEscape(user), nil, 200)
	for _, m := range found.list("memories") {
		if m["content"] == content {
			s.call("POST", "/v1/pool", object{"user_id": user, "memory_id": m["id"]}, 201)
			return
		}
	}
	s.t.Fatalf("%s has no memory %q: %s", user, content, found.raw)
}
