package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// ruled is a fixture whose turns are scored by rules until byModel is called.
type ruled struct {
	*fixture
	model scorer.Scorer
}

func newRuled(t *testing.T) *ruled {
	t.Helper()
	b := &ruled{fixture: newMessageFixture(t)}
	b.model, b.Scorer = b.Scorer, scorer.NewRules()
	b.Writer.Judge = nil
	return b
}

func (b *ruled) byModel() { b.Scorer = b.model }

// said is a turn that was said an hour after the one before it.
func (b *ruled) said(text string) memory.Turn {
	b.t.Helper()
	b.clock.Advance(time.Hour)
	return b.turn(text).Turn
}

// finish works on the job of a run until its state is another one.
func (b *ruled) finish(r memory.Reprocessing) memory.Reprocessing {
	b.t.Helper()
	job := ReprocessTurns{AppID: r.AppID, RunID: r.ID, Undo: r.State == memory.ReprocessingUndoing}
	for range 100 {
		_, _ = b.WorkReprocess(b.t.Context(), job)
		now, err := b.store.Reprocessing(b.t.Context(), r.AppID, r.ID)
		if err != nil {
			b.t.Fatal(err)
		}
		if now.State != r.State {
			return now
		}
	}
	b.t.Fatalf("the run stays %s", r.State)
	return r
}

func (b *ruled) reprocess(sel memory.TurnSelection) memory.Reprocessing {
	b.t.Helper()
	r, err := b.Reprocess(b.t.Context(), ada, sel)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.finish(r)
}

func (b *ruled) undo(r memory.Reprocessing) memory.Reprocessing {
	b.t.Helper()
	undoing, err := b.UndoReprocess(b.t.Context(), r.AppID, r.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.finish(undoing)
}

// state describes the memories that are not forgotten, and the candidates of turns.
func (b *ruled) state(turns ...memory.Turn) (lines []string) {
	b.t.Helper()
	all, err := b.store.ListMemories(b.t.Context(), db.MemoryFilter{Owner: ada, Limit: memory.MaxPage})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range all {
		if m.Status != memory.Forgotten {
			lines = append(lines, fmt.Sprint(m.ID, m.Content, m.Status, m.SupersededBy, m.Importance, m.Domain, m.Type, m.Tags,
				m.Pinned, m.CreatedAt, m.LastSaidAt, m.ExpiresAt))
		}
	}
	for _, t := range turns {
		o := b.outcome(t.ID)
		lines = append(lines, fmt.Sprint(o.Turn.Scored, o.Candidates))
	}
	slices.Sort(lines)
	return lines
}

func fact(text string) llmtest.Fact {
	return llmtest.Fact{Fact: text, Importance: 0.9, Domain: memory.Lifestyle}
}

// Turns that rules have scored are scored by a model: what it states again stays, what it does not goes, what is new
// comes. A dry run says the same before. An undo brings everything back.
func TestReprocess_ReplacesTheFactsOfRules(t *testing.T) {
	t.Parallel()
	b := newRuled(t)
	home := b.said("I live in Groningen.")
	tea := b.said("I love green tea.")
	empty := b.said("Yesterday was somewhat unusual at the harbour.")
	before := b.state(home, tea, empty)
	kept := b.outcome(home.ID).Candidates[0].MemoryID

	b.byModel()
	b.models.Facts("Groningen", fact("I live in Groningen."), fact("The user has a cat named Otto"))
	b.models.Facts("green tea", fact("The user enjoys sencha"))
	b.models.Facts("harbour", fact("The user was at the harbour"))
	dry, last, err := b.TryReprocess(t.Context(), memory.Reprocessing{Owner: ada}, 10)
	if err != nil || last != (memory.TurnPlace{}) || len(dry) != 3 {
		t.Fatalf("%+v, %v, %v", dry, last, err)
	}
	if got := b.state(home, tea, empty); !slices.Equal(got, before) {
		t.Fatalf("a dry run changed\n%q\nto\n%q", before, got)
	}
	r := b.reprocess(memory.TurnSelection{Scorer: scorer.RulesName})
	var added, stays, gone int
	for _, d := range dry {
		added, stays, gone = added+len(d.Added), stays+len(d.Kept), gone+len(d.Removed)
	}
	if c := r.Counts; r.State != memory.ReprocessingDone || c.Turns != 3 || c.Added != added || c.Kept != stays ||
		c.Removed != gone {
		t.Errorf("%+v, the dry run: %d %d %d", r, added, stays, gone)
	}
	want := []string{"I live in Groningen.", "The user enjoys sencha", "The user was at the harbour"}
	if got := b.factContents(); !slices.Equal(got, want) {
		t.Errorf("the facts are %q", got)
	}
	o := b.outcome(home.ID)
	if c := o.Candidates[0]; c.MemoryID != kept || c.Scorer == scorer.RulesName || o.Turn.Scored.By != b.model.Name() {
		t.Errorf("%+v", o)
	}
	if again := b.reprocess(memory.TurnSelection{Scorer: scorer.RulesName}); again.Counts.Turns != 0 {
		t.Errorf("%+v", again)
	} else if undone := b.undo(again); undone.State != memory.ReprocessingUndone {
		t.Errorf("%+v", undone)
	}
	r = b.undo(r)
	if r.State != memory.ReprocessingUndone || r.Counts.Undone != 3 {
		t.Errorf("%+v", r)
	}
	if got := b.state(home, tea, empty); !slices.Equal(got, before) {
		t.Errorf("the undo made\n%s\nof\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}
}

// What the user has decided about stays as the user left it.
func TestReprocess_LeavesWhatTheUserDecidedAbout(t *testing.T) {
	t.Parallel()
	pinned, edited := true, "I live in Groningen with Tom."
	for name, c := range map[string]struct {
		change func(b *ruled, id string) error
		want   []string
	}{
		"pinned": {func(b *ruled, id string) error {
			_, err := b.Change(b.t.Context(), ada.AppID, id, Change{Pinned: &pinned})
			return err
		}, []string{"I live in Groningen."}},
		"edited": {func(b *ruled, id string) error {
			_, err := b.Change(b.t.Context(), ada.AppID, id, Change{Content: &edited})
			return err
		}, []string{edited}},
		"forgotten": {func(b *ruled, id string) error {
			_, err := b.Forget(b.t.Context(), ada.AppID, id, OfItem)
			return err
		}, nil},
		"forgotten wholly": {func(b *ruled, id string) error {
			_, err := b.Forget(b.t.Context(), ada.AppID, id, OfStatement)
			return err
		}, nil},
		"restored": {func(b *ruled, id string) error {
			if _, err := b.Forget(b.t.Context(), ada.AppID, id, OfItem); err != nil {
				return err
			}
			_, err := b.Restore(b.t.Context(), ada.AppID, id, OfItem)
			return err
		}, []string{"I live in Groningen."}},
	} {
		for _, again := range []string{"I live in Groningen.", "The user lives in Groningen", ""} {
			t.Run(name+" "+again, func(t *testing.T) {
				t.Parallel()
				b := newRuled(t)
				turn := b.said("I live in Groningen.")
				b.clock.Advance(time.Minute)
				if err := c.change(b, b.facts()[0].ID); err != nil {
					t.Fatal(err)
				}
				before := b.state(turn)
				b.byModel()
				if again != "" {
					b.models.Facts("Groningen", fact(again))
				} else {
					b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text(`{"facts":[]}`) })
				}
				r := b.reprocess(memory.TurnSelection{})
				if got := b.factContents(); !slices.Equal(got, c.want) {
					t.Errorf("the facts are %q: %+v", got, b.outcome(turn.ID).Candidates)
				}
				if r = b.undo(r); r.State != memory.ReprocessingUndone {
					t.Errorf("%+v", r)
				}
				if got := b.state(turn); !slices.Equal(got, before) {
					t.Errorf("the undo made\n%s\nof\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
				}
			})
		}
	}
}

// A statement from before another one does not supersede that when its turn is scored again.
func TestReprocess_ComparesAsOfWhenItWasSaid(t *testing.T) {
	t.Parallel()
	b := newRuled(t)
	first := b.said("I live in Utrecht.")
	second := b.said("I live in Groningen.")
	before := b.state(first, second)
	b.byModel()
	b.models.Facts("Utrecht", fact("I live in Utrecht now."))
	b.models.Facts("Groningen", fact("I live in Groningen."))
	r := b.reprocess(memory.TurnSelection{Until: second.At})
	if got := b.factContents(); !slices.Equal(got, []string{"I live in Groningen."}) {
		t.Errorf("the facts are %q", got)
	}
	b.undo(r)
	if got := b.state(first, second); !slices.Equal(got, before) {
		t.Errorf("the undo made\n%s\nof\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}
}

// A fact of several turns goes with the last one that states it.
func TestReprocess_KeepsWhatAnotherTurnStates(t *testing.T) {
	t.Parallel()
	b := newRuled(t)
	first, second := b.said("I love green tea."), b.said("I love green tea.")
	before := b.state(first, second)
	b.byModel()
	b.models.Facts("green tea", fact("The user enjoys sencha"))
	r, err := b.Reprocess(t.Context(), ada, memory.TurnSelection{Until: second.At})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reprocess(t.Context(), memory.Owner{AppID: ada.AppID}, memory.TurnSelection{}); !memory.IsKind(err,
		memory.KindConflict) {
		t.Errorf("a second run began: %v", err)
	}
	b.finish(r)
	if got := b.factContents(); !slices.Equal(got, []string{"I love green tea.", "The user enjoys sencha"}) {
		t.Errorf("after the first turn the facts are %q", got)
	}
	later := b.reprocess(memory.TurnSelection{From: second.At})
	if got := b.factContents(); !slices.Equal(got, []string{"The user enjoys sencha"}) {
		t.Errorf("after both turns the facts are %q", got)
	}
	if _, err := b.UndoReprocess(t.Context(), ada.AppID, r.ID); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("the earlier run was undone first: %v", err)
	}
	b.undo(later)
	b.undo(r)
	if got := b.state(first, second); !slices.Equal(got, before) {
		t.Errorf("the undo made\n%s\nof\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}
}

// While the model does not answer, a run waits with its reason; what it cannot use leaves a turn as it was.
func TestReprocess_WaitsForTheModel(t *testing.T) {
	t.Parallel()
	b := newRuled(t)
	turn := b.said("I live in Groningen.")
	b.byModel()
	b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Status(503) })
	r, err := b.Reprocess(t.Context(), ada, memory.TurnSelection{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.WorkReprocess(t.Context(), ReprocessTurns{AppID: r.AppID, RunID: r.ID})
	waits, readErr := b.store.Reprocessing(t.Context(), r.AppID, r.ID)
	if err == nil || readErr != nil || waits.State != memory.ReprocessingRuns ||
		!strings.HasPrefix(waits.Note, "waits: ") {
		t.Fatalf("%+v, %v, %v", waits, err, readErr)
	}
	b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text("no JSON") })
	done := b.finish(waits)
	if done.Counts.Failed != 1 || done.Counts.Turns != 0 || done.Note != "" {
		t.Errorf("%+v", done)
	}
	if got := b.factContents(); !slices.Equal(got, []string{"I live in Groningen."}) {
		t.Errorf("the facts are %q", got)
	}
	if o := b.outcome(turn.ID); o.Turn.Scored.By != scorer.RulesName {
		t.Errorf("%+v", o)
	}
}

// Accepted turns go first, and what is withdrawn or said while memory is off is not scored.
func TestReprocess_LetsNewTurnsGoFirst(t *testing.T) {
	t.Parallel()
	b := newRuled(t)
	b.said("I live in Groningen.")
	b.said("I love green tea.")
	gone := b.said("I work as a nurse.")
	if _, err := b.Withdraw(t.Context(), ada.AppID, gone.ID); err != nil {
		t.Fatal(err)
	}
	b.byModel()
	b.models.Facts("Groningen", fact("I live in Groningen."))
	b.models.Facts("green tea", fact("I love green tea."))
	r, err := b.Reprocess(t.Context(), ada, memory.TurnSelection{})
	if err != nil {
		t.Fatal(err)
	}
	waiting := b.accept("I sing.")
	b.clock.Advance(2 * time.Minute)
	job := ReprocessTurns{AppID: r.AppID, RunID: r.ID}
	_, _ = b.WorkReprocess(t.Context(), job)
	now, err := b.store.Reprocessing(context.Background(), r.AppID, r.ID)
	if err != nil || now.Counts.Turns != 1 {
		t.Fatalf("while a turn waits: %+v, %v", now, err)
	}
	b.models.Facts("sing", fact("I sing."))
	if err := b.processTurn(t.Context(), waiting.ID); err != nil {
		t.Fatal(err)
	}
	if done := b.finish(r); done.Counts.Turns != 3 {
		t.Errorf("%+v", done)
	}
}
