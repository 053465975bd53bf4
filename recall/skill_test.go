package recall

import (
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Workflows of one skill are as relevant as the best of them and do not fade;
// all else stays as it is.
func TestWorkflowsOfASkillAreEquallyRelevant(t *testing.T) {
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
		docs = append(docs, db.Document{ID: c.id, Type: c.kind, Tags: c.tags, Importance: c.importance, CreatedAt: now, LastAccessedAt: now})
	}
	x := indexOf(docs)
	var found []candidate
	for i, c := range cases {
		found = append(found, candidate{id: c.id, doc: i, relevance: c.relevance})
	}
	level(found, x)
	s := &Service{set: Settings{DecayRate: 0.5}}
	q := Query{Mode: Modulated, Weights: &Weights{Relevance: 0.5, Decay: 0.2, Importance: 0.3}, At: now.Add(time.Hour)}
	var list []standing
	for i, c := range cases {
		got := s.standing(q, &found[i], c.importance, now)
		if found[i].relevance != c.want || found[i].skill != c.lift || got.decay != c.decay {
			t.Errorf("%s: relevance %g, of which %g was added, decay %g; want %g, %g, %g", c.id, found[i].relevance, found[i].skill, got.decay, c.want, c.lift, c.decay)
		}
		list = append(list, got)
	}
	sortByScore(list)
	if list[0].id != "tagged fact" || list[1].id != "proven" || list[2].id != "worded" {
		t.Errorf("%s, %s, %s", list[0].id, list[1].id, list[2].id)
	}
}
