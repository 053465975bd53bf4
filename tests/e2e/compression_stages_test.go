package e2e

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
)

// aged is a server with a clock that the test moves, and a chat model that keeps the first sentences.
type aged struct {
	*server
	models *llmtest.Server
	clock  string
	now    time.Time
}

func startAged(t *testing.T, size size) *aged {
	t.Helper()
	a := &aged{
		models: llmtest.New(t), clock: filepath.Join(t.TempDir(), "clock"), now: time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC),
	}
	a.models.OnChat(llmtest.Rules)
	if err := os.WriteFile(a.clock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a.set(t, 0)
	// Without a key for embeddings, the built-in embedder serves.
	settings := append(size.settings(t), "DEEPSEEK_API_KEY=chat-key", "DEEPSEEK_API_BASE="+a.models.URL(),
		"E2E_CLOCK="+a.clock, "HIPPOCAMPUS_REFLECTION_IMPORTANCE=1000")
	a.server = start(t, settings...)
	return a
}

func (a *aged) set(t *testing.T, days int) {
	t.Helper()
	a.now = a.now.AddDate(0, 0, days)
	if err := os.Chtimes(a.clock, a.now, a.now); err != nil {
		t.Fatal(err)
	}
}

// write writes a statement of the clock's time, which the rules of forgetting do not keep.
func (a *aged) write(user, agent, content string) string {
	a.t.Helper()
	body := object{"user_id": user, "content": content, "importance": 0.7}
	if agent != "" {
		body["agent_id"] = agent
	}
	return a.call("POST", "/v1/memories", body, 201, 200).body["id"].(string)
}

// live lets active days pass for a user, also with an agent unless it is empty.
func (a *aged) live(user, agent string, days int) {
	a.t.Helper()
	a.pass(0)
	for range days {
		a.set(a.t, 1)
		turn := object{
			"user_id": user, "memory": "off", "wait": true, "messages": []object{{"role": "user", "content": "Hello!"}},
		}
		if agent != "" {
			turn["agent_id"] = agent
		}
		a.call("POST", "/v1/turns", turn, 200)
	}
}

// pass moves the clock when no push holds a memory. A failed push is tried again when the clock has moved.
func (a *aged) pass(days int) {
	a.t.Helper()
	eventually(a.t, "the end of the pushes", func() string {
		a.now = a.now.Add(time.Second)
		a.set(a.t, 0)
		return strings.Join(unconfirmed.FindAllString(a.call("GET", "/metrics", nil, 200).raw, -1), ", ")
	})
	a.set(a.t, days)
}

func (a *aged) compress(user string) (groups []object) {
	a.t.Helper()
	return a.call("POST", "/v1/compress", object{"user_id": user}, 200).list("groups")
}

// ofTrip are statements of one episode.
var ofTrip = []string{
	"Ada plans a trip to Kyoto in June.", "Ada booked a ryokan in Kyoto for the trip.",
	"Ada bought rail passes for the trip to Kyoto.", "Ada will meet Zaphod in Kyoto at the temple.",
	"Ada packs two suitcases for the trip to Kyoto.", "Ada flew to Kyoto with a stop in Helsinki.",
	"Ada ate eleven courses in the ryokan in Kyoto.", "Ada lost her umbrella on the trip to Kyoto.",
	"Ada visited nine temples in Kyoto.", "Ada wants to see Kyoto again in autumn.",
}

// writeTrip stores the statements, one a day, and returns their ids.
func (a *aged) writeTrip(user, agent string) (ids []string) {
	a.t.Helper()
	for _, content := range ofTrip {
		ids = append(ids, a.write(user, agent, content))
		a.pass(1)
	}
	return ids
}

// left returns the contents of the user's active memories, in order.
func (a *aged) left(user string) []string {
	a.t.Helper()
	all := a.everything(user)
	slices.Sort(all)
	return all
}

// condensed compresses a user's only episode, and wants that a second run does nothing and asks no model. It returns
// the ids of the summaries.
func (a *aged) condensed(user string, summaries int) (ids []string) {
	a.t.Helper()
	groups := a.compress(user)
	if len(groups) != 1 || groups[0]["refused"] != nil {
		a.t.Fatalf("the episode: %v", groups)
	}
	for _, m := range listOf(groups[0]["summaries"]) {
		ids = append(ids, m["id"].(string))
	}
	if len(ids) != summaries {
		a.t.Fatalf("%d summaries, not %d: %v", len(ids), summaries, groups)
	}
	chats := a.models.Chats()
	if again := a.compress(user); len(again) > 0 || a.models.Chats() != chats {
		a.t.Fatalf("a second run: %v", again)
	}
	return ids
}

// An episode of ten statements becomes three core statements after 30 active days, and one pattern after 90: days
// without the user do not count. The episode stays, and has what stands for its statements. What is recalled often
// stays as it is. Undone summaries bring everything back, for good.
func TestCompression_CondensesEpisodesInTwoStages(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		a := startAged(t, size)
		ids := a.writeTrip("ada", "")
		used := a.write("ada", "", "Ada keeps the map of Kyoto from the trip.")
		for range 5 {
			a.call("POST", "/v1/recall", object{"user_id": "ada", "query": "the map of Kyoto", "limit": 1}, 200)
		}
		eventually(t, "accesses", func() string {
			if m := a.call("GET", "/v1/memories/"+used, nil, 200); m.body["access_count"] != 5.0 {
				return m.raw
			}
			return ""
		})
		before := a.left("ada")
		a.pass(200)
		a.live("ada", "", 28)
		if groups := a.compress("ada"); len(groups) > 0 {
			t.Fatalf("before the 30th active day: %v", groups)
		}
		episode := a.episodes("ada", "")[0]
		a.live("ada", "", 3)
		cores := a.condensed("ada", 3)
		check := func(n int, condensed map[string]any) {
			t.Helper()
			if all := a.left("ada"); len(all) != n+1 || !slices.Contains(all, "Ada keeps the map of Kyoto from the trip.") {
				t.Errorf("left: %q", all)
			}
			all := a.episodes("ada", "")
			if len(all) != 1 || all[0]["id"] != episode["id"] || all[0]["count"] != float64(n+1) ||
				all[0]["from"] != episode["from"] || all[0]["to"] != episode["to"] ||
				!strings.Contains(all[0]["title"].(string), "Kyoto") || !reflect.DeepEqual(all[0]["condensed"], condensed) {
				t.Errorf("the episode %v\nwas %v", all, episode)
			}
			a.pass(0) // a failed push is tried again when the clock has moved
			a.storesEqual(builtin, "ada")
		}
		check(3, map[string]any{"cores": 3.0, "patterns": 0.0})
		a.live("ada", "", 55)
		if groups := a.compress("ada"); len(groups) > 0 {
			t.Fatalf("before the 90th active day: %v", groups)
		}
		a.live("ada", "", 5)
		pattern := a.condensed("ada", 1)
		check(1, map[string]any{"cores": 0.0, "patterns": 1.0})

		sh := a.shell(t)
		condensed := regexp.MustCompile(`condensed to +1 pattern\n`)
		if out := sh.want(0, "hippocampus episode show Kyoto"); !condensed.MatchString(out) {
			t.Errorf("episode show prints %s", out)
		}
		if out := sh.want(0, "hippocampus undo "+pattern[0]); !strings.HasSuffix(out, "\nrestored 3 memories\n") {
			t.Errorf("undo prints %s", out)
		}
		for _, id := range cores {
			a.call("POST", "/v1/memories/"+id+"/undo", nil, 200)
		}
		if all := a.left("ada"); !slices.Equal(all, before) {
			t.Errorf("after the undo %q, before %q", all, before)
		}
		if groups := a.compress("ada"); len(groups) > 0 {
			t.Errorf("after the undo: %v", groups)
		}
		all := a.episodes("ada", "")
		if len(all) != 1 || all[0]["count"] != float64(len(ids)+1) || all[0]["condensed"] != nil {
			t.Errorf("the episode after the undo: %v", all)
		}
	})
}

// A condensed episode of an agent stays with the agent. When a statement is forgotten that a pattern stands for, what
// it said is in no memory any more, and the others come back. An erasure leaves nothing.
func TestCompression_ForgetsWhatPatternsStandFor(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		a := startAged(t, size)
		ids := a.writeTrip("ada", "guide")
		a.live("ada", "guide", 31)
		a.condensed("ada", 3)
		a.live("ada", "guide", 60)
		pattern := a.condensed("ada", 1)[0]
		m := a.call("GET", "/v1/memories/"+pattern, nil, 200)
		if m.body["agent_id"] != "guide" || !strings.Contains(m.body["content"].(string), "Kyoto in June") {
			t.Fatalf("pattern: %s", m.raw)
		}
		ask := object{"user_id": "ada", "query": "trip to Kyoto", "agent_id": "cook", "touch": false, "route": false}
		if r := a.call("POST", "/v1/recall", ask, 200); len(r.list("memories")) > 0 {
			t.Errorf("another agent recalls %s", r.raw)
		}
		a.call("GET", "/v1/users/ada/episodes/"+a.episodes("ada", "")[0]["id"].(string)+"?agent_id=cook", nil, 404)

		a.call("DELETE", "/v1/memories/"+ids[0], nil, 200)
		left := a.left("ada")
		if strings.Contains(strings.Join(left, "\n"), "June") || !strings.Contains(strings.Join(left, "\n"), "ryokan") {
			t.Errorf("after a statement was forgotten: %q", left)
		}
		if all := a.call("GET", "/v1/users/ada/episodes", nil, 200); strings.Contains(all.raw, "June") {
			t.Errorf("the episode: %s", all.raw)
		}
		t.Log(strings.Join(left, "\n"))
		a.erase("ada")
		if all := append(a.left("ada"), titles(a.episodes("ada", ""))...); len(all) > 0 {
			t.Errorf("after the erasure: %q", all)
		}
	})
}
