package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// lived is a statement of a life, and the episode that a reader puts it into; "-": no episode.
type lived struct{ at, episode, said string }

// lifeOf reads a life, which was written before the code that groups memories.
func lifeOf(t *testing.T, name string) (life []lived) {
	t.Helper()
	data, err := os.ReadFile("../../reflection/episodes/testdata/" + name + ".tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		life = append(life, lived{f[0] + ":00Z", f[1], f[2]})
	}
	return life
}

// live reports a life as turns, a conversation a day.
func (s *server) live(user string, life []lived) {
	s.t.Helper()
	for _, l := range life {
		s.call("POST", "/v1/turns", object{
			"user_id": user, "conversation_id": l.at[:10], "wait": true,
			"messages": []object{{"role": "user", "content": l.said, "at": l.at}, {"role": "assistant", "content": "OK."}},
		}, 200)
	}
}

// episodes lists all episodes of a user, each with its memories.
func (s *server) episodes(user, query string) (all []object) {
	s.t.Helper()
	cursor := ""
	for {
		page := s.call("GET", "/v1/users/"+user+"/episodes?limit=3"+query+cursor, nil, 200)
		for _, e := range page.list("episodes") {
			all = append(all, s.call("GET", "/v1/users/"+user+"/episodes/"+e["id"].(string), nil, 200).body)
		}
		next, more := page.body["next_cursor"].(string)
		if !more {
			return all
		}
		cursor = "&cursor=" + next
	}
}

// agreement compares the pairs of statements in one episode with a reader's: precision is the share of the server's
// pairs that a reader puts into one episode, recall the share of the reader's pairs that the server does.
func agreement(life []lived, episodes []object) (precision, recall float64) {
	in := make([]int, len(life))
	for n, e := range episodes {
		for _, m := range listOf(e["memories"]) {
			content := m["content"].(string)
			for i, l := range life {
				if strings.Contains(l.said, content) || strings.Contains(content, l.said) {
					in[i] = n + 1
				}
			}
		}
	}
	var both, ours, readers float64
	for i, a := range life {
		for j, b := range life[:i] {
			same, grouped := a.episode == b.episode && a.episode != "-", in[i] == in[j] && in[i] > 0
			if same {
				readers++
			}
			if grouped {
				ours++
			}
			if same && grouped {
				both++
			}
		}
	}
	return both / max(ours, 1), both / readers
}

// The turns of half a year become the episodes that a reader finds, in English and Chinese.
func TestEpisodes_AgreeWithAReader(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for _, name := range []string{"life_en", "life_zh", "other_en", "other_zh"} {
			life := lifeOf(t, name)
			s.live(name, life)
			made := s.call("POST", "/v1/users/"+name+"/episodes", nil, 200)
			found := s.episodes(name, "")
			precision, recall := agreement(life, found)
			t.Logf("%s: %d episodes, precision %.3f, recall %.3f: %s", name, len(found), precision, recall, made.raw)
			for _, e := range found {
				t.Log(e["from"], e["to"], e["count"], e["title"], e["theme"], e["domains"])
			}
			if precision < 0.75 || recall < 0.75 {
				t.Errorf("%s: precision %.3f, recall %.3f", name, precision, recall)
			}
			if name == "life_en" {
				s.checkTheme(name, life, found)
			}
		}
	})
}

// checkTheme expects one theme of three episodes: the search for a house, the move there, and its garden.
func (s *server) checkTheme(user string, life []lived, found []object) {
	s.t.Helper()
	of, theme := map[string][]string{}, object{} // the reader's names of the episodes, by theme
	for _, e := range found {
		in, ok := e["theme"].(map[string]any)
		if !ok {
			continue
		}
		theme = in
		content := listOf(e["memories"])[0]["content"].(string)
		at := slices.IndexFunc(life, func(l lived) bool {
			return strings.Contains(l.said, content) || strings.Contains(content, l.said)
		})
		of[in["id"].(string)] = append(of[in["id"].(string)], life[max(0, at)].episode)
	}
	id, _ := theme["id"].(string)
	names := slices.Sorted(slices.Values(of[id]))
	if len(of) != 1 || !slices.Equal(names, []string{"garden", "house", "move"}) {
		s.t.Fatalf("the themes have %v", of)
	}
	if title, _ := theme["title"].(string); !strings.Contains(strings.ToLower(title), "house") {
		s.t.Errorf("the title of the theme is %q", title)
	}
	listed := s.episodes(user, "&theme="+id)
	if len(listed) != len(names) || slices.ContainsFunc(listed, func(e object) bool {
		in, _ := e["theme"].(map[string]any)
		return in["id"] != id
	}) {
		s.t.Errorf("the theme lists %q", titles(listed))
	}
}

// titles lists the titles of episodes.
func titles(episodes []object) (all []string) {
	for _, e := range episodes {
		all = append(all, e["title"].(string))
	}
	return all
}

// The nightly job has the chat model name episodes: a name that the memories do not have is refused, and a name goes
// with a memory that it was read from.
func TestEpisodes_AreNamedByAModel(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		models.OnPrompt("hippocampus/name", func(r llmtest.ChatRequest) llmtest.Reply {
			if strings.Contains(r.User, "Kyoto") {
				return llmtest.Text(`{"title":"Trip to Kyoto with Zaphod"}`)
			}
			return llmtest.Text(`{"title":"Leg cancer"}`)
		})
		s := start(t, append(append(size.settings(t), withModels(models)...), "HIPPOCAMPUS_SCHEDULE_EPISODES=@every 1s")...)
		var ids []string
		for i, content := range []string{
			"I plan a trip to Kyoto.", "I booked a ryokan in Kyoto.", "I meet Zaphod in Kyoto.", "The train to Kyoto was late.",
			"The surgeon found a tumour.", "The tumour is benign, the surgeon says.", "The surgeon removes the tumour.",
		} {
			ids = append(ids, s.call("POST", "/v1/memories", object{
				"user_id": "ada", "content": content, "at": fmt.Sprintf("2026-05-%02dT09:00:00Z", 1+i), "importance": 0.9,
			}, 201).body["id"].(string))
		}
		wait := func(want ...string) {
			t.Helper()
			eventually(t, "titles", func() string {
				if all := titles(s.episodes("ada", "")); !slices.Equal(all, want) {
					return fmt.Sprintf("%q", all)
				}
				return ""
			})
		}
		wait("Surgeon, tumour", "Trip to Kyoto with Zaphod")
		s.call("POST", "/v1/memories/forget", object{"ids": []string{ids[2]}}, 200)
		wait("Surgeon, tumour", "Kyoto")
	})
}

// Episodes follow their memories: what is forgotten leaves them and their titles, what an agent alone sees stays with
// it, and a key of one user reads the episodes of this user. They are made again when a conversation has ended, and
// outlast a restart; they are made of a clone and after a merge, and an erasure removes them.
func TestEpisodes_FollowTheirMemories(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		write := func(user, agent, at, content string) string {
			t.Helper()
			body := object{"user_id": user, "content": content, "at": at, "importance": 0.9}
			if agent != "" {
				body["agent_id"] = agent
			}
			return s.call("POST", "/v1/memories", body, 201).body["id"].(string)
		}
		trip := []string{
			write("ada", "", "2026-05-01T09:00:00Z", "Ada plans a trip to Kyoto in June."),
			write("ada", "", "2026-05-03T09:00:00Z", "Ada booked a ryokan in Kyoto for the trip."),
			write("ada", "", "2026-05-05T09:00:00Z", "Ada bought rail passes for the trip to Kyoto."),
			write("ada", "", "2026-05-07T09:00:00Z", "Ada will meet Zaphod at the temple in Kyoto."),
			write("ada", "", "2026-05-09T09:00:00Z", "Ada met Zaphod, and the trip to Kyoto was fine."),
		}
		for i, content := range []string{
			"Ada's surgeon found a tumour.", "Ada's tumour is benign, the surgeon says.", "Ada's surgeon removes the tumour.",
		} {
			write("ada", "doctor", fmt.Sprintf("2026-05-1%dT09:00:00Z", i), content)
		}
		write("ada", "", "2026-05-20T09:00:00Z", "The dishwasher leaks.")
		s.call("POST", "/v1/users/ada/episodes", nil, 200)
		if r := s.call("POST", "/v1/users/ada/episodes", nil, 200); r.body["same"] != true {
			t.Errorf("made twice: %s", r.raw)
		}
		if all := titles(s.episodes("ada", "")); !slices.Equal(all, []string{"Surgeon, tumour", "Kyoto, trip, Zaphod"}) {
			t.Fatalf("episodes %q", all)
		}
		if seen := titles(s.episodes("ada", "&agent_id=cook")); !slices.Equal(seen, []string{"Kyoto, trip, Zaphod"}) {
			t.Errorf("another agent sees %q", seen)
		}
		first := s.call("GET", "/v1/users/ada/episodes?agent_id=cook", nil, 200).list("episodes")[0]
		private := s.call("GET", "/v1/users/ada/episodes?limit=1", nil, 200).list("episodes")[0]["id"].(string)
		s.call("GET", "/v1/users/ada/episodes/"+private+"?agent_id=cook", nil, 404)
		s.call("GET", "/v1/users/bob/episodes/"+private, nil, 404)
		if in := s.episodes("ada", "&since=2026-05-10T00:00:00Z"); len(in) != 1 || in[0]["id"] != private {
			t.Errorf("since: %v", titles(in))
		}
		if in := s.episodes("ada", "&until=2026-05-02T00:00:00Z"); len(in) != 1 || in[0]["id"] != first["id"] {
			t.Errorf("until: %v", titles(in))
		}
		admin := s.key
		s.key = s.createKey("--role", "write", "--user", "ada")
		s.call("GET", "/v1/users/ada/episodes", nil, 200)
		s.call("GET", "/v1/users/bob/episodes", nil, 403)
		s.call("POST", "/v1/users/bob/episodes", nil, 403)
		s.key = admin

		recalled := s.call("POST", "/v1/recall", object{
			"user_id": "ada", "agent_id": "cook", "query": "ryokan in Kyoto", "expand": "episodes", "limit": 1, "touch": false,
		}, 200).list("memories")[0]
		near, _ := recalled["episode"].(map[string]any)
		var ids []string
		for _, m := range listOf(near["memories"]) {
			ids = append(ids, m["id"].(string))
		}
		if recalled["id"] != trip[1] || near["title"] != "Kyoto, trip, Zaphod" || near["count"] != 5.0 ||
			!slices.Equal(ids, []string{trip[0], trip[2], trip[3]}) {
			t.Errorf("a recalled memory with its episode: %v", recalled)
		}
		opened := s.call("POST", "/v1/context", object{
			"user_id": "ada", "agent_id": "cook", "query": "What did Ada book?", "episode": first["id"], "preferences": false,
		}, 200)
		if strings.Contains(opened.raw, "tumour") || strings.Contains(opened.raw, "dishwasher") ||
			strings.Count(opened.body["text"].(string), "Kyoto") != 5 {
			t.Errorf("a context of an episode: %s", opened.body["text"])
		}
		s.call("POST", "/v1/context", object{
			"user_id": "ada", "agent_id": "cook", "query": "tumour", "episode": private,
		}, 404)

		s.call("DELETE", "/v1/memories/"+trip[3], nil, 200)
		s.call("DELETE", "/v1/memories/"+trip[4], nil, 200)
		after := s.call("GET", "/v1/users/ada/episodes?agent_id=cook", nil, 200)
		if strings.Contains(after.raw, "Zaphod") || after.list("episodes")[0]["count"] != 3.0 {
			t.Errorf("after two memories were forgotten: %s", after.raw)
		}
		s.call("POST", "/v1/memories/"+trip[3]+"/restore", nil, 200)
		s.kill()
		s.run()
		s.ready()
		if all := titles(s.episodes("ada", "&agent_id=cook")); !slices.Equal(all, []string{"Kyoto, trip, Zaphod"}) {
			t.Errorf("after a restore and a restart: %q", all)
		}

		for i, said := range []string{"I want to learn Danish.", "My Danish course began.", "I passed the Danish exam."} {
			s.call("POST", "/v1/turns", object{
				"user_id": "bob", "conversation_id": "c", "wait": true, "messages": []object{
					{"role": "user", "content": said, "at": fmt.Sprintf("2026-06-0%dT09:00:00Z", i+1)},
				},
			}, 200)
		}
		s.call("POST", "/v1/conversations/c/end", object{"user_id": "bob"}, 202)
		eventually(t, "the episodes of an ended conversation", func() string {
			if all := titles(s.episodes("bob", "")); len(all) != 1 || !strings.Contains(all[0], "Danish") {
				return fmt.Sprintf("%q", all)
			}
			return ""
		})
		s.call("POST", "/v1/users/bob/clone", object{"into": "copy"}, 200)
		s.call("POST", "/v1/users/copy/episodes", nil, 200)
		if all := titles(s.episodes("copy", "")); !slices.Equal(all, titles(s.episodes("bob", ""))) {
			t.Errorf("a clone has %q", all)
		}
		s.call("POST", "/v1/users/bob/merge", object{"into": "ada"}, 200)
		eventually(t, "the episodes after a merge", func() string {
			s.call("POST", "/v1/users/ada/episodes", nil, 200, 409)
			if all := titles(s.episodes("ada", "")); len(all) != 3 {
				return fmt.Sprintf("%q", all)
			}
			return ""
		})
		s.erase("ada") // a push that the killed server has begun may hold it up
		eventually(t, "an erasure", func() string {
			if all := s.episodes("ada", ""); len(all) > 0 {
				return fmt.Sprintf("%q", titles(all))
			}
			return ""
		})
	})
}
