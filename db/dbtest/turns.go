package dbtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func accept(t *testing.T, s db.Store) {
	turn := newTurn(alice, "client-1")
	stored, fresh, err := s.AcceptTurn(t.Context(), turn, after(60), work{turn.ID})
	must(t, err)
	if !fresh {
		t.Error("the first turn is not fresh")
	}
	wantSame(t, "the answer", stored, turn)
	found, err := s.Turn(t.Context(), "app", turn.ID)
	must(t, err)
	wantSame(t, "the row", found, turn)

	again := newTurn(alice, "client-1")
	again.Hash = "other"
	stored, fresh, err = s.AcceptTurn(t.Context(), again, after(60), work{again.ID})
	must(t, err)
	if fresh {
		t.Error("a repeated client id is fresh")
	}
	wantSame(t, "the first turn again", stored, turn)

	elsewhere := newTurn(memory.Owner{AppID: "other", UserID: "alice"}, "client-1")
	unnamed, unnamed2 := newTurn(alice, ""), newTurn(alice, "")
	accepted(t, s, elsewhere, unnamed, unnamed2)
	wantSame(t, "jobs", jobs(t, s), []string{turn.ID, elsewhere.ID, unnamed.ID, unnamed2.ID})

	_, _, err = s.AcceptTurn(t.Context(), unnamed, after(60), work{unnamed.ID})
	wantKind(t, err, memory.KindConflict)
}

func acceptConcurrently(t *testing.T, s db.Store) {
	const n = 12
	var group errgroup.Group
	results := make([]memory.Turn, n)
	freshes := make([]bool, n)
	for i := range n {
		group.Go(func() (err error) {
			turn := newTurn(alice, "the same")
			results[i], freshes[i], err = s.AcceptTurn(t.Context(), turn, after(60), work{turn.ID})
			return err
		})
	}
	must(t, group.Wait())
	fresh := 0
	for i := range n {
		if freshes[i] {
			fresh++
		}
		wantSame(t, "the one turn", results[i], results[0])
	}
	if fresh != 1 {
		t.Errorf("%d turns were fresh, want 1", fresh)
	}
	wantSame(t, "jobs", jobs(t, s), []string{results[0].ID})
}

// badJob cannot be written as JSON, so enqueueing it fails after the row is stored.
type badJob struct{ C chan int }

func (badJob) Kind() string { return "dbtest_bad" }

func acceptRollsBack(t *testing.T, s db.Store) {
	turn := newTurn(alice, "client")
	if _, _, err := s.AcceptTurn(t.Context(), turn, after(60), badJob{}); err == nil {
		t.Fatal("a job that cannot be stored was accepted")
	}
	_, err := s.Turn(t.Context(), "app", turn.ID)
	wantKind(t, err, memory.KindNotFound)
	accepted(t, s, turn) // as if nothing had happened
}

func findTurn(t *testing.T, s db.Store) {
	first := newTurn(alice, "name")
	second := newTurn(alice, first.ID) // a client id that looks like another turn's id
	third := newTurn(alice, memory.NewID())
	accepted(t, s, first, second, third)
	for ref, want := range map[string]memory.Turn{first.ID: first, "name": first, second.ID: second, third.ClientID: third} {
		found, err := s.Turn(t.Context(), "app", ref)
		must(t, err)
		wantSame(t, ref, found.ID, want.ID)
	}
	for _, ref := range []string{"", "nothing", memory.NewID(), strings.ToUpper(first.ID), strings.Repeat("x", 9999), `'; --`} {
		_, err := s.Turn(t.Context(), "app", ref)
		wantKind(t, err, memory.KindNotFound)
	}
	for _, ref := range []string{first.ID, "name"} {
		_, err := s.Turn(t.Context(), "other", ref)
		wantKind(t, err, memory.KindNotFound)
	}
}

func listTurns(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	var all []memory.Turn
	for i := range 23 {
		turn := newTurn([]memory.Owner{alice, bob}[i%2], "")
		turn.AcceptedAt = after(i / 3) // several at one instant
		all = append(all, turn)
	}
	accepted(t, s, all...)
	accepted(t, s, newTurn(memory.Owner{AppID: "other", UserID: "alice"}, ""))
	must(t, s.FailTurn(t.Context(), all[4].ID, 3, "gave up", nil))
	must(t, s.FailTurn(t.Context(), all[7].ID, 3, "gave up", nil))
	newest := slices.Clone(all)
	slices.Reverse(newest)

	walk := func(f db.TurnFilter) (found []string) {
		for {
			page, err := s.ListTurns(t.Context(), f)
			must(t, err)
			if len(page) > f.Limit {
				t.Fatalf("a page of %d, limit %d", len(page), f.Limit)
			}
			for _, turn := range page {
				found = append(found, turn.ID)
			}
			if len(page) < f.Limit {
				return found
			}
			last := page[len(page)-1]
			f.Before = &db.Position{At: last.AcceptedAt, ID: last.ID}
		}
	}
	want := func(keep func(memory.Turn) bool) (ids []string) {
		for _, turn := range newest {
			if keep(turn) {
				ids = append(ids, turn.ID)
			}
		}
		return ids
	}
	failed := func(turn memory.Turn) bool { return turn.ID == all[4].ID || turn.ID == all[7].ID }
	for _, limit := range []int{1, 4, 23, 500} {
		wantSame(t, "all", walk(db.TurnFilter{AppID: "app", Limit: limit}), want(func(memory.Turn) bool { return true }))
		wantSame(t, "bob's", walk(db.TurnFilter{AppID: "app", UserID: "bob", Limit: limit}),
			want(func(turn memory.Turn) bool { return turn.Owner == bob }))
		wantSame(t, "failed", walk(db.TurnFilter{AppID: "app", Status: memory.TurnFailed, Limit: limit}), want(failed))
		wantSame(t, "bob's failed", walk(db.TurnFilter{AppID: "app", UserID: "bob", Status: memory.TurnFailed, Limit: limit}),
			want(func(turn memory.Turn) bool { return failed(turn) && turn.Owner == bob }))
	}
}

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
	must(t, s.FailTurn(ctx, turn.ID, 3, "gave up", nil))
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
	must(t, s.FailTurn(ctx, turn.ID, 9, "late", &second))
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
		wantKind(t, s.FailTurn(ctx, unknown, 1, "", nil), memory.KindNotFound)
	}
}

func replayTurn(t *testing.T, s db.Store) {
	ctx := t.Context()
	turn := newTurn(alice, "")
	accepted(t, s, turn)
	must(t, s.FailTurn(ctx, turn.ID, 3, "gave up", nil))
	replayed, err := s.ReplayTurn(ctx, "app", turn.ID, after(300), work{turn.ID})
	must(t, err)
	wantSame(t, "the replayed turn", replayed, turn)
	wantSame(t, "overdue before its time", resume(t, s, after(299), after(400)), 0)
	_, err = s.ReplayTurn(ctx, "app", turn.ID, after(310), work{turn.ID}) // accepted
	must(t, err)
	wantSame(t, "jobs", jobs(t, s), []string{turn.ID, turn.ID, turn.ID})

	_, err = s.ReplayTurn(ctx, "other", turn.ID, after(300), work{turn.ID})
	wantKind(t, err, memory.KindNotFound)
	_, err = s.ReplayTurn(ctx, "app", "no id", after(300), work{turn.ID})
	wantKind(t, err, memory.KindNotFound)
	must(t, s.FailTurn(ctx, turn.ID, 1, "again", nil))
	if _, err = s.ReplayTurn(ctx, "app", turn.ID, after(300), badJob{}); err == nil {
		t.Error("a job that cannot be stored was replayed")
	}
	failed, err := s.Turn(ctx, "app", turn.ID)
	must(t, err)
	wantSame(t, "the status after a replay that failed", failed.Status, memory.TurnFailed)

	_, err = s.ReplayTurn(ctx, "app", turn.ID, after(300), work{turn.ID})
	must(t, err)
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error { return tx.FinishTurn(ctx, turn.ID, 1, after(5)) }))
	_, err = s.ReplayTurn(ctx, "app", turn.ID, after(300), work{turn.ID})
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
		_, _, err := s.AcceptTurn(t.Context(), turn, after(i), work{turn.ID})
		must(t, err)
		want = append(want, turn.ID)
	}
	n, err := s.ResumeTurns(t.Context(), after(5), after(1000), 3, workOn) // 0 to 4 are overdue
	must(t, err)
	wantSame(t, "limited", n, 3)
	if oldest := jobs(t, s)[30:]; !slices.Contains(oldest, want[0]) || slices.Contains(oldest, want[4]) {
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
	resumed := jobs(t, s)[30:]
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
	must(t, s.FailTurn(t.Context(), second.ID, 1, "bad", nil))
	wantKind(t, finish(alice, second.ID), memory.KindConflict)
}

func candidates(t *testing.T, s db.Store) {
	turn := newTurn(alice, "")
	accepted(t, s, turn)
	var want []memory.Candidate
	for i, verdict := range memory.Verdicts {
		c := newCandidate(turn.ID)
		c.Verdict, c.CreatedAt = verdict, after(i/2)
		want = append(want, c)
	}
	want[1].MemoryID = ""
	add := func(owner memory.Owner, candidates []memory.Candidate) error {
		return s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error { return tx.AddCandidates(ctx, candidates) })
	}
	must(t, add(alice, want))
	must(t, add(alice, nil))
	got, err := s.TurnCandidates(t.Context(), "app", turn.ID)
	must(t, err)
	wantSame(t, "candidates", got, want)
	wantKind(t, add(alice, want[:1]), memory.KindConflict)
	wantKind(t, add(memory.Owner{AppID: "app", UserID: "bob"}, []memory.Candidate{newCandidate(turn.ID)}), memory.KindNotFound)
	wantKind(t, add(alice, []memory.Candidate{newCandidate(turn.ID), newCandidate(memory.NewID())}), memory.KindNotFound)
	for _, ref := range [][2]string{{"other", turn.ID}, {"app", memory.NewID()}, {"app", "no id"}} {
		got, err = s.TurnCandidates(t.Context(), ref[0], ref[1])
		must(t, err)
		wantSame(t, "candidates of nothing", got, []memory.Candidate(nil))
	}
}
