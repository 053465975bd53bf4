package dbtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func workOnTurn(t *testing.T, s db.Store) {
	ctx := t.Context()
	turn := newTurn(alice, "")
	accepted(t, s, turn) // due at 60
	wantSame(t, "due at 59", claim(t, s, after(59), after(100)), []memory.Turn(nil))
	wantSame(t, "due at 60", claim(t, s, after(60), after(100)), []memory.Turn{turn})
	wantSame(t, "due at 90", claim(t, s, after(90), after(200)), []memory.Turn(nil))

	must(t, s.RenewTurns(ctx, []string{turn.ID, memory.NewID(), "no id"}, after(110)))
	wantSame(t, "due at 105", claim(t, s, after(105), after(200)), []memory.Turn(nil))

	refused := newCandidate("")
	refused.Verdict = memory.InvalidAnswer
	refused.Importance = 1.7
	refused.Domain = "nonsense"
	refused.Type = ""
	refused.MemoryID = ""
	refused.Content = "<html>\x00 cut \xe8\x8c"
	must(t, s.DeferTurn(ctx, turn.ID, 1, "bad \x00 answer", after(120), &refused))
	kept, err := s.Turn(ctx, "app", turn.ID)
	must(t, err)
	turn.Attempts, turn.LastError = 1, "bad \uFFFD answer"
	wantSame(t, "the deferred turn", kept, turn)
	listed, err := s.TurnCandidates(ctx, "app", turn.ID)
	must(t, err)
	refused.TurnID, refused.Content = turn.ID, "<html>\uFFFD cut \uFFFD"
	wantSame(t, "the refused candidate", listed, []memory.Candidate{refused})

	must(t, s.DeferTurn(ctx, turn.ID, 2, "unavailable", after(130), nil))
	wantSame(t, "due at 129", claim(t, s, after(129), after(200)), []memory.Turn(nil))
	must(t, s.FailTurn(ctx, turn.ID, 3, "gave up", epoch, nil))
	turn.Status = memory.TurnFailed
	turn.Attempts = 3
	turn.LastError = "gave up"
	wantTurn := func(what string) {
		t.Helper()
		kept, err := s.Turn(ctx, "app", turn.ID)
		must(t, err)
		wantSame(t, what, kept, turn)
	}
	wantTurn("the failed turn")

	second := newCandidate("")
	must(t, s.DeferTurn(ctx, turn.ID, 9, "late", after(140), &second))
	must(t, s.FailTurn(ctx, turn.ID, 9, "late", epoch, &second))
	must(t, s.EndTurns(ctx, []db.EndedTurn{{ID: turn.ID}}, after(140)))
	must(t, s.RenewTurns(ctx, []string{turn.ID}, after(1)))
	wantTurn("a turn no longer accepted")
	wantSame(t, "due though failed", claim(t, s, after(999), after(2000)), []memory.Turn(nil))
	listed, err = s.TurnCandidates(ctx, "app", turn.ID)
	must(t, err)
	wantSame(t, "candidates", listed, []memory.Candidate{refused})

	for _, unknown := range []string{memory.NewID(), "no id", ""} {
		wantKind(t, s.DeferTurn(ctx, unknown, 1, "", after(1), nil), memory.KindNotFound)
		wantKind(t, s.FailTurn(ctx, unknown, 1, "", epoch, nil), memory.KindNotFound)
		must(t, s.EndTurns(ctx, []db.EndedTurn{{ID: unknown}}, after(1)))
	}
}

func longestDue(t *testing.T, s db.Store) {
	want := func(what string, want time.Time) {
		t.Helper()
		due, err := s.LongestDue(t.Context())
		must(t, err)
		wantSame(t, what, due, want)
	}
	want("without turns", time.Time{})
	first, second := newTurn(alice, ""), newTurn(memory.Owner{AppID: "other", UserID: "bob"}, "")
	accepted(t, s, first) // due at 60
	accepted(t, s, second)
	must(t, s.RenewTurns(t.Context(), []string{second.ID}, after(50)))
	want("of two turns", after(50))
	must(t, s.RenewTurns(t.Context(), []string{second.ID}, after(70)))
	want("after a turn was renewed", after(60))
	must(t, s.EndTurns(t.Context(), []db.EndedTurn{{ID: first.ID}}, after(61)))
	want("after a turn was processed", after(70))
	must(t, s.FailTurn(t.Context(), second.ID, 3, "gave up", epoch, nil))
	want("after the last turn failed", time.Time{})
}

func endTurns(t *testing.T, s db.Store) {
	turn := newTurn(alice, "")
	other := newTurn(memory.Owner{AppID: "other", UserID: "bob"}, "")
	failed := newTurn(alice, "")
	left := newTurn(alice, "")
	accepted(t, s, turn, other, failed, left)
	must(t, s.DeferTurn(t.Context(), turn.ID, 1, "unavailable", after(70), nil))
	must(t, s.FailTurn(t.Context(), failed.ID, 3, "gave up", epoch, nil))
	must(t, s.EndTurns(t.Context(), nil, after(79)))
	leftOut := []memory.Omission{
		{Message: 0, Reason: memory.OmittedSmallTalk, Characters: 5}, {Message: 1, Reason: memory.OmittedRole, Characters: 1},
	}
	must(t, s.EndTurns(t.Context(), []db.EndedTurn{
		{ID: turn.ID, LeftOut: leftOut}, {ID: failed.ID, LeftOut: leftOut}, {ID: memory.NewID(), LeftOut: leftOut},
		{ID: "no id"}, {ID: other.ID}, {ID: turn.ID},
	}, after(80)))
	// It is no longer accepted, so that this has no effect.
	must(t, s.EndTurns(t.Context(), []db.EndedTurn{{ID: turn.ID, LeftOut: leftOut[1:]}}, after(90)))
	turn.LeftOut = leftOut
	turn.Status = memory.TurnProcessed
	turn.Attempts = 2
	turn.ProcessedAt = after(80)
	other.Status = memory.TurnProcessed
	other.Attempts = 1
	other.ProcessedAt = after(80)
	failed.Status = memory.TurnFailed
	failed.Attempts = 3
	failed.LastError = "gave up"
	for _, want := range []memory.Turn{turn, other, failed, left} {
		found, err := s.Turn(t.Context(), want.AppID, want.ID)
		must(t, err)
		wantSame(t, "a turn", found, want)
	}
	wantSame(t, "due", claim(t, s, after(999), after(2000)), []memory.Turn{left})
}

func replayTurn(t *testing.T, s db.Store) {
	ctx := t.Context()
	turn := newTurn(alice, "")
	accepted(t, s, turn)
	must(t, s.FailTurn(ctx, turn.ID, 3, "gave up", epoch, nil))
	replayed, err := s.ReplayTurn(ctx, "app", turn.ID, after(240))
	must(t, err)
	turn.QueuedAt = after(240)
	wantSame(t, "the replayed turn", replayed, turn)
	wantSame(t, "due before its time", claim(t, s, after(239), after(400)), []memory.Turn(nil))
	wantSame(t, "due", claim(t, s, after(240), after(400)), []memory.Turn{turn})
	_, err = s.ReplayTurn(ctx, "app", turn.ID, after(250)) // accepted
	must(t, err)
	turn.QueuedAt = after(250)
	wantSame(t, "due, replayed while claimed", claim(t, s, after(250), after(400)), []memory.Turn{turn})

	_, err = s.ReplayTurn(ctx, "other", turn.ID, epoch)
	wantKind(t, err, memory.KindNotFound)
	_, err = s.ReplayTurn(ctx, "app", "no id", epoch)
	wantKind(t, err, memory.KindNotFound)

	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.FinishTurn(ctx, turn.ID, 1, after(5), memory.Scoring{})
	}))
	_, err = s.ReplayTurn(ctx, "app", turn.ID, epoch)
	wantKind(t, err, memory.KindConflict)
	wantSame(t, "due though processed", claim(t, s, after(999), after(2000)), []memory.Turn(nil))
}

// claim claims the turns that are due at now.
func claim(t *testing.T, s db.Store, now, due time.Time) []memory.Turn {
	t.Helper()
	turns, err := s.ClaimTurns(t.Context(), now, due, 100)
	must(t, err)
	return turns
}

func claimTurns(t *testing.T, s db.Store) {
	var want []string
	for i := range 30 {
		turn := newTurn(alice, fmt.Sprint(i))
		_, _, err := s.AcceptTurn(t.Context(), turn, after(i), nil)
		must(t, err)
		want = append(want, turn.ID)
	}
	var mu sync.Mutex
	var claimed []string
	take := func(now, due time.Time, limit int) (int, error) {
		turns, err := s.ClaimTurns(t.Context(), now, due, limit)
		mu.Lock()
		defer mu.Unlock()
		for _, turn := range turns {
			claimed = append(claimed, turn.ID)
		}
		return len(turns), err
	}
	n, err := take(after(4), after(1000), 3) // 0 to 4 are due
	must(t, err)
	wantSame(t, "limited", n, 3)
	if !slices.Contains(claimed, want[0]) || slices.Contains(claimed, want[4]) {
		t.Error("the turns that have been due for longest were not claimed first")
	}

	var group errgroup.Group
	for range 6 {
		group.Go(func() error {
			for {
				if n, err := take(after(500), after(1000), 4); err != nil || n == 0 {
					return err
				}
			}
		})
	}
	must(t, group.Wait())
	slices.Sort(claimed)
	slices.Sort(want)
	wantSame(t, "each turn claimed once", claimed, want)
	wantSame(t, "due again", len(claim(t, s, after(1000), after(3000))), 30)
}

func finishTurn(t *testing.T, s db.Store) {
	turn, second := newTurn(alice, ""), newTurn(alice, "")
	accepted(t, s, turn, second)
	must(t, s.DeferTurn(t.Context(), turn.ID, 1, "unavailable", after(70), nil))
	finish := func(owner memory.Owner, id string) error {
		return s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.FinishTurn(ctx, id, 2, after(80), memory.Scoring{})
		})
	}
	wantKind(t, finish(memory.Owner{AppID: "app", UserID: "bob"}, turn.ID), memory.KindNotFound)
	wantKind(t, finish(alice, memory.NewID()), memory.KindNotFound)
	must(t, finish(alice, turn.ID))
	found, err := s.Turn(t.Context(), "app", turn.ID)
	must(t, err)
	turn.Status = memory.TurnProcessed
	turn.Attempts = 2
	turn.ProcessedAt = after(80)
	wantSame(t, "the finished turn", found, turn)
	wantKind(t, finish(alice, turn.ID), memory.KindConflict)
	must(t, s.FailTurn(t.Context(), second.ID, 1, "bad", epoch, nil))
	wantKind(t, finish(alice, second.ID), memory.KindConflict)
}
