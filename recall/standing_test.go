package recall

import (
	"slices"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
)

// standing returns the contents of a profile of Ada, with their sections.
func (f *fixture) standing(q Query) (list []string) {
	f.t.Helper()
	q.Owner = ada
	if q.Limit == 0 {
		q.Limit = 10
	}
	found, err := f.Standing(f.t.Context(), q)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, s := range found {
		list = append(list, string(s.Section)+": "+s.Memory.Content)
	}
	return list
}

func TestStanding_OrdersByImportanceAndAge(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	old := func(days int, importance float64, domain memory.Domain, kind memory.Type) func(*memory.Memory) {
		return func(m *memory.Memory) {
			m.CreatedAt = begin.Add(-time.Duration(days) * 24 * time.Hour)
			m.Importance, m.Domain, m.Type = importance, domain, kind
		}
	}
	f.add("Is called Ada", old(300, 0.95, memory.GeneralChat, memory.TypeFact), true)
	f.add("Likes jazz", old(1, 0.8, memory.Preferences, memory.TypeFact), true)
	f.add("Prefers short answers", old(900, 0.8, memory.GeneralChat, "preference"), true)
	f.add("Has a sister, Ida", old(20, 0.85, memory.Social, memory.TypeFact), true)
	f.add("Sees the dentist on Friday", old(1, 0.9, memory.Tasks, memory.TypeFact), true)
	f.add("Planned a trip to Rome", old(200, 0.95, memory.Lifestyle, "project"), true)
	f.add("Was promoted", old(-1, 0.99, memory.Profession, memory.TypeFact), true)
	f.add("Learns from failures", old(3, 0.9, memory.Lifestyle, "reflection"), true)
	want := []string{
		"identity: Learns from failures", "plans: Sees the dentist on Friday", "people: Has a sister, Ida",
		"identity: Is called Ada", "preferences: Likes jazz", "preferences: Prefers short answers",
		"plans: Planned a trip to Rome",
	}
	if got := f.standing(Query{}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := f.standing(Query{Limit: 2}); !slices.Equal(got, want[:2]) {
		t.Errorf("%q", got)
	}
}

func TestStanding_HasCurrentStatementsOfTheUserAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for kind, content := range map[memory.Type]string{
		memory.TypeMessage: "I live in Porto", "summary": "They spoke about Porto", "skill": "How to bake",
		"tool_use": "Searched for flights", "error": "The search failed", "observation": "Was in a hurry",
	} {
		f.add(content, func(m *memory.Memory) { m.Type = kind }, true)
	}
	f.add("Bob lives in Rome", func(m *memory.Memory) { m.Owner = bob }, true)
	f.add("Is called Agatha by the butler", func(m *memory.Memory) { m.AgentID = "butler" }, true)
	f.add("Liked wine", func(m *memory.Memory) { m.Status = memory.Forgotten }, true)
	current := f.add("Lives in Porto", func(m *memory.Memory) { m.CreatedAt = begin.Add(-time.Hour) }, false)
	f.add("Lives in Lisbon", func(m *memory.Memory) {
		m.Status, m.SupersededBy = memory.Superseded, current.ID
		m.CreatedAt = begin.Add(-48 * time.Hour)
	}, true)
	if got := f.standing(Query{AgentID: "coach"}); !slices.Equal(got, []string{"identity: Lives in Porto"}) {
		t.Errorf("%q", got)
	}
	asOf := Query{AgentID: "coach", AsOf: begin.Add(-24 * time.Hour)}
	if got := f.standing(asOf); !slices.Equal(got, []string{"identity: Lives in Lisbon"}) {
		t.Errorf("as of yesterday: %q", got)
	}
	where, fault := filter.Parse([]byte(`{"content":{"contains":"butler"}}`))
	if fault != nil {
		t.Fatal(fault)
	}
	if got := f.standing(Query{Where: where}); !slices.Equal(got, []string{"identity: Is called Agatha by the butler"}) {
		t.Errorf("by a filter: %q", got)
	}
}
