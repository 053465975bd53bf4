package dbtest

import (
	"context"
	"errors"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// withdrawal checks that a withdrawn turn is neither processed nor replayed, and that a transaction can store the turn
// that takes its place.
func withdrawal(t *testing.T, s db.Store) {
	ctx := t.Context()
	kept := say(t, s, talked(alice, "c", epoch, "one", "two"))
	turn := say(t, s, talked(alice, "c", epoch, "three"))
	withdraw := func(owner memory.Owner, id string) error {
		return s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.WithdrawTurn(ctx, id, after(5))
		})
	}
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	for _, err := range []error{withdraw(bob, turn.ID), withdraw(alice, memory.NewID()), withdraw(alice, "no id")} {
		wantKind(t, err, memory.KindNotFound)
	}
	must(t, withdraw(alice, turn.ID))
	turn.Status, turn.WithdrawnAt = memory.TurnWithdrawn, after(5)
	wantWithdrawn := func(what string) {
		t.Helper()
		read, err := s.Turn(ctx, "app", turn.ID)
		must(t, err)
		wantSame(t, "turn after "+what, read, turn)
	}
	wantWithdrawn("its withdrawal")
	log, err := s.ConversationTurns(ctx, alice, "c", 0, 10)
	must(t, err)
	wantSame(t, "log", log, []memory.Turn{kept, turn})
	listed, err := s.ListTurns(ctx, db.TurnFilter{AppID: "app", Status: memory.TurnWithdrawn, Limit: 10})
	must(t, err)
	wantSame(t, "withdrawn turns", len(listed), 1)
	stats, err := s.Stats(ctx, "app")
	must(t, err)
	wantSame(t, "counted turns", stats.Turns, map[memory.TurnStatus]int{memory.TurnAccepted: 1, memory.TurnWithdrawn: 1})

	_, err = s.ReplayTurn(ctx, "app", turn.ID, after(6))
	wantKind(t, err, memory.KindConflict)
	must(t, s.EndTurns(ctx, []db.EndedTurn{{ID: turn.ID}}, after(6)))
	must(t, s.FailTurn(ctx, turn.ID, 1, "late", after(6), nil))
	wantKind(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.FinishTurn(ctx, turn.ID, 1, after(6), memory.Scoring{})
	}), memory.KindConflict)
	claimed, err := s.ClaimTurns(ctx, after(100), after(200), 10)
	must(t, err)
	if len(claimed) != 1 || claimed[0].ID != kept.ID {
		t.Errorf("claimed %v, want turn %s", claimed, kept.ID)
	}
	wantWithdrawn("late attempts")

	// A processed turn keeps when it was processed.
	must(t, s.EndTurns(ctx, []db.EndedTurn{{ID: kept.ID}}, after(3)))
	must(t, withdraw(alice, kept.ID))
	read, err := s.Turn(ctx, "app", kept.ID)
	must(t, err)
	wantSame(t, "processed at", read.ProcessedAt, after(3))
}

// replacement checks that a transaction stores a turn as AcceptTurn does, and only if it is committed.
func replacement(t *testing.T, s db.Store) {
	ctx := t.Context()
	first := say(t, s, talked(alice, "c", epoch, "one", "two"))
	state := db.LogState{FirstTurnID: first.ID, Events: 2}
	abandoned := errors.New("abandoned")
	var stored memory.Turn
	var fresh bool
	accept := func(turn memory.Turn, log *db.LogState, end error) error {
		return s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) (err error) {
			if stored, fresh, err = tx.AcceptTurn(ctx, turn, after(60), log); err != nil {
				return err
			}
			must(t, tx.ReviseConversation(ctx, "c", db.ConversationRevision{From: 1}))
			return end
		})
	}
	named := talked(alice, "c", after(1), "three")
	named.ClientID = "named"
	for _, log := range []*db.LogState{
		{}, {FirstTurnID: first.ID, Events: 1}, {FirstTurnID: first.ID, Events: 2, Edition: 1},
	} {
		if err := accept(named, log, nil); !errors.Is(err, db.ErrConversationChanged) {
			t.Errorf("log %+v: %v", log, err)
		}
	}
	if err := accept(named, &state, abandoned); !errors.Is(err, abandoned) {
		t.Errorf("abandoned: %v", err)
	}
	wantSame(t, "events", conversation(t, s, alice, "c").Events, int64(2))
	must(t, accept(named, &state, nil))
	wantSame(t, "fresh", fresh, true)
	named.FirstEvent = 3
	wantSame(t, "stored", stored, named)
	read, err := s.Turn(ctx, "app", "named")
	must(t, err)
	wantSame(t, "read", read, named)

	again := talked(alice, "c", after(2), "three")
	again.ClientID = "named"
	must(t, accept(again, &state, nil))
	wantSame(t, "fresh", fresh, false)
	wantSame(t, "turn with the client's id", stored, named)

	single := talked(alice, "", after(3), "without a conversation")
	must(t, accept(single, nil, nil))
	wantSame(t, "fresh", fresh, true)
	wantSame(t, "first event", stored.FirstEvent, int64(0))

	// The edition of the log counts outside of a transaction too.
	next := talked(alice, "c", after(4), "four")
	_, _, err = s.AcceptTurn(ctx, next, after(60), &db.LogState{FirstTurnID: first.ID, Events: 3})
	if !errors.Is(err, db.ErrConversationChanged) {
		t.Errorf("an earlier edition: %v", err)
	}
	edition := conversation(t, s, alice, "c").Edition
	_, fresh, err = s.AcceptTurn(ctx, next, after(60), &db.LogState{FirstTurnID: first.ID, Events: 3, Edition: edition})
	must(t, err)
	wantSame(t, "fresh", fresh, true)
}
