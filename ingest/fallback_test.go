package ingest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// newFallbackFixture is a fixture whose scorer fails with an answer until the test changes that.
func newFallbackFixture(t *testing.T, answer llmtest.Reply) *fixture {
	t.Helper()
	b := newMessageFixture(t)
	b.Rules = scorer.NewRules()
	b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return answer })
	return b
}

// factContents returns the contents of the active memories other than messages, in order.
func (b *fixture) factContents() (contents []string) {
	b.t.Helper()
	for _, m := range b.facts() {
		contents = append(contents, m.Content)
	}
	slices.Sort(contents)
	return contents
}

// again processes a turn once more after a while, replayed if it has failed.
func (b *fixture) again(turnID string) Outcome {
	b.t.Helper()
	b.clock.Advance(time.Hour)
	if b.outcome(turnID).Turn.Status == memory.TurnFailed {
		if _, err := b.Replay(b.t.Context(), ada.AppID, turnID); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := b.processTurn(b.t.Context(), turnID); err != nil {
		b.t.Fatal(err)
	}
	return b.outcome(turnID)
}

// Rules take the facts of a turn while the model fails. The facts of the model's later answer replace these.
func TestFallback_RulesTakeTheFactsUntilTheModelAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer   llmtest.Reply
		failures int // until rules take the facts
	}{
		"unavailable": {llmtest.Status(503), 2},
		"no JSON":     {llmtest.Text("no JSON at all"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFallbackFixture(t, c.answer)
			b.write("I live in Utrecht.", 0.8, b.clock.Now())
			b.clock.Advance(time.Hour)
			o := b.turn("I live in Groningen now. Nice weather, isn't it?")
			if c.failures > 1 {
				if got := b.factContents(); !slices.Equal(got, []string{"I live in Utrecht."}) {
					t.Fatalf("after one failure the facts are %q", got)
				}
				o = b.again(o.Turn.ID)
			}
			if got := b.factContents(); !slices.Equal(got, []string{"I live in Groningen now."}) {
				t.Fatalf("while the model fails the facts are %q", got)
			}
			taken := o.Candidates[slices.IndexFunc(o.Candidates, func(c memory.Candidate) bool { return c.MemoryID != "" })]
			if taken.Scorer != scorer.RulesName || taken.Verdict != memory.Kept ||
				!strings.Contains(taken.Reason, "until the model answers") || o.Turn.Status == memory.TurnProcessed {
				t.Fatalf("%+v", o)
			}
			o = b.again(o.Turn.ID)
			if got := b.factContents(); !slices.Equal(got, []string{"I live in Groningen now."}) {
				t.Fatalf("after a further failure the facts are %q", got)
			}

			b.models.OnChat(nil)
			b.models.Facts("Groningen", llmtest.Fact{Fact: "The user moved to Groningen", Importance: 0.9,
				Domain: memory.Lifestyle})
			o = b.again(o.Turn.ID)
			if got := b.factContents(); !slices.Equal(got, []string{"I live in Utrecht.", "The user moved to Groningen"}) {
				t.Errorf("after the model has answered the facts are %q", got)
			}
			for _, c := range o.Candidates {
				if c.Scorer == scorer.RulesName {
					t.Errorf("a candidate of the rules is left: %+v", c)
				}
			}
			m, err := b.store.Memory(t.Context(), ada.AppID, taken.MemoryID)
			if err != nil || m.Status != memory.Forgotten || o.Turn.Status != memory.TurnProcessed {
				t.Errorf("the fact of the rules is %s, %v; the turn is %s", m.Status, err, o.Turn.Status)
			}
			if len(b.kept()) != 1 {
				t.Errorf("the messages are %q", b.keptContents())
			}
		})
	}
}

// A fact that the user has pinned or edited in the meantime stays, and so does a fact that another turn states too.
func TestFallback_KeepsWhatOthersState(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b *fixture, m memory.Memory) error{
		"pinned": func(b *fixture, m memory.Memory) error {
			pinned := true
			_, err := b.Change(b.t.Context(), ada.AppID, m.ID, Change{Pinned: &pinned})
			return err
		},
		"edited": func(b *fixture, m memory.Memory) error {
			content := "I live in Groningen with Tom."
			_, err := b.Change(b.t.Context(), ada.AppID, m.ID, Change{Content: &content})
			return err
		},
		"said again": func(b *fixture, _ memory.Memory) error {
			b.models.OnChat(nil)
			b.models.Facts("Groningen", llmtest.Fact{Fact: "I live in Groningen.", Importance: 0.9, Domain: memory.Lifestyle})
			b.turn("Well, I live in Groningen.")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFallbackFixture(t, llmtest.Text("no JSON at all"))
			o := b.turn("I live in Groningen.")
			taken := b.facts()[0]
			if err := change(b, taken); err != nil {
				t.Fatal(err)
			}
			b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text(`{"facts":[]}`) })
			if o = b.again(o.Turn.ID); o.Turn.Status != memory.TurnProcessed {
				t.Fatalf("%+v", o)
			}
			m, err := b.store.Memory(t.Context(), ada.AppID, taken.ID)
			if err != nil || m.Status != memory.Active {
				t.Errorf("%q is %s, %v", m.Content, m.Status, err)
			}
		})
	}
}
