package e2e

import (
	"os"
	"strings"
	"testing"
)

// lived is a statement of a life, and the episode that a reader puts it into; "-": none.
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
	onEachSize(t, func(t *testing.T, size size) {
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
		}
	})
}
