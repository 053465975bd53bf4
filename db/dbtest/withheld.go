package dbtest

import (
	"context"
	"errors"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// withholding checks that what is withheld of a turn is stored with it, and that the next edition of its conversation
// drops a summary and a title that cover it.
func withholding(t *testing.T, s db.Store) {
	ctx := t.Context()
	turn := say(t, s, talked(alice, "c", epoch, "one", "two", "three"))
	say(t, s, talked(alice, "other", epoch, "one"))
	c := conversation(t, s, alice, "c")
	next := c
	next.Summary, next.SummarisedThrough, next.SummarisedTokens = "one and two", 2, 20
	must(t, s.Summarise(ctx, c, next))
	c = conversation(t, s, alice, "c")

	turn.Withheld = []memory.Withheld{
		{Message: 1, Text: "tw", Statement: memory.NewID(), At: after(5)},
		{Message: 0, Text: "一 <b>\"", Statement: memory.NewID(), At: after(6)},
	}
	in := func(owner memory.Owner, r db.ConversationRevision, withheld []memory.Withheld) {
		t.Helper()
		must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
			must(t, tx.ReviseConversation(ctx, "c", r))
			must(t, tx.ReviseConversation(ctx, "none", r))
			must(t, tx.Withhold(ctx, memory.NewID(), withheld))
			must(t, tx.Withhold(ctx, "no id", withheld))
			return tx.Withhold(ctx, turn.ID, withheld)
		}))
	}
	wantBoth := func(what string) {
		t.Helper()
		read, err := s.Turn(ctx, "app", turn.ID)
		must(t, err)
		wantSame(t, "turn "+what, read, turn)
		log, err := s.ConversationTurns(ctx, alice, "c", 0, 10)
		must(t, err)
		wantSame(t, "log "+what, log, []memory.Turn{turn})
		wantSame(t, "conversation "+what, conversation(t, s, alice, "c"), c)
	}
	in(alice, db.ConversationRevision{From: 3, Title: c.Title, Retitled: "new"}, turn.Withheld)
	c.Edition, c.Title = 1, "new"
	wantBoth("with withheld parts, after the summary")
	in(alice, db.ConversationRevision{From: 2, Title: "another", Retitled: "x"}, nil)
	turn.Withheld = nil
	stale := c
	c.Edition, c.Summary, c.SummarisedThrough, c.SummarisedTokens = 2, "", 0, 0
	wantBoth("with nothing withheld, within the summary")
	in(memory.Owner{AppID: "app", UserID: "bob"}, db.ConversationRevision{From: 1, Title: "new", Retitled: "x"},
		[]memory.Withheld{{Text: "one", Statement: memory.NewID(), At: epoch}})
	wantBoth("after a change by another user")

	stale.SummarisedThrough = 0 // as it was before the edition
	if err := s.Summarise(ctx, stale, next); !errors.Is(err, db.ErrSummarised) {
		t.Errorf("a summary of an earlier edition: %v", err)
	}
	if edition := conversation(t, s, alice, "other").Edition; edition != 0 {
		t.Errorf("the other conversation has edition %d", edition)
	}
}

// leavingOut checks that what is left out of a turn is stored with it, and with no other turn.
func leavingOut(t *testing.T, s db.Store) {
	ctx := t.Context()
	turn := say(t, s, talked(alice, "c", epoch, "one", "two"))
	other := say(t, s, talked(alice, "c", epoch, "three"))
	leave := func(owner memory.Owner, ids []string, leftOut []memory.Omission) {
		t.Helper()
		must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
			for _, id := range ids {
				must(t, tx.LeaveOut(ctx, id, leftOut))
			}
			return nil
		}))
	}
	want := func(what string) {
		t.Helper()
		log, err := s.ConversationTurns(ctx, alice, "c", 0, 10)
		must(t, err)
		wantSame(t, what, log, []memory.Turn{turn, other})
	}
	turn.LeftOut = []memory.Omission{
		{Message: 0, Reason: memory.OmittedSmallTalk, Characters: 3}, {Message: 1, Reason: memory.OmittedEcho, Characters: 3},
	}
	leave(alice, []string{turn.ID, memory.NewID(), "no id"}, turn.LeftOut)
	want("with parts that are left out")
	leave(memory.Owner{AppID: "app", UserID: "bob"}, []string{turn.ID, other.ID}, turn.LeftOut[:1])
	want("after a change by another user")
	turn.LeftOut = nil
	leave(alice, []string{turn.ID}, nil)
	want("with nothing left out")

	cut := talked(alice, "", epoch, "said", "kept")
	cut.ConversationID = ""
	cut = say(t, s, cut)
	cut.Messages[0].Content = ""
	for _, owner := range []memory.Owner{{AppID: "app", UserID: "bob"}, alice} {
		must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
			must(t, tx.CutTurn(ctx, "no id", cut.Messages))
			must(t, tx.CutTurn(ctx, turn.ID, cut.Messages)) // the log keeps its words
			if owner != alice {
				return tx.CutTurn(ctx, cut.ID, nil)
			}
			return tx.CutTurn(ctx, cut.ID, cut.Messages)
		}))
	}
	read, err := s.Turn(ctx, "app", cut.ID)
	must(t, err)
	wantSame(t, "a turn without its words", read, cut)
	want("after a turn without a conversation was cut")

	unkept := talked(alice, "c", epoch, "four")
	unkept.Withheld = []memory.Withheld{{Text: "fo", Policy: 3, At: after(5)}}
	unkept.Memory, unkept.Status, unkept.ProcessedAt = memory.ModeOff, memory.TurnProcessed, after(5)
	unkept.LeftOut = []memory.Omission{{Message: 0, Reason: memory.OmittedMemoryOff, Characters: 4}}
	unkept = say(t, s, unkept)
	log, err := s.ConversationTurns(ctx, alice, "c", 0, 10)
	must(t, err)
	wantSame(t, "with a turn that memory was off for", log, []memory.Turn{turn, other, unkept})
	if _, err := s.ReplayTurn(ctx, alice.AppID, unkept.ID, after(9)); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("replay of a turn that memory was off for: %v", err)
	}
	due, err := s.ClaimTurns(ctx, after(1000), after(2000), 10)
	must(t, err)
	for _, claimed := range due {
		if claimed.ID == unkept.ID {
			t.Error("a turn that memory was off for is due")
		}
	}
}
