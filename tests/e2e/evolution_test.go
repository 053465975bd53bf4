package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// evolving are the settings with which instructions evolve every second.
func evolving(mode string) []string {
	return []string{"HIPPOCAMPUS_SCHEDULE_EVOLUTION=@every 1s", "HIPPOCAMPUS_REFLECTION_EVOLVE=" + mode}
}

// says reports a sentence of a user on a day as a turn.
func (s *server) says(user, day, sentence string) {
	s.t.Helper()
	s.call("POST", "/v1/turns", object{
		"user_id": user, "conversation_id": day, "wait": true,
		"messages": []object{{"role": "user", "content": sentence, "at": day + "T09:00:00Z"}},
	}, 200)
}

// tried reports outcomes of a workflow of the skill deploy, and returns the last answer.
func (s *server) tried(user, workflow string, success bool, notes ...string) (r reply) {
	s.t.Helper()
	for _, note := range notes {
		r = s.call("POST", "/v1/skills/deploy/outcomes", object{
			"user_id": user, "workflow": workflow, "success": success, "note": note,
		}, 200)
	}
	return r
}

// waitForProposals waits until exactly these texts are proposed about a user, in any order, and returns their ids by
// them.
func (s *server) waitForProposals(user string, want ...string) map[string]string {
	s.t.Helper()
	slices.Sort(want)
	var ids map[string]string
	eventually(s.t, "proposals", func() string {
		contents, found := s.proposals(user)
		ids = map[string]string{}
		for i, c := range contents {
			ids[c] = found[i]
		}
		slices.Sort(contents)
		if !slices.Equal(contents, want) {
			return fmt.Sprintf("%q, want %q", contents, want)
		}
		return ""
	})
	return ids
}

// nights waits until the job has run twice more from its beginning to its end.
func (s *server) nights() {
	s.t.Helper()
	list := func() []object { return s.call("GET", "/v1/jobs?kind=evolution&limit=20", nil, 200).list("jobs") }
	number := func(job object) int {
		n, err := strconv.Atoi(job["id"].(string))
		if err != nil {
			s.t.Fatal(err)
		}
		return n
	}
	last := 0
	for _, j := range list() {
		last = max(last, number(j))
	}
	eventually(s.t, "two runs", func() string {
		done := 0
		for _, j := range list() {
			if number(j) > last && j["state"] == "completed" {
				done++
			}
		}
		return unless(done >= 2, done)
	})
}

// lines are the lines of the instructions in a context of a user.
func (s *server) lines(user string) (all []string) {
	s.t.Helper()
	merged := s.call("GET", "/v1/instructions/merged?user_id="+url.QueryEscape(user), nil, 200)
	for _, i := range merged.list("instructions") {
		all = append(all, strings.Split(i["content"].(string), "\n")...)
	}
	return all
}

func (s *server) wantLines(user string, want ...string) {
	s.t.Helper()
	if have := s.lines(user); !slices.Equal(have, want) {
		s.t.Errorf("the instructions of %s are %q, want %q", user, have, want)
	}
}

const (
	short  = "Please keep your answers short."
	metric = "No, use metric units."
	failed = "This has failed more often than it has worked: Restart, then migrate"
)

// What a user asks for on two days is proposed in the user's words, once. An approval makes it a line of an
// instruction, and a rollback takes the line back. A rejected line is proposed again after the user has said it
// again, and a line leaves the instruction with the memory that it rests on.
func TestEvolution_FollowsRequests(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, append(size.settings(t), evolving("propose")...)...)
		s.says("ada", "2026-02-01", short)
		s.says("ada", "2026-02-01", "Never call me Ms Lovelace.")
		s.says("ada", "2026-02-01", "Use metric units please.")
		s.says("ada", "2026-02-02", "I moved to Porto.")
		s.says("ada", "2026-02-03", short)
		s.says("ada", "2026-02-04", metric)
		s.call("POST", "/v1/instructions", object{
			"scope": "user", "user_id": "bob", "name": "style", "content": "Answer in short sentences. Keep your answers short.",
		}, 201)
		s.says("bob", "2026-02-01", short)
		s.says("bob", "2026-02-03", short)
		ids := s.waitForProposals("ada", short, metric)
		s.wantLines("ada")

		s.call("POST", "/v1/proposals/"+ids[metric]+"/reject", nil, 200)
		approved := s.call("POST", "/v1/proposals/"+ids[short]+"/approve", nil, 200)
		s.call("POST", "/v1/proposals/"+ids[short]+"/approve", nil, 404)
		s.wantLines("ada", short)
		if !strings.Contains(approved.raw, `"grounds":[{"line":"Please keep your answers short.","memories":["`) {
			t.Errorf("approved: %s", approved.raw)
		}
		s.kill()
		s.run()
		s.ready()
		s.nights()
		s.waitForProposals("ada")
		s.waitForProposals("bob") // an instruction says it

		s.says("ada", "2026-02-05", metric)
		ids = s.waitForProposals("ada", metric)
		s.call("POST", "/v1/proposals/"+ids[metric]+"/approve", nil, 200)
		s.wantLines("ada", short, metric)
		s.call("POST", "/v1/instructions/requests/rollback", object{"scope": "user", "user_id": "ada"}, 200)
		s.wantLines("ada", short)
		s.nights()
		s.waitForProposals("ada")
		s.call("POST", "/v1/instructions/requests/activate", object{"scope": "user", "user_id": "ada", "version": 2}, 200)

		for _, m := range s.call("GET", "/v1/memories?user_id=ada&type=preference", nil, 200).list("memories") {
			if m["content"] == short {
				s.call("DELETE", "/v1/memories/"+m["id"].(string), nil, 200)
			}
		}
		s.wantLines("ada", metric)
		for version := 1; version <= 2; version++ {
			v := s.call("GET", fmt.Sprint("/v1/instructions/requests?scope=user&user_id=ada&version=", version), nil, 200)
			if strings.Contains(v.raw, "short") {
				t.Errorf("version %d has forgotten words: %s", version, v.raw)
			}
		}
		s.says("ada", "2026-02-07", "From now on, use imperial units.") // supersedes the other request
		eventually(t, "the line that no longer holds", func() string {
			return strings.Join(s.lines("ada"), "\n")
		})
		s.erase("ada")
		if rows := s.rowsNaming("metric"); len(rows) > 0 {
			t.Errorf("rows of an erased user: %v", rows)
		}
	})
}

// Without a model, a skill with a failing workflow gets the better one as its instruction, with the failing one
// marked. Outcomes name the version, which shows the rates before and after. Moving users takes it along.
func TestEvolution_FollowsOutcomesWithoutAModel(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, append(size.settings(t), evolving("propose")...)...)
		s.tried("ada", "Restart, then migrate", false, "down for an hour", "down again")
		s.tried("ada", "Migrate, then restart", true, "fine", "fine")
		s.tried("bob", "Restart, then migrate", false, "down", "down", "down")
		s.nights()
		s.waitForProposals("ada")
		s.waitForProposals("bob") // nothing is better

		const better = "deploy: Migrate, then restart"
		s.tried("ada", "Restart, then migrate", false, "down")
		ids := s.waitForProposals("ada", better+"\n"+failed)
		if page := s.call("GET", "/v1/proposals?user_id=ada", nil, 200); !strings.Contains(page.raw, "down for an hour") {
			t.Errorf("the proposal has no notes: %s", page.raw)
		}
		s.call("PUT", "/v1/users/ada", object{"memory": "off"}, 200)
		for _, id := range ids {
			s.call("POST", "/v1/proposals/"+id+"/approve", nil, 409)
			s.call("PUT", "/v1/users/ada", object{"memory": "on"}, 200)
			s.call("POST", "/v1/proposals/"+id+"/approve", nil, 200)
		}
		if r := s.tried("ada", "Migrate, then restart", true, "fine", "fine", "fine"); !strings.Contains(r.raw,
			`"instructions":[{"name":"skill: deploy","version":1}]`) {
			t.Errorf("the outcome names no version: %s", r.raw)
		}
		s.tried("ada", "Migrate, then restart", false, "slow")
		const rates = `"before":{"successes":2,"failures":3,"rate":0.4},"after":{"successes":3,"failures":1,"rate":0.75}`
		of := func(user string) string {
			return "/v1/instructions/skill:%20deploy?scope=user&user_id=" + url.QueryEscape(user)
		}
		if v := s.call("GET", of("ada"), nil, 200); !strings.Contains(v.raw, rates) {
			t.Errorf("rates: %s", v.raw)
		}
		s.call("POST", "/v1/users/ada/clone", object{"into": "eve"}, 200)
		s.call("POST", "/v1/users/ada/merge", object{"into": "ada lovelace"}, 200, 202)
		for _, user := range []string{"eve", "ada lovelace"} {
			eventually(t, "the instruction of "+user, func() string {
				if v := s.call("GET", of(user), nil, 200, 404); !strings.Contains(v.raw, rates) {
					return v.raw
				}
				return ""
			})
			held := s.call("GET", "/v1/memories?type=skill&user_id="+url.QueryEscape(user), nil, 200)
			for _, m := range held.list("memories") {
				s.call("DELETE", "/v1/memories/"+m["id"].(string), nil, 200)
			}
			s.wantLines(user, failed)
		}
		s.call("POST", "/v1/instructions/skill:%20deploy/rollback", object{"scope": "user", "user_id": "eve"}, 409)
	})
}

// A model writes the instruction from numbered evidence. Answers that are cut off, that cite nothing, that add names or
// that repeat what fails change nothing, and are not asked for again from the same evidence.
func TestEvolution_ChecksTheModel(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		var asked atomic.Int32
		answers := []string{
			`{"steps":[{"text":"Migrate before`, `{"steps":[{"text":"Ask Zaphod.","sources":[1]},` +
				`{"text":"Wait for 45 minutes.","sources":[2]},{"text":"Migrate first.","sources":[]},` +
				`{"text":"Migrate first.","sources":[99]},{"text":"Restart, then migrate.","sources":[1]}]}`,
			`{"steps":[{"text":"Migrate the schema before you restart.","sources":[1,2]},` +
				`{"text":"Call Trillian.","sources":[1]}]}`,
		}
		// The first question has the first two answers.
		models.OnPrompt("hippocampus/evolve", func(llmtest.ChatRequest) llmtest.Reply {
			return llmtest.Text(answers[min(int(asked.Add(1)), len(answers))-1])
		})
		s := start(t, slices.Concat(size.settings(t), withModels(models), evolving("publish"))...)
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Ada runs a server.", "importance": 0.9}, 201)
		s.tried("ada", "Restart, then migrate", false, "the schema was missing", "the schema was old", "no schema")
		eventually(t, "the question and its correction", func() string { return unless(asked.Load() == 2, asked.Load()) })
		s.nights()
		s.wantLines("ada")
		if n := asked.Load(); n != 2 {
			t.Errorf("asked %d times from the same evidence", n)
		}
		s.tried("ada", "Restart, then migrate", false, "down", "down", "down")
		eventually(t, "the instruction", func() string {
			have := s.lines("ada")
			return unless(slices.Equal(have, []string{"Migrate the schema before you restart."}), have)
		})
		s.call("POST", "/v1/instructions/skill:%20deploy/rollback", object{"scope": "user", "user_id": "ada"}, 409)
		s.call("DELETE", "/v1/instructions/skill:%20deploy?scope=user&user_id=ada", nil, 200)
		s.nights()
		s.wantLines("ada")
	})
}

// unless describes what was found, unless all is well.
func unless(well bool, found any) string {
	if well {
		return ""
	}
	return fmt.Sprint("found ", found)
}

// A server whose instructions do not evolve proposes nothing at night.
func TestEvolution_Off(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, append(append(size.settings(t), evolving("off")...), "HIPPOCAMPUS_SCHEDULE_PURGE=@every 1s")...)
		s.says("ada", "2026-02-01", short)
		s.says("ada", "2026-02-02", short)
		eventually(t, "three ticks", func() string {
			r := s.call("GET", "/v1/jobs?kind=purge", nil, 200)
			return unless(len(r.list("jobs")) > 2, r.raw)
		})
		jobs, proposed := s.call("GET", "/v1/jobs?kind=evolution", nil, 200), s.call("GET", "/v1/proposals", nil, 200)
		if len(jobs.list("jobs")) > 0 || len(proposed.list("proposals")) > 0 {
			t.Errorf("%s, %s", jobs.raw, proposed.raw)
		}
	})
}

// A server that publishes and is killed again and again publishes each request once. While memory is off for a user,
// and for what a policy never keeps, nothing is published.
func TestEvolution_OutlivesCrashes(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		users := []string{"off", "private"}
		for i := range 8 {
			users = append(users, fmt.Sprint("user ", i))
		}
		for _, user := range users {
			s.says(user, "2026-02-01", short)
			s.says(user, "2026-02-02", short)
		}
		s.says("private", "2026-02-01", metric)
		s.says("private", "2026-02-02", metric)
		s.call("PUT", "/v1/users/off", object{"memory": "off"}, 200)
		s.call("PUT", "/v1/policy", object{"never": object{"terms": []string{"metric"}}}, 200)
		s.kill()
		s.env = append(s.env, evolving("publish")...)
		for range 4 {
			s.run()
			s.ready()
			eventually(t, "a further line", func() string {
				have := 0
				for _, user := range users {
					have += len(s.lines(user))
				}
				return unless(have > 0, have)
			})
			s.kill()
		}
		s.run()
		s.ready()
		for _, user := range users[1:] {
			eventually(t, "the line of "+user, func() string { return unless(len(s.lines(user)) > 0, 0) })
		}
		s.nights()
		for _, user := range users[1:] {
			s.wantLines(user, short)
		}
		s.wantLines("off")
	})
}
