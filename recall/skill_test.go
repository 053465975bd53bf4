package recall

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Workflows of one skill are as relevant as the best of them and do not decay;
// other memories are unchanged.
func TestEqualizeSkills_GivesTheWorkflowsOfASkillOneRelevance(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	deploy := []string{"work", memory.SkillTag("deploy")}
	cases := []struct {
		id         string
		kind       memory.Type
		tags       []string
		importance float64
		relevance  float64
		want, lift float64
		decay      float64
	}{
		{"proven", memory.TypeSkill, deploy, 0.9, 0.25, 0.75, 0.5, 1},
		{"worded", memory.TypeSkill, deploy, 0.5, 0.75, 0.75, 0, 1},
		{"another", memory.TypeSkill, []string{memory.SkillTag("Deploy")}, 0.9, 0.5, 0.5, 0, 1},
		{"untagged", memory.TypeSkill, []string{"deploy"}, 0.9, 0.125, 0.125, 0, 0.5},
		{"tagged fact", memory.TypeFact, deploy, 0.9, 1, 1, 0, 0.5},
	}
	var docs []db.Document
	for _, c := range cases {
		docs = append(docs, db.Document{
			ID: c.id, Type: c.kind, Tags: c.tags, Importance: c.importance, CreatedAt: now, LastAccessedAt: now,
		})
	}
	x := newIndex(0, docs)
	var found []relevant
	for i, c := range cases {
		found = append(found, relevant{candidate: candidate{id: c.id, doc: i}, relevance: c.relevance})
	}
	equalizeSkills(found, x)
	s := &Service{}
	q := Query{Mode: Modulated, Weights: &defaults, DecayRate: 0.5, At: now.Add(time.Hour)}
	var list []scored
	for i, c := range cases {
		got := s.score(q, &found[i], c.importance, now)
		if found[i].relevance != c.want || found[i].skill != c.lift || got.decay != c.decay {
			t.Errorf("%s: relevance %g with %g added, decay %g; want %g, %g, %g",
				c.id, found[i].relevance, found[i].skill, got.decay, c.want, c.lift, c.decay)
		}
		list = append(list, got)
	}
	sortByScore(list)
	if list[0].id != "tagged fact" || list[1].id != "proven" || list[2].id != "worded" {
		t.Errorf("%s, %s, %s", list[0].id, list[1].id, list[2].id)
	}
}

// The best proven workflow of a skill comes first if another one is found,
// however far it is from the query in words and meaning, unless a filter excludes it.
func TestRecall_FindsTheBestProvenWorkflowOfASkill(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workflow := func(agent string, importance float64) func(*memory.Memory) {
		return func(m *memory.Memory) {
			m.Type, m.Tags = memory.TypeSkill, []string{memory.SkillTag("release")}
			m.AgentID, m.Importance = agent, importance
		}
	}
	for i := range 60 {
		f.add(fmt.Sprintf("release: upload the new version of the shop by way %d", i), workflow("", 0.3), true)
	}
	proven := f.add("release: make all", workflow("", 0.9), true)
	butlers := f.add("release: make some", workflow("butler", 0.95), true)
	f.add("baking: knead", func(m *memory.Memory) {
		m.Type = memory.TypeSkill
		m.Tags = []string{memory.SkillTag("baking")}
		m.Importance = 1
	}, true)
	q := Query{Text: "How do I release and upload the new version of the shop?", AgentID: "coach", NoTouch: true}
	a := f.recall(q)
	first := a.Memories[0]
	if first.Memory.ID != proven.ID || first.Similarity == 0 || first.Relevance != 1 || first.Skill == 0 ||
		!slices.Equal(first.Sources, []string{nameSkill}) {
		t.Errorf("%+v", first)
	}
	if q.AgentID = "butler"; f.recall(q).Memories[0].Memory.ID != butlers.ID {
		t.Errorf("for the butler: %q", contents(f.recall(q)))
	}
	if q.Types = []memory.Type{memory.TypeFact}; len(f.recall(q).Memories) != 0 {
		t.Errorf("of facts only: %q", contents(f.recall(q)))
	}
	q.Types, f.embedderDown = nil, true
	if got := contents(f.recall(q)); got[0] != butlers.Content {
		t.Errorf("without the embedder: %q", got)
	}
}
