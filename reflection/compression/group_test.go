package compression

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/reflection/episodes"
)

// Three core statements stand for ten statements after 30 days, and one pattern for what is left after 90.
func TestStage_FollowsTheAgeOfTheEpisode(t *testing.T) {
	t.Parallel()
	some := func(n, length int) (list []memory.Memory) {
		for i := range n {
			list = append(list, memory.Memory{ID: fmt.Sprint(i), Content: strings.Repeat("a", length)})
		}
		return list
	}
	id := memory.NewID()
	of := func(pattern bool) []db.EpisodeMember {
		metadata := fmt.Appendf(nil, `{"episode":%q,"pattern":%t}`, id, pattern)
		core := memory.Memory{Type: memory.TypeSummary, Metadata: metadata}
		return []db.EpisodeMember{{EpisodeID: id, Memory: core}, {EpisodeID: id}}
	}
	for name, c := range map[string]struct {
		left    []memory.Memory
		members []db.EpisodeMember
		days    int
		want    string // "n>most" of each group, with "!" for a pattern
	}{
		"ten":                           {some(10, 9), nil, 30, "10>3"},
		"eleven":                        {some(11, 9), nil, 89, "11>4"},
		"three":                         {some(3, 9), nil, 30, "3>1"},
		"two":                           {some(2, 9), nil, 100, ""},
		"ten at once":                   {some(10, 9), nil, 90, "10>1!"},
		"more than a prompt holds":      {some(70, 9), nil, 30, "60>18 10>3"},
		"more, and old":                 {some(70, 9), nil, 90, "60>18 10>3"},
		"longer than a prompt":          {some(4, 10_000), nil, 90, "2>1 2>1"},
		"core statements":               {some(3, 9), of(false), 89, ""},
		"old core statements":           {some(2, 9), of(false), 90, "2>1!"},
		"one core statement":            {some(1, 9), of(false), 90, ""},
		"a pattern, and what it lacked": {some(5, 9), of(true), 400, ""},
	} {
		var got []string
		for _, g := range stage(id, c.left, c.members, time.Duration(c.days)*day) {
			text := fmt.Sprintf("%d>%d", len(g.memories), g.most)
			if g.core.Pattern {
				text += "!"
			}
			if g.core.Episode != id {
				t.Errorf("%s: of episode %q", name, g.core.Episode)
			}
			got = append(got, text)
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s: %q, want %q", name, all, c.want)
		}
	}
}

// What a pattern stands for reaches back to the first statement, and the metadata of others mean nothing.
func TestCoreOf_ReadsSummariesAlone(t *testing.T) {
	t.Parallel()
	id := memory.NewID()
	m := memory.Memory{Type: memory.TypeSummary, CreatedAt: begin,
		Metadata: fmt.Appendf(nil, `{"episode":%q,"from":"2026-02-01T00:00:00Z"}`, id)}
	if c := episodes.CoreOf(m); c == nil || c.Episode != id || episodes.BeganAt(m).Equal(begin) {
		t.Errorf("%+v", c)
	}
	for _, metadata := range []string{"", "{}", `{"episode":7}`, `{"episode":"spring"}`, `[]`} {
		m.Metadata = []byte(metadata)
		if c := episodes.CoreOf(m); c != nil || !episodes.BeganAt(m).Equal(begin) {
			t.Errorf("%s: %+v", metadata, c)
		}
	}
	m.Metadata, m.Type = fmt.Appendf(nil, `{"episode":%q}`, id), memory.TypeFact
	if episodes.CoreOf(m) != nil {
		t.Error("a fact")
	}
}
