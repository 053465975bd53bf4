package dbtest

import (
	"context"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// messageIDs checks that turns are found by the ids of their messages, as long as the turns are in the log.
func messageIDs(t *testing.T, s db.Store) {
	ctx := t.Context()
	of := func(owner memory.Owner, conversation string, ids ...string) memory.Turn {
		turn := talked(owner, conversation, epoch, ids...)
		for i := range ids {
			turn.Messages[i].ID = ids[i]
		}
		return turn
	}
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	first := say(t, s, of(alice, "c", "m1", `q"u'ote 茶`))
	second := say(t, s, of(alice, "c", "m2", "m3"))
	without := say(t, s, of(alice, "", "m1"))
	wantSame(t, "event of a turn without a conversation", without.FirstEvent, int64(0))
	say(t, s, of(alice, "d", "m1"))
	say(t, s, of(bob, "c", "m1"))
	want := func(what string, want []memory.Turn, ids ...string) {
		t.Helper()
		turns, err := s.TurnsOfMessages(ctx, alice, "c", ids)
		must(t, err)
		wantSame(t, what, turns, want)
	}
	want("by one id", []memory.Turn{first}, `q"u'ote 茶`)
	want("by several ids", []memory.Turn{first, second}, "m3", "m2", "m1")
	want("by an unknown id", nil, "m4")

	var third memory.Turn
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) (err error) {
		if third, _, err = tx.AcceptTurn(ctx, of(alice, "c", "m1", "m5"), after(60), nil); err != nil {
			return err
		}
		return tx.WithdrawTurn(ctx, first.ID, after(5))
	}))
	want("after the withdrawal", []memory.Turn{third}, "m1", "m5")

	imported := settledTurn(alice, "e", 1, memory.TurnProcessed)
	imported.Messages[0].ID = "m6"
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error { return tx.RestoreTurn(ctx, imported) }))
	turns, err := s.TurnsOfMessages(ctx, alice, "e", []string{"m6"})
	must(t, err)
	wantSame(t, "turns of the import", len(turns), 1)

	_, err = s.DeleteConversation(ctx, alice, "c")
	must(t, err)
	want("after the conversation was deleted", nil, "m1", "m2", "m5")
	begun := say(t, s, of(alice, "c", "m1"))
	want("of the next conversation", []memory.Turn{begun}, "m1", "m2", "m5")
}
