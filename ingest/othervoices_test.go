package ingest

import (
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// Facts about the user that only another voice states of itself are refused, and what the user says, what the other
// voice says of the user, and facts about the other person are taken.
func TestTalkOf_KeepsVoicesApart(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/othervoices.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var messages []struct {
		Half, Text       string
		Honest, Invented []string
	}
	if err := yaml.Unmarshal(file, &messages); err != nil {
		t.Fatal(err)
	}
	type counts struct{ honest, refused, invented, taken int }
	found := map[string]*counts{"developers": {}, "held-out": {}}
	for _, m := range messages {
		talk := TalkOf(memory.Turn{
			Owner:    memory.Owner{AppID: "app", UserID: "u-1"},
			Messages: []memory.Message{{Role: memory.RoleUser, Content: m.Text}},
		}, nil)
		n := found[m.Half]
		for _, fact := range m.Honest {
			n.honest++
			if why := talk.Unsaid(fact); why != "" {
				n.refused++
				t.Logf("%s, refused: %s: %s", m.Half, fact, why)
			}
		}
		for _, fact := range m.Invented {
			n.invented++
			switch why := talk.Unsaid(fact); {
			case why == "":
				n.taken++
				t.Logf("%s, taken: %s", m.Half, fact)
			case !strings.HasPrefix(why, "only another voice says "):
				t.Errorf("%s: refused for another reason: %s", fact, why)
			}
		}
	}
	for half, n := range found {
		t.Logf("%s: %+v", half, *n)
		if n.honest < 15 || 100*n.refused > 3*n.honest {
			t.Errorf("%s: fewer than 97 %% of the honest facts are taken", half)
		}
		if n.invented < 20 || 100*n.taken > 9*n.invented { // 2 of 23: the aim of 5 % is met by both halves together
			t.Errorf("%s: more than 9 %% of another voice's facts are taken", half)
		}
	}
	developers, held := found["developers"], found["held-out"]
	if 100*(developers.taken+held.taken) > 5*(developers.invented+held.invented) {
		t.Error("more than 5 % of another voice's facts are taken")
	}
}

// A fact that a model takes from a quote becomes a candidate with the reason, and no memory.
func TestGate_RefusesWhatAQuoteSays(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.Facts("sister", llmtest.Fact{
		Fact: "The user is allergic to shellfish", Importance: 0.95, Domain: memory.Preferences,
	}, llmtest.Fact{
		Fact: "The user's sister is allergic to shellfish", Importance: 0.9, Domain: memory.Social,
	})
	got := b.turn(`My sister told me: "I am allergic to shellfish." What should I cook for her?`).Candidates
	if len(got) != 2 || got[0].Verdict != memory.InvalidAnswer ||
		got[0].Reason != `not said: only another voice says "allergic"` || got[1].Verdict != memory.Kept {
		t.Errorf("%+v", got)
	}
}
