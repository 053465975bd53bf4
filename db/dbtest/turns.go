package dbtest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func accept(t *testing.T, s db.Store) {
	turn := newTurn(alice, "client-1")
	stored, fresh, err := s.AcceptTurn(t.Context(), turn, after(60), nil)
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
	stored, fresh, err = s.AcceptTurn(t.Context(), again, after(60), nil)
	must(t, err)
	if fresh {
		t.Error("a repeated client id is fresh")
	}
	wantSame(t, "the first turn again", stored, turn)

	elsewhere := newTurn(memory.Owner{AppID: "other", UserID: "alice"}, "client-1")
	unnamed, unnamed2 := newTurn(alice, ""), newTurn(alice, "")
	accepted(t, s, elsewhere, unnamed, unnamed2)

	_, _, err = s.AcceptTurn(t.Context(), unnamed, after(60), nil)
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
			results[i], freshes[i], err = s.AcceptTurn(t.Context(), turn, after(60), nil)
			return err
		})
	}
	must(t, group.Wait())
	fresh := 0
	for i := range n {
		if freshes[i] {
			fresh++
		}
		wantSame(t, "the accepted turn", results[i], results[0])
	}
	if fresh != 1 {
		t.Errorf("%d turns were fresh, want 1", fresh)
	}
}

func findTurn(t *testing.T, s db.Store) {
	first := newTurn(alice, "name")
	second := newTurn(alice, first.ID) // a client id that looks like another turn's id
	third := newTurn(alice, memory.NewID())
	accepted(t, s, first, second, third)
	for ref, want := range map[string]memory.Turn{
		first.ID: first, "name": first, second.ID: second, third.ClientID: third,
	} {
		found, err := s.Turn(t.Context(), "app", ref)
		must(t, err)
		wantSame(t, ref, found.ID, want.ID)
	}
	for _, ref := range []string{
		"", "nothing", memory.NewID(), strings.ToUpper(first.ID), strings.Repeat("x", 9999), `'; --`,
	} {
		_, err := s.Turn(t.Context(), "app", ref)
		wantKind(t, err, memory.KindNotFound)
	}
	for _, ref := range []string{first.ID, "name"} {
		_, err := s.Turn(t.Context(), "other", ref)
		wantKind(t, err, memory.KindNotFound)
	}
}

func turnStatus(t *testing.T, s db.Store) {
	waiting := newTurn(alice, "client")
	failed := newTurn(alice, "")
	processed := newTurn(alice, "")
	accepted(t, s, waiting, failed, processed)
	must(t, s.FailTurn(t.Context(), failed.ID, 3, "gave up", epoch, nil))
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.FinishTurn(ctx, processed.ID, 1, epoch, memory.Scoring{})
	}))
	for id, want := range map[string]memory.TurnStatus{
		waiting.ID: memory.TurnAccepted, failed.ID: memory.TurnFailed, processed.ID: memory.TurnProcessed,
	} {
		got, err := s.TurnStatus(t.Context(), "app", id)
		must(t, err)
		wantSame(t, "status", got, want)
		_, err = s.TurnStatus(t.Context(), "other", id)
		wantKind(t, err, memory.KindNotFound)
	}
	for _, unknown := range []string{"", "client", memory.NewID(), strings.ToUpper(waiting.ID)} {
		_, err := s.TurnStatus(t.Context(), "app", unknown)
		wantKind(t, err, memory.KindNotFound)
	}
}

func listTurns(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	var all []memory.Turn
	for i := range 23 {
		turn := newTurn([]memory.Owner{alice, bob}[i%2], "")
		turn.AcceptedAt = after(i / 3) // some share an instant
		all = append(all, turn)
	}
	accepted(t, s, all...)
	accepted(t, s, newTurn(memory.Owner{AppID: "other", UserID: "alice"}, ""))
	must(t, s.FailTurn(t.Context(), all[4].ID, 3, "gave up", epoch, nil))
	must(t, s.FailTurn(t.Context(), all[7].ID, 3, "gave up", epoch, nil))
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
	page, err := s.ListTurns(t.Context(), db.TurnFilter{AppID: "app", Limit: 1})
	must(t, err)
	unread := newest[0]
	unread.Messages = nil
	wantSame(t, "the newest, without messages", page, []memory.Turn{unread})
	for _, limit := range []int{1, 4, 23, 500} {
		wantSame(t, "all", walk(db.TurnFilter{AppID: "app", Limit: limit}), want(func(memory.Turn) bool { return true }))
		wantSame(t, "of bob", walk(db.TurnFilter{AppID: "app", UserID: "bob", Limit: limit}),
			want(func(turn memory.Turn) bool { return turn.Owner == bob }))
		wantSame(t, "failed", walk(db.TurnFilter{AppID: "app", Status: memory.TurnFailed, Limit: limit}), want(failed))
		wantSame(t, "failed, of bob", walk(db.TurnFilter{
			AppID:  "app",
			UserID: "bob",
			Status: memory.TurnFailed,
			Limit:  limit,
		}),
			want(func(turn memory.Turn) bool { return failed(turn) && turn.Owner == bob }))
	}
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
		return s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.AddCandidates(ctx, candidates)
		})
	}
	must(t, add(alice, want))
	must(t, add(alice, nil))
	got, err := s.TurnCandidates(t.Context(), "app", turn.ID)
	must(t, err)
	wantSame(t, "candidates", got, want)
	wantKind(t, add(alice, want[:1]), memory.KindConflict)
	wantKind(t, add(memory.Owner{AppID: "app", UserID: "bob"}, []memory.Candidate{newCandidate(turn.ID)}),
		memory.KindNotFound)
	wantKind(t, add(alice, []memory.Candidate{newCandidate(turn.ID), newCandidate(memory.NewID())}), memory.KindNotFound)
	for _, ref := range [][2]string{{"other", turn.ID}, {"app", memory.NewID()}, {"app", "no id"}} {
		got, err = s.TurnCandidates(t.Context(), ref[0], ref[1])
		must(t, err)
		wantSame(t, "candidates of an unknown turn", got, []memory.Candidate(nil))
	}

	other := newCandidate(turn.ID)
	other.Scorer, other.CreatedAt = "another scorer", after(len(want))
	must(t, add(alice, []memory.Candidate{other}))
	remove := func(owner memory.Owner, turnID string) []memory.Candidate {
		must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.RemoveCandidates(ctx, turnID, want[0].Scorer)
		}))
		left, err := s.TurnCandidates(t.Context(), "app", turn.ID)
		must(t, err)
		return left
	}
	for _, owner := range []memory.Owner{{AppID: "app", UserID: "bob"}, {AppID: "other", UserID: "alice"}} {
		wantSame(t, "candidates after another user removed them", len(remove(owner, turn.ID)), len(want)+1)
	}
	wantSame(t, "candidates after those of no turn were removed", len(remove(alice, "no id")), len(want)+1)
	wantSame(t, "candidates of another scorer", remove(alice, turn.ID), []memory.Candidate{other})
}
