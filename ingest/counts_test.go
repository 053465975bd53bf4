package ingest

import (
	"errors"
	"maps"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func TestCounts_OfTurnsAndVerdicts(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.Attempts = 2
	b.models.Facts("bees", llmtest.Fact{Fact: "Keeps bees", Importance: 0.9, Domain: memory.Lifestyle},
		llmtest.Fact{Fact: "Is busy", Importance: 0.1, Domain: memory.Lifestyle})
	b.turn("I keep bees")
	b.turn("thanks")
	b.spy.enter = func() error { return errors.New("the disk is full") }
	turn := b.accept("my bees are busy")
	for range 2 {
		if err := b.processTurn(t.Context(), turn.ID); err != nil {
			t.Fatal(err)
		}
	}
	want := map[TurnOutcome]int64{OutcomeProcessed: 2, OutcomeDeferred: 1, OutcomeFailed: 1}
	if got := b.TurnCounts(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	got := b.VerdictCounts()
	if got[memory.Kept] != 1 || got[memory.BelowThreshold] != 1 || len(got) != len(memory.Verdicts) {
		t.Errorf("%v", got)
	}
}
