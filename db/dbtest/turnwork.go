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
	started, err := s.StartTurn(ctx, turn.ID, after(100))
	must(t, err)
	wantSame(t, "the started turn", started, turn)
	wantSame(t, "overdue at 90", resume(t, s, after(90), after(200)), 0)

	must(t, s.RenewTurns(ctx, []string{turn.ID, memory.NewID(), "no id"}, after(110)))
	wantSame(t, "overdue at 105", resume(t, s, after(105), after(200)), 0)

	refused := newCandidate("")
	refused.Verdict, refused.Importance, refused.Domain, refused.Type, refused.MemoryID = memory.InvalidAnswer, 1.7, "nonsense", "", ""
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

	must(t, s.DeferTurn(ctx, turn.ID, 2, "away", after(130), nil))
	wantSame(t, "overdue at 130", resume(t, s, after(130), after(200)), 0) // due is not before now
	must(t, s.FailTurn(ctx, turn.ID, 3, "gave up", epoch, nil))
	turn.Status, turn.Attempts, turn.LastError = memory.TurnFailed, 3, "gave up"
	alone := func(what string) {
		t.Helper()
		kept, err := s.Turn(ctx, "app", turn.ID)
		must(t, err)
		wantSame(t, what, kept, turn)
	}
	alone("the failed turn")

	second := newCandidate("")
	must(t, s.DeferTurn(ctx, turn.ID, 9, "late", after(140), &second))
	must(t, s.FailTurn(ctx, turn.ID, 9, "late", epoch, &second))
	must(t, s.EndTurns(ctx, []string{turn.ID}, after(140)))
	must(t, s.RenewTurns(ctx, []string{turn.ID}, after(1)))
	started, err = s.StartTurn(ctx, turn.ID, after(1))
	must(t, err)
	wantSame(t, "a failed turn, started", started, turn)
	alone("a turn no longer accepted")
	wantSame(t, "overdue though failed", resume(t, s, after(999), after(2000)), 0)
	listed, err = s.TurnCandidates(ctx, "app", turn.ID)
	must(t, err)
	wantSame(t, "candidates", listed, []memory.Candidate{refused})

	for _, unknown := range []string{memory.NewID(), "no id", ""} {
		_, err = s.StartTurn(ctx, unknown, after(1))
		wantKind(t, err, memory.KindNotFound)
		wantKind(t, s.DeferTurn(ctx, unknown, 1, "", after(1), nil), memory.KindNotFound)
		wantKind(t, s.FailTurn(ctx, unknown, 1, "", epoch, nil), memory.KindNotFound)
		must(t, s.EndTurns(ctx, []string{unknown}, after(1)))
	}
}

func endTurns(t *testing.T, s db.Store) {
	turn, other, failed, left := newTurn(alice, ""), newTurn(memory.Owner{AppID: "other", UserID: "bob"}, ""), newTurn(alice, ""), newTurn(alice, "")
	accepted(t, s, turn, other, failed, left)
	must(t, s.DeferTurn(t.Context(), turn.ID, 1, "away", after(70), nil))
	must(t, s.FailTurn(t.Context(), failed.ID, 3, "gave up", epoch, nil))
	must(t, s.EndTurns(t.Context(), nil, after(79)))
	must(t, s.EndTurns(t.Context(), []string{turn.ID, failed.ID, memory.NewID(), "no id", other.ID, turn.ID}, after(80)))
	must(t, s.EndTurns(t.Context(), []string{turn.ID}, after(90))) // it is no longer accepted
	turn.Status, turn.Attempts, turn.ProcessedAt = memory.TurnProcessed, 2, after(80)
	other.Status, other.Attempts, other.ProcessedAt = memory.TurnProcessed, 1, after(80)
	failed.Status, failed.Attempts, failed.LastError = memory.TurnFailed, 3, "gave up"
	for _, want := range []memory.Turn{turn, other, failed, left} {
		found, err := s.Turn(t.Context(), want.AppID, want.ID)
		must(t, err)
		wantSame(t, "a turn", found, want)
	}
	wantSame(t, "overdue: what was left", resume(t, s, after(999), after(2000)), 1)
}

func replayTurn(t *testing.T, s db.Store) {
	ctx := t.Context()
	turn := newTurn(alice, "")
	accepted(t, s, turn)
	must(t, s.FailTurn(ctx, turn.ID, 3, "gave up", epoch, nil))
	replayed, err := s.ReplayTurn(ctx, "app", turn.ID, after(240), after(300), work{turn.ID})
	must(t, err)
	turn.QueuedAt = after(240)
	wantSame(t, "the replayed turn", replayed, turn)
	replayed, err = s.StartTurn(ctx, turn.ID, after(300))
	must(t, err)
	wantSame(t, "the replayed turn, started", replayed, turn)
	wantSame(t, "overdue before its time", resume(t, s, after(299), after(400)), 0)
	_, err = s.ReplayTurn(ctx, "app", turn.ID, epoch, after(310), work{turn.ID}) // accepted
	must(t, err)
	wantSame(t, "jobs", jobs(t, s), []string{turn.ID, turn.ID, turn.ID})

	_, err = s.ReplayTurn(ctx, "other", turn.ID, epoch, after(300), work{turn.ID})
	wantKind(t, err, memory.KindNotFound)
	_, err = s.ReplayTurn(ctx, "app", "no id", epoch, after(300), work{turn.ID})
	wantKind(t, err, memory.KindNotFound)
	must(t, s.FailTurn(ctx, turn.ID, 1, "again", epoch, nil))
	if _, err = s.ReplayTurn(ctx, "app", turn.ID, epoch, after(300), badJob{}); err == nil {
		t.Error("a job that cannot be stored was replayed")
	}
	failed, err := s.Turn(ctx, "app", turn.ID)
	must(t, err)
	wantSame(t, "the status after a replay that failed", failed.Status, memory.TurnFailed)

	_, err = s.ReplayTurn(ctx, "app", turn.ID, epoch, after(300), work{turn.ID})
	must(t, err)
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error { return tx.FinishTurn(ctx, turn.ID, 1, after(5)) }))
	_, err = s.ReplayTurn(ctx, "app", turn.ID, epoch, after(300), work{turn.ID})
	wantKind(t, err, memory.KindConflict)
	wantSame(t, "jobs", len(jobs(t, s)), 4)
}

func resume(t *testing.T, s db.Store, now, due time.Time) int {
	t.Helper()
	n, err := s.ResumeTurns(t.Context(), now, due, 100, workOn)
	must(t, err)
	return n
}

func resumeTurns(t *testing.T, s db.Store) {
	var want []string
	for i := range 30 {
		turn := newTurn(alice, fmt.Sprint(i))
		_, _, err := s.AcceptTurn(t.Context(), turn, after(i))
		must(t, err)
		want = append(want, turn.ID)
	}
	n, err := s.ResumeTurns(t.Context(), after(5), after(1000), 3, workOn) // 0 to 4 are overdue
	must(t, err)
	wantSame(t, "limited", n, 3)
	if oldest := jobs(t, s); !slices.Contains(oldest, want[0]) || slices.Contains(oldest, want[4]) {
		t.Error("the turns that are overdue for longest were not taken first")
	}

	var group errgroup.Group
	var mu sync.Mutex
	total := 0
	for range 6 {
		group.Go(func() error {
			for {
				n, err := s.ResumeTurns(t.Context(), after(500), after(1000), 4, workOn)
				mu.Lock()
				total += n
				mu.Unlock()
				if err != nil || n == 0 {
					return err
				}
			}
		})
	}
	must(t, group.Wait())
	wantSame(t, "resumed by all", total, 27)
	resumed := jobs(t, s)
	slices.Sort(resumed)
	slices.Sort(want)
	wantSame(t, "each turn resumed once", resumed, want)

	_, err = s.ResumeTurns(t.Context(), after(2000), after(3000), 5, func(string) db.Job { return badJob{} })
	if err == nil {
		t.Error("jobs that cannot be stored were resumed")
	}
	wantSame(t, "still overdue", resume(t, s, after(2000), after(3000)), 30)
}

func finishTurn(t *testing.T, s db.Store) {
	turn, second := newTurn(alice, ""), newTurn(alice, "")
	accepted(t, s, turn, second)
	must(t, s.DeferTurn(t.Context(), turn.ID, 1, "away", after(70), nil))
	finish := func(owner memory.Owner, id string) error {
		return s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.FinishTurn(ctx, id, 2, after(80))
		})
	}
	wantKind(t, finish(memory.Owner{AppID: "app", UserID: "bob"}, turn.ID), memory.KindNotFound)
	wantKind(t, finish(alice, memory.NewID()), memory.KindNotFound)
	must(t, finish(alice, turn.ID))
	found, err := s.Turn(t.Context(), "app", turn.ID)
	must(t, err)
	turn.Status, turn.Attempts, turn.ProcessedAt = memory.TurnProcessed, 2, after(80)
	wantSame(t, "the finished turn", found, turn)
	wantKind(t, finish(alice, turn.ID), memory.KindConflict)
	must(t, s.FailTurn(t.Context(), second.ID, 1, "bad", epoch, nil))
	wantKind(t, finish(alice, second.ID), memory.KindConflict)
}
