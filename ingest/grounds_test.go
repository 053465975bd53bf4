package ingest

import (
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// A fact that the user has not said becomes a candidate with the reason, and no memory, whatever its importance.
func TestGate_RefusesWhatTheUserHasNotSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		turn         []string
		fact, reason string // no reason: the fact is kept
	}{
		{[]string{"I keep bees in Braga."}, "The user keeps bees in Braga", ""},
		{[]string{"I keep bees."}, "The user keeps bees in Braga", `not said: "Braga"`},
		{[]string{"I keep bees."}, "Ada's sister keeps bees", `not said: "sister"`},
		{[]string{"I don't eat honey."}, "The user eats honey", `not said: the user says the opposite: "I don't eat honey"`},
		{[]string{"Call me on 555-0142."}, "The user's number is 555-0199", `not said: "0199"`},
		{[]string{"What should I read?", "Try Middlemarch."}, "The user likes Middlemarch",
			`not said: only the assistant says "Middlemarch"`},
		{[]string{"What do I keep reading?", "Middlemarch, I think.", "Yes, exactly."}, "The user reads Middlemarch", ""},
		{[]string{"我养蜜蜂。"}, "用户和王强一起养蜜蜂", `not said: "王强"`},
		{[]string{"我该看什么书？", "您喜欢《红楼梦》，对吗？", "对。"}, "用户喜欢《红楼梦》", ""},
	} {
		for _, importance := range []float64{0.9, 0.2} {
			b := newFixture(t)
			b.models.Facts(c.turn[0], llmtest.Fact{Fact: c.fact, Importance: importance, Domain: memory.Lifestyle})
			got := b.turn(c.turn...).Candidates
			if len(got) != 1 {
				t.Fatalf("%s: %+v", c.fact, got)
			}
			want := memory.InvalidAnswer
			switch {
			case c.reason == "" && importance > 0.5:
				want = memory.Kept
			case c.reason == "":
				want = memory.BelowThreshold
			}
			if got[0].Verdict != want || c.reason != "" && got[0].Reason != c.reason {
				t.Errorf("%s: %s, %q", c.fact, got[0].Verdict, got[0].Reason)
			}
			if kept := len(b.memories()); (kept == 1) != (want == memory.Kept) {
				t.Errorf("%s: %d memories", c.fact, kept)
			}
		}
	}
}

// A model's facts are kept in other languages too. A name that the turn lacks is no fact in any of them.
func TestGate_KeepsFactsInOtherLanguages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ said, fact, invented, reason string }{
		{"Ich halte Bienen in Brakel.", "Der Nutzer hält Bienen in Brakel.", "Der Nutzer wohnt in Hameln.", `"Hameln"`},
		{"Tengo abejas en Braga.", "El usuario tiene abejas en Braga.", "El usuario vive en Burgos.", `"Burgos"`},
		{"J'élève des abeilles à Bordeaux.", "L'utilisateur élève des abeilles à Bordeaux.",
			"L'utilisateur travaille à Lyon.", `"Lyon"`},
		{"저는 벌 12통을 키워요.", "사용자는 벌 12통을 키운다.", "사용자는 벌 40통을 키운다.", `"40"`},
		{"Tôi nuôi ong ở Đà Lạt.", "Người dùng nuôi ong ở Đà Lạt.", "Người dùng sống ở Huế.", `"Huế"`},
	} {
		b := newFixture(t)
		b.models.Facts(c.said, llmtest.Fact{Fact: c.fact, Importance: 0.9, Domain: memory.Lifestyle},
			llmtest.Fact{Fact: c.invented, Importance: 0.9, Domain: memory.Lifestyle})
		got := b.turn(c.said).Candidates
		if len(got) != 2 || got[0].Verdict != memory.Kept || got[1].Verdict != memory.InvalidAnswer ||
			got[1].Reason != "not said: "+c.reason {
			t.Errorf("%s: %+v", c.said, got)
		}
	}
}

// The messages before the turn, and the names of the user and of the speakers, are sources too.
func TestGate_FindsWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	tell := func(content string) Outcome {
		turn, _, err := b.Accept(t.Context(), memory.Turn{
			Owner: ada, ConversationID: "bees",
			Messages: []memory.Message{{Role: memory.RoleUser, Name: "Mara", Content: content}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.processTurn(t.Context(), turn.ID); err != nil {
			t.Fatal(err)
		}
		return b.outcome(turn.ID)
	}
	tell("We have a garden in Braga now.")
	b.models.Facts("bees", llmtest.Fact{Fact: "Mara keeps bees in Braga", Importance: 0.9, Domain: memory.Lifestyle})
	if o := tell("I'll keep my bees there."); len(o.Candidates) != 1 || o.Candidates[0].Verdict != memory.Kept {
		t.Errorf("%+v", o.Candidates)
	}
}

// Facts of rules are the user's own sentences. They are not checked again.
func TestGate_LeavesTheFactsOfRules(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Scorer = scorer.NewRules()
	o := b.turn("I'm a nurse. I never eat meat, but I eat fish.")
	for _, c := range o.Candidates {
		if strings.HasPrefix(c.Reason, "not said") {
			t.Errorf("%+v", c)
		}
	}
	if len(b.memories()) == 0 {
		t.Errorf("%+v", o.Candidates)
	}
}
