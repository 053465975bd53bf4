package dbtest

import (
	"context"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// reprocessJob is a job that these tests store.
type reprocessJob struct {
	ID string `json:"id"`
}

func (reprocessJob) Kind() string { return "test_reprocess" }

func newReprocessing(owner memory.Owner, seconds int) memory.Reprocessing {
	second := 2
	return memory.Reprocessing{
		ID: memory.NewID(), Owner: owner, State: memory.ReprocessingRuns, CreatedAt: after(seconds),
		Selection: memory.TurnSelection{Scorer: "rules", From: after(1), PolicyBefore: &second},
	}
}

// reprocessings are active for a user once, go on from where they are, and are undone latest first.
func reprocessings(t *testing.T, s db.Store) {
	ctx := t.Context()
	begin := func(r memory.Reprocessing) error {
		return s.BeginReprocessing(ctx, r, reprocessJob{r.ID})
	}
	run := newReprocessing(alice, 1)
	must(t, begin(run))
	stored, err := s.Reprocessing(ctx, alice.AppID, run.ID)
	must(t, err)
	wantSame(t, "the stored run", stored, run)
	for _, other := range []memory.Owner{alice, {AppID: alice.AppID}} {
		wantKind(t, begin(newReprocessing(other, 2)), memory.KindConflict)
	}
	must(t, begin(newReprocessing(memory.Owner{AppID: "other", UserID: alice.UserID}, 2)))
	for _, unknown := range []string{memory.NewID(), "no id", ""} {
		_, err := s.Reprocessing(ctx, alice.AppID, unknown)
		wantKind(t, err, memory.KindNotFound)
	}
	_, err = s.Reprocessing(ctx, "other", run.ID)
	wantKind(t, err, memory.KindNotFound)

	next := run
	next.Place = memory.TurnPlace{UserID: "a \" ☃", At: after(3), TurnID: memory.NewID()}
	next.Counts.Added, next.Note = 3, "waits"
	must(t, s.AdvanceReprocessing(ctx, run, next))
	wantKind(t, s.AdvanceReprocessing(ctx, run, next), memory.KindConflict)
	done := next
	done.State, done.EndedAt, done.Note = memory.ReprocessingDone, after(4), ""
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.AdvanceReprocessing(ctx, next, done)
	}))
	stored, err = s.Reprocessing(ctx, alice.AppID, run.ID)
	must(t, err)
	wantSame(t, "the run that is done", stored, done)

	all := newReprocessing(memory.Owner{AppID: alice.AppID}, 5)
	must(t, begin(all))
	_, err = s.UndoReprocessing(ctx, alice.AppID, run.ID, reprocessJob{"undo"})
	wantKind(t, err, memory.KindConflict)
	undone := all
	undone.State, undone.EndedAt = memory.ReprocessingUndone, after(6)
	must(t, s.AdvanceReprocessing(ctx, all, undone))
	listed, err := s.ListReprocessings(ctx, db.ReprocessingFilter{Owner: memory.Owner{AppID: alice.AppID}, Limit: 1})
	must(t, err)
	wantSame(t, "the latest run", listed, []memory.Reprocessing{undone})
	listed, err = s.ListReprocessings(ctx, db.ReprocessingFilter{
		Owner: alice, Before: &db.Position{At: after(5), ID: all.ID}, Limit: 9,
	})
	must(t, err)
	wantSame(t, "the user's runs", listed, []memory.Reprocessing{done})
	undoing, err := s.UndoReprocessing(ctx, alice.AppID, run.ID, reprocessJob{"undo"})
	must(t, err)
	done.State, done.EndedAt = memory.ReprocessingUndoing, time.Time{}
	wantSame(t, "the run that is being undone", undoing, done)
	wantKind(t, begin(newReprocessing(alice, 7)), memory.KindConflict)
	must(t, s.PurgeReprocessings(ctx, after(100)))
	_, err = s.Reprocessing(ctx, alice.AppID, run.ID)
	must(t, err)
	_, err = s.Reprocessing(ctx, alice.AppID, all.ID)
	wantKind(t, err, memory.KindNotFound)
	reprocessedTurns(t, s)
}

// reprocessedTurns keeps what turns were, latest said first.
func reprocessedTurns(t *testing.T, s db.Store) {
	ctx := t.Context()
	turn := newTurn(alice, "")
	accepted(t, s, turn)
	before, now := newCandidate(turn.ID), newCandidate(turn.ID)
	run := memory.NewID()
	note := memory.ReprocessedTurn{RunID: run, Owner: alice, At: after(1), TurnID: turn.ID}
	later := memory.ReprocessedTurn{RunID: run, Owner: alice, At: after(2), TurnID: memory.NewID(), Written: true}
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.FinishTurn(ctx, turn.ID, 1, epoch, memory.Scoring{By: "rules", Policy: 2}))
		must(t, tx.AddCandidates(ctx, []memory.Candidate{before, now}))
		must(t, tx.NoteReprocessed(ctx, note))
		must(t, tx.NoteReprocessed(ctx, later))
		note.Written = true
		note.Before = memory.TurnBefore{
			Candidates: []memory.Candidate{before}, New: []string{now.ID}, Scored: memory.Scoring{By: "rules"},
		}
		must(t, tx.NoteReprocessed(ctx, note))
		found, ok, err := tx.Reprocessed(ctx, memory.ReprocessedTurn{RunID: run, At: after(1), TurnID: turn.ID})
		must(t, err)
		wantSame(t, "the noted turn", found, note)
		wantSame(t, "it is found", ok, true)
		must(t, tx.DropCandidates(ctx, turn.ID, []string{before.ID, memory.NewID()}))
		return tx.NoteScoring(ctx, turn.ID, memory.Scoring{By: "model", Policy: 3})
	}))
	kept, err := s.Turn(ctx, alice.AppID, turn.ID)
	must(t, err)
	wantSame(t, "what scored the turn", kept.Scored, memory.Scoring{By: "model", Policy: 3})
	listed, err := s.TurnCandidates(ctx, alice.AppID, turn.ID)
	must(t, err)
	wantSame(t, "the candidates", listed, []memory.Candidate{now})
	turns, err := s.ReprocessedTurns(ctx, run, 9)
	must(t, err)
	wantSame(t, "the turns", turns, []memory.ReprocessedTurn{later, note})
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.RemoveReprocessed(ctx, later)
	}))
	turns, err = s.ReprocessedTurns(ctx, run, 1)
	must(t, err)
	wantSame(t, "the turns that are left", turns, []memory.ReprocessedTurn{note})
}

// selectTurns chooses turns by when they were said, and by what scored them.
func selectTurns(t *testing.T, s db.Store) {
	ctx := t.Context()
	bob := memory.Owner{AppID: alice.AppID, UserID: "bob"}
	said := func(owner memory.Owner, seconds int, scored memory.Scoring, by ...string) db.Position {
		turn := newTurn(owner, "")
		turn.At, turn.ConversationID = after(seconds), ""
		accepted(t, s, turn)
		must(t, s.EndTurns(ctx, []db.EndedTurn{{ID: turn.ID, Scored: scored}}, after(seconds)))
		must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
			for _, scorer := range by {
				c := newCandidate(turn.ID)
				c.Scorer = scorer
				must(t, tx.AddCandidates(ctx, []memory.Candidate{c}))
			}
			return nil
		}))
		return db.Position{At: after(seconds), ID: turn.ID}
	}
	byModel := said(alice, 30, memory.Scoring{By: "m", Policy: 2})
	byRules := said(alice, 20, memory.Scoring{By: "rules"})
	oldRules := said(alice, 10, memory.Scoring{}, "rules")
	oldModel := said(alice, 40, memory.Scoring{}, "m")
	oldEmpty := said(alice, 50, memory.Scoring{})
	said(bob, 5, memory.Scoring{By: "rules"})
	none, second := 0, 2
	for what, c := range map[string]struct {
		sel  memory.TurnSelection
		want []db.Position
	}{
		"all":           {memory.TurnSelection{}, []db.Position{oldRules, byRules, byModel, oldModel, oldEmpty}},
		"rules":         {memory.TurnSelection{Scorer: "rules"}, []db.Position{oldRules, byRules, oldEmpty}},
		"a model":       {memory.TurnSelection{Scorer: "m"}, []db.Position{byModel, oldModel}},
		"no policy":     {memory.TurnSelection{Policy: &none}, []db.Position{oldRules, byRules, oldModel, oldEmpty}},
		"a policy":      {memory.TurnSelection{Policy: &second}, []db.Position{byModel}},
		"older":         {memory.TurnSelection{PolicyBefore: &second}, []db.Position{oldRules, byRules, oldModel, oldEmpty}},
		"times":         {memory.TurnSelection{From: after(20), Until: after(40)}, []db.Position{byRules, byModel}},
		"conversations": {memory.TurnSelection{ConversationID: "c"}, []db.Position{}},
	} {
		found, err := s.SelectTurns(ctx, alice, c.sel, db.Position{}, 9)
		must(t, err)
		wantSame(t, what, found, c.want)
	}
	found, err := s.SelectTurns(ctx, alice, memory.TurnSelection{}, byRules, 1)
	must(t, err)
	wantSame(t, "a page", found, []db.Position{byModel})
	user, err := s.UserWithTurns(ctx, alice.AppID, "")
	must(t, err)
	wantSame(t, "the first user", user, alice.UserID)
	user, err = s.UserWithTurns(ctx, alice.AppID, alice.UserID)
	must(t, err)
	wantSame(t, "the next user", user, "bob")
	user, err = s.UserWithTurns(ctx, alice.AppID, "bob")
	must(t, err)
	wantSame(t, "the last user", user, "")
}

// loadReprocessings stores runs of an owner that are done, with their turns.
func loadReprocessings(t *testing.T, s db.Store, owner memory.Owner) {
	for i := range 5 {
		r := newReprocessing(owner, i)
		must(t, s.BeginReprocessing(t.Context(), r, reprocessJob{r.ID}))
		done := r
		done.State, done.EndedAt = memory.ReprocessingDone, after(1000+i)
		must(t, s.AdvanceReprocessing(t.Context(), r, done))
		must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			for n := range 10 {
				must(t, tx.NoteReprocessed(ctx, memory.ReprocessedTurn{RunID: r.ID, At: after(n), TurnID: memory.NewID()}))
			}
			return nil
		}))
	}
}

// exerciseReprocessings calls what runs use.
func exerciseReprocessings(t *testing.T, s db.Store, owner memory.Owner, turnID string) {
	ctx := t.Context()
	r := newReprocessing(owner, 2000)
	must(t, s.BeginReprocessing(ctx, r, reprocessJob{r.ID}))
	for _, of := range []memory.Owner{owner, {AppID: owner.AppID}} {
		_, err := s.ListReprocessings(ctx, db.ReprocessingFilter{
			Owner: of, Before: &db.Position{At: after(999), ID: r.ID}, Limit: 5,
		})
		must(t, err)
	}
	second := 2
	_, err := s.SelectTurns(ctx, owner, memory.TurnSelection{
		ConversationID: "conversation", From: epoch, Until: after(9), Scorer: "rules", Policy: &second, PolicyBefore: &second,
	}, db.Position{}, 5)
	must(t, err)
	_, err = s.UserWithTurns(ctx, owner.AppID, "user")
	must(t, err)
	at := memory.ReprocessedTurn{RunID: r.ID, At: epoch, TurnID: turnID}
	must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.AdvanceReprocessing(ctx, r, r))
		must(t, tx.NoteReprocessed(ctx, at))
		_, _, err := tx.Reprocessed(ctx, at)
		must(t, err)
		must(t, tx.RemoveReprocessed(ctx, at))
		must(t, tx.DropCandidates(ctx, turnID, []string{memory.NewID()}))
		return tx.NoteScoring(ctx, turnID, memory.Scoring{By: "m"})
	}))
	_, err = s.ReprocessedTurns(ctx, r.ID, 5)
	must(t, err)
	_, err = s.UndoReprocessing(ctx, owner.AppID, r.ID, reprocessJob{"undo " + r.ID})
	must(t, err)
	must(t, s.PurgeReprocessings(ctx, epoch))
}
