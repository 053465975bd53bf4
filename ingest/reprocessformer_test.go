package ingest

import (
	"slices"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// What was forgotten after a turn was said does not come back by it, also if it was not taken from this turn.
func TestReprocess_BringsNoForgottenStatementBack(t *testing.T) {
	t.Parallel()
	b := newRuled(t)
	turn := b.said("Yesterday was somewhat unusual at the harbour.")
	b.clock.Advance(time.Minute)
	other := b.write("The user was at the harbour.", 0.8, b.clock.Now())
	if _, err := b.Forget(t.Context(), ada.AppID, other.Memory.ID, OfItem); err != nil {
		t.Fatal(err)
	}
	b.byModel()
	b.models.Facts("harbour", fact("The user was at the harbour"), fact("The user had an unusual day"))
	b.reprocess(memory.TurnSelection{})
	if got := b.factContents(); !slices.Equal(got, []string{"The user had an unusual day"}) {
		t.Errorf("the facts are %q: %+v", got, b.outcome(turn.ID).Candidates)
	}
}
