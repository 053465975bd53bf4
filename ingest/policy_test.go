package ingest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hippocampus/ingest/policy"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// obey makes the app's policy one that never keeps some terms, if there are any.
func (b *fixture) obey(terms ...string) {
	b.t.Helper()
	p := memory.Policy{Never: memory.PolicyRules{Terms: terms}}
	rules, err := policy.Compile(memory.PolicyVersion{AppID: ada.AppID, Number: len(terms), Policy: p})
	if err != nil {
		b.t.Fatal(err)
	}
	b.Policies = func(context.Context, string) (*policy.Rules, error) { return rules, nil }
}

// A policy that is stored after a turn was accepted decides when the turn is processed, also if nothing is left of the
// turn. A turn of a conversation keeps its words for the log alone.
func TestPolicy_DecidesWhenATurnIsProcessed(t *testing.T) {
	t.Parallel()
	for _, conversation := range []string{"", "c"} {
		for _, said := range []string{"I live in Oslo. I have lupus, since May.", "I have lupus, since May."} {
			b := newMessageFixture(t)
			b.Scorer = scorer.NewRules()
			turn, _, err := b.Accept(t.Context(), memory.Turn{
				Owner: ada, ConversationID: conversation, Messages: []memory.Message{spoke("user", said)},
			})
			if err != nil {
				t.Fatal(err)
			}
			b.obey("lupus")
			if err := b.processTurn(t.Context(), turn.ID); err != nil {
				t.Fatal(err)
			}
			o := b.outcome(turn.ID)
			want := []memory.Omission{
				{Message: 0, Reason: memory.OmittedPolicy, Characters: 20, Policy: 1, Rule: "never.terms[0]"},
			}
			if o.Turn.Status != memory.TurnProcessed || !slices.Equal(o.Turn.LeftOut, want) {
				t.Errorf("%q: %s, left out %+v", said, o.Turn.Status, o.Turn.LeftOut)
			}
			if keeps := strings.Contains(o.Turn.Messages[0].Content, "lupus"); keeps != (conversation != "") {
				t.Errorf("%q in %q: the stored message is %q", said, conversation, o.Turn.Messages[0].Content)
			}
			if got := o.Turn.Readable()[0].Content; got != strings.TrimSpace(strings.Replace(said, lupus, "", 1)) {
				t.Errorf("%q: readers get %q", said, got)
			}
			for _, m := range b.all() {
				if strings.Contains(m.Content, "lupus") {
					t.Errorf("%q: a memory %q", said, m.Content)
				}
			}
			if conversation != "" {
				c, err := b.store.Conversation(t.Context(), ada.AppID, ada.UserID, conversation)
				if err != nil || strings.Contains(c.Title, "lupus") {
					t.Errorf("%q: the title is %q, %v", said, c.Title, err)
				}
			}
		}
	}
}

// lupus is a sentence that the policy of these tests leaves out.
const lupus = "I have lupus, since May."

// A log that is reported again adds nothing, whatever the policy was and is.
func TestPolicy_RecognisesWhatIsReportedAgain(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.Scorer = scorer.NewRules()
	log := []memory.Message{spoke("user", "I live in Oslo. "+lupus), spoke("assistant", "I see: lupus.")}
	for i, terms := range [][]string{{"lupus"}, nil, {"Oslo"}, {"lupus", "Oslo"}} {
		b.obey(terms...)
		turn, fresh, err := b.Accept(t.Context(), memory.Turn{
			Owner: ada, ConversationID: "c", Messages: slices.Clone(log),
		})
		if err != nil || fresh != (i == 0) {
			t.Fatalf("%q: fresh %t, %v", terms, fresh, err)
		}
		if got := turn.Readable(); strings.Contains(got[0].Content+got[1].Content, "lupus") {
			t.Errorf("%q: readers get %+v", terms, got)
		}
	}
}

// A message with very many parts that are never kept is withheld as a whole.
func TestPolicy_WithholdsAMessageOfManyPartsAsAWhole(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.Scorer = scorer.NewRules()
	b.obey("lupus")
	var said strings.Builder
	for i := range mostParts + 1 {
		said.WriteString(strings.Repeat("x", i+1) + " lupus. Fine " + strings.Repeat("y", i) + ". ")
	}
	o := b.turn(said.String())
	if m := o.Turn.Messages[0]; m.Content != "" || len(o.Turn.LeftOut) != 1 ||
		o.Turn.LeftOut[0].Characters != visible(said.String()) {
		t.Errorf("%q, left out %+v", m.Content, o.Turn.LeftOut)
	}
}

// A candidate from before the policy is not promoted if the policy never keeps it.
func TestPolicy_RefusesToPromote(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.Scorer = scorer.NewRules()
	b.set.Threshold = 1
	o := b.turn("I have to go now, my lupus hurts.")
	b.obey("lupus")
	found := 0
	for _, c := range o.Candidates {
		if c.Verdict != memory.BelowThreshold || !strings.Contains(c.Content, "lupus") {
			continue
		}
		found++
		done, _, err := b.Promote(t.Context(), Promotion{AppID: ada.AppID, IDs: []string{c.ID}})
		if err != nil || !memory.IsKind(done[0].Err, memory.KindConflict) {
			t.Errorf("promoted %+v, %v", done, err)
		}
	}
	if found == 0 {
		t.Errorf("candidates %+v", o.Candidates)
	}
}

// A turn that is tried has the verdicts of the same turn when it is accepted.
func TestTry_AnswersWhatATurnBecomes(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.Scorer = scorer.NewRules()
	b.obey("lupus")
	turn := memory.Turn{Owner: ada, ConversationID: "c", Messages: []memory.Message{
		spoke("user", "I live in Oslo. "+lupus), spoke("assistant", "thanks"),
	}}
	tried, err := b.Try(t.Context(), turn, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rows := b.all(); len(rows) > 0 || b.scored.Len() > 0 {
		t.Errorf("it leaves %d memories, %d answers", len(rows), b.scored.Len())
	}
	accepted, _, err := b.Accept(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.processTurn(t.Context(), accepted.ID); err != nil {
		t.Fatal(err)
	}
	kept := b.outcome(accepted.ID)
	verdicts := func(o Outcome) (list []string) {
		for _, c := range o.Candidates {
			list = append(list, string(c.Verdict)+" "+c.Content)
		}
		return list
	}
	if !slices.Equal(verdicts(tried), verdicts(kept)) || !slices.Equal(tried.Turn.LeftOut, kept.Turn.LeftOut) {
		t.Errorf("tried %q %+v, kept %q %+v", verdicts(tried), tried.Turn.LeftOut, verdicts(kept), kept.Turn.LeftOut)
	}
	again, err := b.Try(t.Context(), turn, nil)
	if err != nil || again.Turn.Repeated != 2 || len(again.Candidates) > 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}
