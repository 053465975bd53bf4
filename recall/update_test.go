package recall

import (
	"cmp"
	"math"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

func TestRecall_PutsWhatSeemsToUpdateFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, newer, query string
		older              string               // "": where the user works
		change             func(*memory.Memory) // of the newer one
		asked              Query
		raised             bool
	}{
		{name: "a change", newer: "I quit Maersk, I work for DHL now.", query: "Who do I work for?", raised: true},
		{name: "among few", newer: "I quit Maersk, I work for DHL now.", query: "Who do I work for?",
			asked: Query{Limit: 1}, raised: true},
		{name: "a message", newer: "I quit Maersk, I work for DHL now.", query: "Who do I work for?", raised: true,
			change: func(m *memory.Memory) { m.Type, m.Speaker = memory.TypeMessage, memory.RoleUser }},
		{name: "unrelated", older: "I prefer green tea over coffee.", newer: "I moved to Porto.",
			query: "What should I offer her to drink?"},
		{name: "no change", newer: "I work with great people.", query: "Who do I work for?"},
		{name: "of another", newer: "My brother works for DHL now.", query: "What does my job at the harbour pay?"},
		{name: "of another child", older: "My daughter Mia starts school in 2027.",
			newer: "My daughter Mila starts school in 2029 now.", query: "When does Mia start school?"},
		{name: "of another ticket", older: "Ticket ABC-104 is open.", newer: "Ticket ABC-140 is closed now.",
			query: "Is ticket ABC-104 open?"},
		{name: "of another person in Chinese", older: "赵磊住在成都。", newer: "王芳现在住在重庆。", query: "赵磊住在哪里？"},
		{name: "of another flat", older: "Flat 3B pays 800 euros.", newer: "Flat 3D now pays 880 euros.",
			query: "How much does flat 3B pay?"},
		{name: "of another medicine", older: "I take 5 mg of ramipril in the morning.",
			newer: "I now take 50 mg of metoprolol in the evening.", query: "How much ramipril do I take?"},
		{name: "of one day", older: "I work at Siemens.", newer: "I no longer work on Fridays.", query: "Where do I work?"},
		{name: "an ending", older: "I take metformin for my blood sugar, with breakfast.",
			newer: "I came off metformin in spring.", query: "Do I take metformin?", raised: true},
		{name: "an ending in German", older: "Ich singe im Domchor und im Kirchenchor.",
			newer: "Den Domchor gibt es nicht mehr.", query: "Singe ich im Domchor?", raised: true},
		{name: "of another's car", older: "My car has the plate B-XY 123.",
			newer: "My wife's car now has the plate B-XZ 132.", query: "What is my plate?"},
		{name: "of another room in Chinese", older: "301会议室在三楼。", newer: "310会议室搬到了四楼。", query: "301会议室在几楼？"},
		{name: "of another colleague in Chinese", older: "我同事小张负责前端。", newer: "我同事小章现在负责测试。",
			query: "小张负责什么？"},
		{name: "in other words", older: "I'm renting a tiny studio in Lisbon.",
			newer: "Finally left the city, home is Evora now.", query: "Which studio do I rent?", raised: true},
		{name: "of the same person", older: "My brother Tom lives in Leeds.", newer: "Tom has moved to York now.",
			query: "Where does my brother Tom live?", raised: true},
		{name: "of the same person by a pronoun", older: "My brother Tom lives in Leeds.",
			newer: "He sold the flat and moved to York.", query: "Where does my brother Tom live?", raised: true},
		{name: "the past", newer: "I quit Maersk, I work for DHL now.", query: "Who did I work for?"},
		{name: "former too", newer: "I quit Maersk, I work for DHL now.", query: "Who do I work for?",
			asked: Query{IncludeFormer: true}},
		{name: "said in one go", newer: "I quit Maersk, I work for DHL now.", query: "Who do I work for?",
			change: func(m *memory.Memory) { m.CreatedAt = begin.Add(-40 * 24 * time.Hour).Add(time.Minute) }},
		{name: "by the assistant", newer: "I quit Maersk, I work for DHL now.", query: "Who do I work for?",
			change: func(m *memory.Memory) { m.Type, m.Speaker = memory.TypeMessage, memory.RoleAssistant }},
		{name: "by another person", newer: "I quit Maersk, I work for DHL now.", query: "Who do I work for?",
			change: func(m *memory.Memory) { m.Speaker = "Tom" }},
		{name: "a conclusion", newer: "I quit Maersk, I work for DHL now.", query: "Who do I work for?",
			change: func(m *memory.Memory) { m.Type = memory.TypeReflection }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			old := f.add(cmp.Or(c.older, "I work for Maersk, in the office by the harbour."), func(m *memory.Memory) {
				m.CreatedAt = begin.Add(-40 * 24 * time.Hour)
				m.LastAccessedAt, m.Importance = begin, 1 // so that it is first by its own score
			}, true)
			newer := f.add(c.newer, func(m *memory.Memory) {
				m.LastAccessedAt, m.Importance = begin.Add(-240*time.Hour), 0.1
				if c.change != nil {
					c.change(m)
				}
			}, true)
			f.add("I planted tomatoes on the balcony.", nil, true)
			q := c.asked
			q.Text, q.Explain = c.query, true
			a := f.recall(q)
			if first := a.Memories[0]; (first.Memory.ID == newer.ID) != c.raised {
				t.Fatalf("recalled %q first", first.Memory.Content)
			} else if c.raised && (first.Updates != old.ID || first.Update <= 0) {
				t.Errorf("it updates %q, which adds %v", first.Updates, first.Update)
			}
			for i, m := range a.Memories {
				if i > 0 && m.Score > a.Memories[i-1].Score {
					t.Errorf("%d has the score %v, more than %v", i, m.Score, a.Memories[i-1].Score)
				}
				if i > 0 && m.Update != 0 {
					t.Errorf("%q is raised as well", m.Memory.Content)
				}
				p := m.Parts
				sum := p.Similarity + p.Lexical + p.Neighbour + p.Speaker + p.Date + p.When + p.Routed + p.Question +
					p.Message + p.Skill + p.Rerank + p.Decay + p.Importance + p.Update
				if math.Abs(sum-m.Score) > 1e-9 {
					t.Errorf("the parts of %q add up to %v, the score is %v", m.Memory.Content, sum, m.Score)
				}
			}
		})
	}
}

func TestRecall_PutsTheLatestUpdateFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i, said := range []string{
		"My home is in Utrecht, above a shop.",
		"I moved to Groningen, my home is there now.",
		"I moved to Leiden, my home is there now.",
	} {
		f.add(said, func(m *memory.Memory) {
			m.CreatedAt = begin.Add(time.Duration(i-10) * 24 * time.Hour)
			m.Importance = 1 - float64(i)/2
		}, true)
	}
	a := f.recall(Query{Text: "Where is my home?"})
	if got := contents(a)[0]; got != "I moved to Leiden, my home is there now." {
		t.Errorf("recalled %q", contents(a))
	}
}
