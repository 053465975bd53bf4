package dbtest

import (
	"context"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// newFeedback returns feedback on one memory, n seconds after epoch, with every field set.
func newFeedback(owner memory.Owner, kind memory.FeedbackKind, n int) memory.Feedback {
	return memory.Feedback{
		Owner: owner, SourceID: memory.NewRecallID(owner), MemoryID: memory.NewID(), Kind: kind, Score: 0.123456789,
		At: after(n),
	}
}

// give stores feedback and returns how many rows it has changed.
func give(t *testing.T, s db.Store, list ...memory.Feedback) (changed int) {
	t.Helper()
	must(t, s.InUser(t.Context(), list[0].Owner, func(ctx context.Context, tx db.UserTx) (err error) {
		if changed, err = tx.AddFeedback(ctx, list); err != nil {
			return err
		}
		stored, ok, err := tx.RecordedFeedback(ctx, list[0].SourceID, list[0].MemoryID)
		wantSame(t, "recorded", []any{ok, stored.Kind}, []any{true, list[0].Kind})
		return err
	}))
	return changed
}

// feedbackLives stores feedback once for each source and memory, counts it, and gives up that on purged memories.
func feedbackLives(t *testing.T, s db.Store) {
	ctx := t.Context()
	used, wrong := newFeedback(alice, memory.FeedbackUsed, 1), newFeedback(alice, memory.FeedbackWrong, 1)
	wrong.SourceID = used.SourceID
	bobs := newFeedback(bob, memory.FeedbackIrrelevant, 2)
	wantSame(t, "changed", give(t, s, used, wrong), 2)
	wantSame(t, "changed by another user", give(t, s, bobs), 1)
	again := used
	again.At = after(3)
	wantSame(t, "changed by the same feedback", give(t, s, again), 0)
	found, err := s.FeedbackOn(ctx, alice, []string{used.SourceID, bobs.SourceID, "no id"})
	must(t, err)
	wantSame(t, "feedback on a recall", byMemory(found), byMemory([]memory.Feedback{used, wrong}))

	again.Kind = memory.FeedbackIrrelevant
	again.Score = 0
	wantSame(t, "changed by other feedback", give(t, s, again), 1)
	wantCounts(t, s, alice, used.MemoryID, map[memory.FeedbackKind]int{memory.FeedbackIrrelevant: 1})
	wantCounts(t, s, bob, used.MemoryID, map[memory.FeedbackKind]int{})
	wantCounts(t, s, memory.Owner{AppID: "app"}, "",
		map[memory.FeedbackKind]int{memory.FeedbackIrrelevant: 2, memory.FeedbackWrong: 1})
	wantCounts(t, s, memory.Owner{AppID: "other"}, "", map[memory.FeedbackKind]int{})

	var all []memory.Feedback
	of := db.Extent{AppID: "app", Limit: 1}
	for last := (*memory.Feedback)(nil); ; last = &all[len(all)-1] {
		page, err := s.ExportFeedback(ctx, of, last)
		must(t, err)
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
	}
	wantSame(t, "exported", byMemory(all), byMemory([]memory.Feedback{again, wrong, bobs}))
	of.UserID = "bob"
	page, err := s.ExportFeedback(ctx, of, nil)
	must(t, err)
	wantSame(t, "exported of a user", page, []memory.Feedback{bobs})

	promoted := newFeedback(alice, memory.FeedbackPromoted, 3)
	promoted.SourceID = wrong.SourceID
	give(t, s, promoted)
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.WithdrawFeedback(ctx, wrong.SourceID, []string{wrong.MemoryID, promoted.MemoryID, bobs.MemoryID, "no id"})
	}))
	wantCounts(t, s, alice, wrong.MemoryID, map[memory.FeedbackKind]int{})
	wantCounts(t, s, alice, used.MemoryID, map[memory.FeedbackKind]int{memory.FeedbackIrrelevant: 1})
	wantCounts(t, s, alice, promoted.MemoryID, map[memory.FeedbackKind]int{memory.FeedbackPromoted: 1})
	wantCounts(t, s, bob, bobs.MemoryID, map[memory.FeedbackKind]int{memory.FeedbackIrrelevant: 1})

	gone := newMemory(alice, "gone")
	insert(t, s, time.Time{}, gone)
	forgotten(t, s, gone, after(1))
	onGone := newFeedback(alice, memory.FeedbackUsed, 4)
	onGone.MemoryID = gone.ID
	give(t, s, onGone)
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		_, err := tx.Purge(ctx, []string{gone.ID})
		return err
	}))
	wantCounts(t, s, alice, gone.ID, map[memory.FeedbackKind]int{})
}

func byMemory(list []memory.Feedback) map[string]memory.Feedback {
	by := map[string]memory.Feedback{}
	for _, f := range list {
		by[f.MemoryID] = f
	}
	return by
}

func wantCounts(
	t *testing.T, s db.Store, of memory.Owner, memoryID string, want map[memory.FeedbackKind]int,
) {
	t.Helper()
	got, err := s.CountFeedback(t.Context(), of, memoryID)
	must(t, err)
	wantSame(t, "counts", got, want)
}

// evidence lists what argues about thresholds: not of memories that are restored, and not without a score.
func evidence(t *testing.T, s db.Store) {
	ctx := t.Context()
	kept, gone := newMemory(alice, "kept"), newMemory(alice, "gone")
	gone.Status = memory.Forgotten
	insert(t, s, time.Time{}, kept, gone)
	forgotten, restored := newFeedback(alice, memory.FeedbackForgotten, 5), newFeedback(alice, memory.FeedbackForgotten, 6)
	forgotten.MemoryID, restored.MemoryID = gone.ID, kept.ID
	first, second := newFeedback(alice, memory.FeedbackPromoted, 1), newFeedback(alice, memory.FeedbackPromoted, 2)
	unknown := newFeedback(alice, memory.FeedbackPromoted, 3)
	unknown.Score = 0
	give(t, s, forgotten, restored, first, second, unknown)
	other := newFeedback(memory.Owner{AppID: "zoo", UserID: "eve"}, memory.FeedbackPromoted, 4)
	give(t, s, other)
	for _, c := range []struct {
		of   db.EvidenceFilter
		want []memory.Feedback
	}{
		{db.EvidenceFilter{AppID: "app", Kind: memory.FeedbackForgotten, Limit: 9}, []memory.Feedback{forgotten}},
		{db.EvidenceFilter{AppID: "app", Kind: memory.FeedbackPromoted, Limit: 9}, []memory.Feedback{second, first}},
		{db.EvidenceFilter{AppID: "app", Kind: memory.FeedbackPromoted, Limit: 1}, []memory.Feedback{second}},
		{db.EvidenceFilter{AppID: "app", Kind: memory.FeedbackPromoted, After: after(1), Limit: 9},
			[]memory.Feedback{second}},
		{db.EvidenceFilter{AppID: "zoo", Kind: memory.FeedbackPromoted, Limit: 9}, []memory.Feedback{other}},
	} {
		found, err := s.Evidence(ctx, c.of)
		must(t, err)
		wantSame(t, "evidence", found, c.want)
	}
	found, err := s.FeedbackOn(ctx, alice, []string{first.SourceID})
	must(t, err)
	wantSame(t, "feedback of the server on a recall", found, []memory.Feedback{})
	for after, want := range map[string]string{"": "app", "app": "zoo", "zoo": ""} {
		app, err := s.NextAppWithFeedback(ctx, after)
		must(t, err)
		wantSame(t, "the next app", app, want)
	}
}

// feedbackOwners moves feedback with a merge, and erases it. What both users have stays that of the receiving one.
func feedbackOwners(t *testing.T, s db.Store) {
	moved, own := newFeedback(alice, memory.FeedbackUsed, 1), newFeedback(bob, memory.FeedbackWrong, 2)
	same := own
	same.Owner, same.Kind = alice, memory.FeedbackUsed
	give(t, s, moved, same)
	give(t, s, own)
	e := beginMerge(t, s, db.Merge{From: alice, Into: bob})
	moveAll(t, s, e, bob, 1)
	endMerge(t, s, e)
	moved.Owner = bob
	found, err := s.FeedbackOn(t.Context(), bob, []string{moved.SourceID, own.SourceID})
	must(t, err)
	wantSame(t, "after the merge", byMemory(found), byMemory([]memory.Feedback{moved, own}))
	e = begin(t, s, bob)
	eraseAll(t, s, e, 1)
	endMerge(t, s, e)
	wantCounts(t, s, memory.Owner{AppID: "app"}, "", map[memory.FeedbackKind]int{})
}

func newStep(name memory.ThresholdName, number int) memory.ThresholdStep {
	return memory.ThresholdStep{
		AppID: "app", Name: name, Number: number, Was: 0.7, Value: 0.68, Lower: 5, Higher: 1, At: after(number),
	}
}

// thresholdSteps numbers the steps of each threshold; of two processes that take the same step, one does.
func thresholdSteps(t *testing.T, s db.Store) {
	first, second := newStep(memory.GateThreshold, 1), newStep(memory.GateThreshold, 2)
	second.Reset = true
	other := newStep(memory.ConfidenceThreshold, 1)
	for _, step := range []memory.ThresholdStep{first, second, other} {
		must(t, s.AddThresholdStep(t.Context(), step))
	}
	wantKind(t, s.AddThresholdStep(t.Context(), first), memory.KindConflict)
	steps, err := s.ThresholdSteps(t.Context(), "app", memory.GateThreshold, 9)
	must(t, err)
	wantSame(t, "steps", steps, []memory.ThresholdStep{second, first})
	steps, err = s.ThresholdSteps(t.Context(), "app", memory.GateThreshold, 1)
	must(t, err)
	wantSame(t, "the newest step", steps, []memory.ThresholdStep{second})
	steps, err = s.ThresholdSteps(t.Context(), "other", memory.GateThreshold, 9)
	must(t, err)
	wantSame(t, "steps of another app", steps, []memory.ThresholdStep{})
}

// exerciseFeedback runs every query about feedback and thresholds.
func exerciseFeedback(t *testing.T, s db.Store, owner memory.Owner, memoryID string) {
	t.Helper()
	ctx := t.Context()
	f := newFeedback(owner, memory.FeedbackUsed, 1)
	f.MemoryID = memoryID
	give(t, s, f)
	must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.WithdrawFeedback(ctx, f.SourceID, []string{memory.NewID()})
	}))
	_, err := s.FeedbackOn(ctx, owner, []string{f.SourceID})
	must(t, err)
	_, err = s.CountFeedback(ctx, owner, memoryID)
	must(t, err)
	_, err = s.CountFeedback(ctx, memory.Owner{AppID: owner.AppID}, "")
	must(t, err)
	for _, kind := range memory.AllFeedbackKinds {
		_, err = s.Evidence(ctx, db.EvidenceFilter{AppID: owner.AppID, Kind: kind, After: epoch, Limit: 5})
		must(t, err)
	}
	_, err = s.NextAppWithFeedback(ctx, "app")
	must(t, err)
	for _, userID := range []string{"", owner.UserID} {
		_, err = s.ExportFeedback(ctx, db.Extent{AppID: owner.AppID, UserID: userID, Limit: 5}, &f)
		must(t, err)
	}
	step := memory.ThresholdStep{AppID: owner.AppID, Name: memory.GateThreshold, Number: 1, At: epoch}
	must(t, s.AddThresholdStep(ctx, step))
	_, err = s.ThresholdSteps(ctx, owner.AppID, memory.GateThreshold, 5)
	must(t, err)
}
