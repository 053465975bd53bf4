package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
)

// replicasOf starts the servers of an installation: two on Postgres, and one on SQLite, which serves no second one.
func replicasOf(t *testing.T, size size, settings ...string) []*server {
	t.Helper()
	settings = slices.Concat(size.settings(t), settings)
	servers := []*server{start(t, settings...)}
	if size.name == sizes[0].name {
		return append(servers, servers[0])
	}
	servers = append(servers, start(t, settings...))
	for _, s := range servers {
		t.Cleanup(s.stop) // so that no query runs when the schema is dropped
	}
	return servers
}

// onOneAndTwo runs a scenario on one server with SQLite, and on two with Postgres.
func onOneAndTwo(t *testing.T, scenario func(t *testing.T, size size)) {
	on(t, []size{sizes[0], sizes[2]}, scenario)
}

// Two turns of a user contradict each other and arrive at the same time, with two replicas each at another one. Whether
// a model or rules compare them, and whichever is written first, the statement that was said later is the current one.
func TestTogether_TurnsOfAUserAreComparedAsTheyWereSaid(t *testing.T) {
	onOneAndTwo(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		scoredLate := func(place string) llmtest.Reply {
			return llmtest.Text(fmt.Sprintf(`{"facts":[{"fact":"The user lives in %s.","importance":0.9}]}`, place)).
				After(400 * time.Millisecond)
		}
		models.OnPrompt("hippocampus/score", func(r llmtest.ChatRequest) llmtest.Reply {
			if strings.Contains(r.User, "Groningen") {
				return scoredLate("Groningen")
			}
			return scoredLate("Utrecht")
		})
		models.OnPrompt("hippocampus/judge", func(r llmtest.ChatRequest) llmtest.Reply {
			return llmtest.Text(`{"decisions":[{"memory":1,"decision":"replace","relation":"contradicts"}]}`)
		})
		for scorer, settings := range map[string][]string{"model": withModels(models), "rules": nil} {
			servers := replicasOf(t, size, settings...)
			users := 20
			if scorer == "model" {
				users = 8
			}
			var reports sync.WaitGroup
			for i := range users {
				said := []object{
					{"content": "I live in Utrecht.", "at": "2026-01-03T10:00:00Z"},
					{"content": "I live in Groningen now.", "at": "2026-01-03T10:00:05Z"},
				}
				for n, message := range said {
					reports.Go(func() {
						servers[(i+n)%2].call("POST", "/v1/turns", object{
							"user_id": fmt.Sprint(scorer, i), "at": message["at"],
							"messages": []object{{"role": "user", "content": message["content"]}},
						}, 202)
					})
				}
			}
			reports.Wait()
			for i := range users {
				user := fmt.Sprint(scorer, i)
				eventually(t, "both facts of "+user, func() string {
					if all := servers[0].factsOf(user, "active", "superseded"); len(all) != 2 {
						return fmt.Sprint(all)
					}
					return ""
				})
				if active := servers[1].factsOf(user, "active"); len(active) != 1 || !strings.Contains(active[0], "Groningen") {
					t.Errorf("%s has the facts %q", user, active)
				}
			}
		}
	})
}

// More turns of one user arrive at the same time than wait for each other. The statement that was said last is current.
func TestTogether_ManyTurnsOfAUserAreCompared(t *testing.T) {
	onOneAndTwo(t, func(t *testing.T, size size) {
		servers := replicasOf(t, size)
		cities := strings.Fields("Porto Faro Braga Oslo Ghent Leeds Turin Zagreb Krakow Malmo")
		for _, user := range []string{"ada", "bob", "cem"} {
			var reports sync.WaitGroup
			for i, city := range cities {
				reports.Go(func() {
					said := turn(user, "I live in "+city+" now.")
					said["at"] = fmt.Sprintf("2026-01-03T10:00:%02dZ", i)
					servers[i%2].call("POST", "/v1/turns", said, 200)
				})
			}
			reports.Wait()
			active := servers[0].factsOf(user, "active")
			if len(active) != 1 || !strings.Contains(active[0], cities[len(cities)-1]) {
				t.Errorf("%s has the facts %q", user, active)
			}
		}
	})
}

// factsOf returns the contents of a user's facts with one of some statuses.
func (s *server) factsOf(user string, statuses ...string) (contents []string) {
	s.t.Helper()
	for _, status := range statuses {
		for _, m := range s.call("GET", "/v1/memories?type=fact&status="+status+"&user_id="+user, nil, 200).list("memories") {
			contents = append(contents, m["content"].(string))
		}
	}
	return contents
}

// Backends report overlapping lists of the messages of one conversation at the same time, without ids and each twice,
// with two replicas to both. Each message is one event, and one memory.
func TestTogether_OverlappingReportsAreOneConversation(t *testing.T) {
	onOneAndTwo(t, func(t *testing.T, size size) {
		servers := replicasOf(t, size)
		var list []object
		for n := range 12 {
			list = append(list, object{"role": "user", "content": fmt.Sprintf("Hive %d gave me %d jars of honey.", n, 30+n)})
		}
		report := func(s *server, length int) {
			s.call("POST", "/v1/turns", object{
				"user_id": "ada", "conversation_id": "c", "wait": true, "messages": list[:length],
			}, 200, 202)
		}
		// Of fewer than three messages that are not the last ones, the server does not know whether they were said again.
		for length := 4; length <= len(list); length += 2 {
			var reports sync.WaitGroup
			for i := range 4 {
				reports.Go(func() { report(servers[i%2], length-i/2) })
			}
			reports.Wait()
		}
		c := servers[0].call("GET", "/v1/conversations/c?user_id=ada&limit=100", nil, 200).body
		if events := c["conversation"].(map[string]any)["events"]; events != float64(len(list)) {
			t.Errorf("the conversation has %v events, want %d", events, len(list))
		}
		for _, s := range servers {
			recalled := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "How much honey?", "limit": 20}, 200)
			contents := map[any]int{}
			for _, m := range recalled.list("memories") {
				contents[m["content"]]++
			}
			if len(contents) != len(list) || len(recalled.list("memories")) != len(list) {
				t.Errorf("a recall returns %v", contents)
			}
		}
	})
}
