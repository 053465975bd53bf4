package dbtest

import (
	"context"
	"errors"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// withholding checks that what is withheld of a turn is stored with it, and that the next edition of its conversation
// drops a summary and a title of it.
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
