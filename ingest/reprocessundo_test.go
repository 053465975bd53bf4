package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// An undo brings nothing back that the user has withdrawn or forgotten since the run.
func TestReprocess_UndoLeavesWhatIsGone(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(b *ruled, turnID, factID string) error{
		"withdrawn": func(b *ruled, turnID, _ string) error {
			_, err := b.Withdraw(b.t.Context(), ada.AppID, turnID)
			return err
		},
		"forgotten": func(b *ruled, _, factID string) error {
			_, err := b.Forget(b.t.Context(), ada.AppID, factID, OfItem)
			return err
		},
		"forgotten wholly": func(b *ruled, _, factID string) error {
			_, err := b.Forget(b.t.Context(), ada.AppID, factID, OfStatement)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRuled(t)
			turn := b.said("I live in Groningen.")
			b.byModel()
			b.models.Facts("Groningen", fact("The user lives in Groningen"))
			r := b.reprocess(memory.TurnSelection{})
			b.clock.Advance(time.Minute)
			if err := remove(b, turn.ID, b.facts()[0].ID); err != nil {
				t.Fatal(err)
			}
			if r = b.undo(r); r.State != memory.ReprocessingUndone {
				t.Errorf("%+v", r)
			}
			if got := b.factContents(); len(got) > 0 {
				t.Errorf("the undo brought back %q", got)
			}
		})
	}
}

// A run, and its undo, that fail before or at the end of any of their transactions go on as if nothing had happened.
func TestReprocess_GoesOnAfterAFailureAtEachStep(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "at the end of"} {
		for step, failed := 1, true; failed; step++ {
			failed = false
			b := newRuled(t)
			home, tea := b.said("I live in Groningen."), b.said("I love green tea.")
			before := b.state(home, tea)
			b.byModel()
			b.models.Facts("Groningen", fact("The user moved to Groningen"))
			b.models.Facts("green tea", fact("I love green tea."), fact("The user enjoys sencha"))
			n := 0
			fail := func() error {
				n++
				if n != step {
					return nil
				}
				failed = true
				return memory.Errorf(memory.KindUnavailable, "the process ends")
			}
			if when == "before" {
				b.spy.enter = fail
			} else {
				b.spy.leave = fail
			}
			r := b.reprocess(memory.TurnSelection{})
			want := []string{"I love green tea.", "The user enjoys sencha", "The user moved to Groningen"}
			if got := b.factContents(); !slices.Equal(got, want) || r.Counts.Turns != 2 || r.Counts.Failed != 0 {
				t.Errorf("failed %s transaction %d: %q, %+v", when, step, got, r)
			}
			if r = b.undo(r); r.Counts.Undone != 2 {
				t.Errorf("failed %s transaction %d: %+v", when, step, r)
			}
			if got := b.state(home, tea); !slices.Equal(got, before) {
				t.Errorf("failed %s transaction %d: the undo made\n%s\nof\n%s", when, step, strings.Join(got, "\n"),
					strings.Join(before, "\n"))
			}
			if !failed && step < 6 {
				t.Errorf("only %s were reached", fmt.Sprint(step-1, " transactions"))
			}
		}
	}
}
