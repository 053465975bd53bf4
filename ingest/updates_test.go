package ingest

import (
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// A fact that the model finds unimportant is kept if it ends what an active fact says, and not if it says so of another
// person, or ends nothing.
func TestGate_KeepsWhatReplacesAFact(t *testing.T) {
	t.Parallel()
	for said, c := range map[string]struct {
		fact string
		kept bool
	}{
		"I live in Groningen now.":           {"The user lives in Groningen.", true},
		"I no longer live in Utrecht.":       {"The user no longer lives in Utrecht.", true},
		"My sister lives in Groningen now.":  {"The user's sister lives in Groningen.", false},
		"I had soup in Groningen yesterday.": {"The user had soup in Groningen.", false},
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			b.Writer.Judge = nil
			b.models.Facts("I live in Utrecht.", llmtest.Fact{
				Fact: "The user lives in Utrecht.", Importance: 0.9, Domain: memory.Preferences,
			})
			b.turn("I live in Utrecht.")
			b.clock.Advance(time.Hour)
			b.models.Facts(said, llmtest.Fact{Fact: c.fact, Importance: 0.3, Domain: memory.Preferences})
			got := b.turn(said).Candidates
			if len(got) != 1 || (got[0].Verdict == memory.Kept) != c.kept {
				t.Fatalf("%+v", got)
			}
			want := "The user lives in Utrecht."
			if c.kept {
				want = c.fact
			}
			if active := b.memories(); len(active) != 1 || active[0].Content != want {
				t.Errorf("active: %+v, want %q", active, want)
			}
			if c.kept && !strings.HasPrefix(got[0].Reason, "kept under the gate: ") {
				t.Errorf("the reason is %q", got[0].Reason)
			}
		})
	}
}
