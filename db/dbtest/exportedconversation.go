package dbtest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// settledTurn returns a turn of a conversation as an import restores it, with every
// field set.
func settledTurn(owner memory.Owner, conversation string, first int64, status memory.TurnStatus) memory.Turn {
	t := talked(owner, conversation, after(int(first)), "一 <b>", "two")
	t.FirstEvent = first
	t.Status = status
	t.Attempts = 2
	t.ClientID = "client " + t.ID
	t.Messages[1] = memory.Message{
		Role:    "tool",
		Name:    "t",
		Kind:    memory.ToolUse,
		Tags:    []string{"<a>"},
		Context: memory.MessageContext{ActionTaken: true},
		Tokens:  3,
		Raw:     json.RawMessage(`{"role":"tool","name":"t","tool_call_id":"<c>","content":""}`),
	}
	t.Withheld = []memory.Withheld{{Message: 0, Text: "<b>", Statement: memory.NewID(), At: after(90)}}
	t.LeftOut = []memory.Omission{{Message: 1, Reason: memory.OmittedKind, Characters: 3}}
	t.Memory = memory.ModeRead
	t.LastError = "unavailable"
	if status == memory.TurnProcessed {
		t.LastError, t.ProcessedAt = "", after(100)
	}
	return t
}

// newConversation returns a conversation of four events with every field set.
func newConversation(owner memory.Owner, id string) memory.Conversation {
	return memory.Conversation{
		Owner:               owner,
		ID:                  id,
		FirstTurnID:         memory.NewID(),
		Title:               "Über \"x\"",
		Summary:             "说了 <b>",
		SummarisedThrough:   2,
		SummarisedTokens:    9,
		ConsolidatedThrough: 3,
		Turns:               2,
		Events:              4,
		Tokens:              26,
		StartedAt:           after(1),
		LastAt:              after(3),
		EndedAt:             after(5),
		EndReason:           "idle",
		Edition:             7,
	}
}

// consolidated returns a completed consolidation of a conversation.
func consolidated(c memory.Conversation) memory.Consolidation {
	return memory.Consolidation{
		ID:             memory.NewID(),
		Owner:          c.Owner,
		ConversationID: c.ID,
		Type:           memory.FastReplay,
		Trigger:        memory.TriggerEnd,
		State:          memory.ConsolidationDone,
		From:           1,
		Through:        4,
		Counts:         json.RawMessage(`{"memories":1}`),
		Error:          "before",
		Attempts:       1,
		CreatedAt:      after(5),
		StartedAt:      after(6),
		EndedAt:        after(7),
	}
}

func exportConversations(t *testing.T, s db.Store) {
	var want []memory.Conversation
	for _, user := range exportedUsers {
		owner := memory.Owner{AppID: "app", UserID: user}
		var all []memory.Conversation
		for n, id := range []string{"C", "a", "c", "对话"} {
			c := newConversation(owner, id)
			if n == 2 {
				c.Title = ""
				c.Summary = ""
				c.SummarisedThrough = 0
				c.SummarisedTokens = 0
				c.EndReason = ""
				c.EndedAt = time.Time{}
			}
			all = append(all, c)
		}
		must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			for _, c := range all {
				must(t, tx.RestoreConversation(ctx, c, after(50)))
			}
			return nil
		}))
		want = append(want, all...)
	}
	other := memory.Owner{AppID: "other", UserID: "alice"}
	must(t, s.InUser(t.Context(), other, func(ctx context.Context, tx db.UserTx) error {
		return tx.RestoreConversation(ctx, newConversation(other, "a"), epoch)
	}))
	wantPaged(t, s.ExportConversations, want, func(c memory.Conversation) string { return c.UserID })
	early, err := s.Idle(t.Context(), after(50), 10)
	must(t, err)
	idle, err := s.Idle(t.Context(), after(51), 10)
	must(t, err)
	if len(early) != 0 || len(idle) != 3 {
		t.Errorf("%d and %d are idle, want 0 and 3: the open ones, idle since they were restored", len(early), len(idle))
	}
}

func restoreConversations(t *testing.T, s db.Store) {
	c := newConversation(alice, "c")
	c.EndedAt, c.EndReason = time.Time{}, ""
	turns := []memory.Turn{settledTurn(alice, "c", 1, memory.TurnProcessed), settledTurn(alice, "c", 3, memory.TurnFailed)}
	done := consolidated(c)
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	in := func(owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error {
		return s.InUser(t.Context(), owner, f)
	}
	must(t, in(alice, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.RestoreConversation(ctx, c, epoch))
		for _, turn := range turns {
			must(t, tx.RestoreTurn(ctx, turn))
		}
		return tx.PlanConsolidation(ctx, done)
	}))
	wantSame(t, "conversation", conversation(t, s, alice, "c"), c)
	got, err := s.ConversationTurns(t.Context(), alice, "c", 0, 10)
	must(t, err)
	wantSame(t, "turns", got, turns)
	find := func(owner memory.Owner, found bool) {
		must(t, in(owner, func(ctx context.Context, tx db.UserTx) error {
			restored, a, err := tx.RecordedConversation(ctx, "c")
			must(t, err)
			turn, b, err := tx.RecordedTurn(ctx, turns[1].ID)
			must(t, err)
			one, d, err := tx.RecordedConsolidation(ctx, done.ID)
			must(t, err)
			if a != found || b != found || d != found {
				t.Errorf("%v finds %t, %t, %t", owner, a, b, d)
			}
			if found {
				wantSame(t, "recorded", []any{restored, turn, one}, []any{c, turns[1], done})
			}
			return nil
		}))
	}
	find(alice, true)
	find(bob, false)
	find(memory.Owner{AppID: "other", UserID: "alice"}, false)

	// Restored work is not due again, and the next turn continues after the last event.
	claimed, err := s.ClaimTurns(t.Context(), after(10_000), after(10_060), 10)
	must(t, err)
	due, err := s.DueConsolidations(t.Context(), after(10_000), 9, db.Position{}, 10)
	must(t, err)
	if len(claimed) != 0 || len(due) != 0 {
		t.Errorf("%d turns and %d consolidations are due", len(claimed), len(due))
	}
	must(t, in(alice, func(ctx context.Context, tx db.UserTx) error {
		planned, err := tx.Planned(ctx, "c")
		wantSame(t, "planned", planned, map[memory.ConsolidationType]int64{memory.FastReplay: 4})
		return err
	}))
	next := say(t, s, talked(alice, "c", after(9), "next"))
	wantSame(t, "first event", next.FirstEvent, int64(5))

	again, taken := settledTurn(alice, "c", 5, memory.TurnFailed), settledTurn(bob, "c", 5, memory.TurnFailed)
	again.ID = turns[0].ID
	wantKind(t, in(alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.RestoreTurn(ctx, again)
	}), memory.KindConflict)
	theirs := taken
	theirs.ID = turns[0].ID
	wantKind(t, in(bob, func(ctx context.Context, tx db.UserTx) error {
		return tx.RestoreTurn(ctx, theirs)
	}), memory.KindConflict)
	taken.ClientID = turns[0].ClientID
	wantKind(t, in(bob, func(ctx context.Context, tx db.UserTx) error {
		return tx.RestoreTurn(ctx, taken)
	}), memory.KindConflict)
	wantKind(t, in(alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.RestoreConversation(ctx, c, epoch)
	}), memory.KindConflict)
	for first, want := range map[int64]error{2: db.ErrEventsTaken, 4: db.ErrEventsTaken, 6: nil} {
		overlapping := settledTurn(alice, "c", first, memory.TurnFailed)
		if err := in(alice, func(ctx context.Context, tx db.UserTx) error {
			return tx.RestoreTurn(ctx, overlapping)
		}); !errors.Is(err, want) {
			t.Errorf("a turn from event %d: %v, want %v", first, err, want)
		}
	}
}

func continueConversations(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	c := newConversation(alice, "c")
	next := c
	next.Turns, next.Events, next.Tokens, next.LastAt, next.ConsolidatedThrough = 9, 20, 900, after(40), 1
	next.EndedAt, next.EndReason = time.Time{}, ""
	begun := next
	begun.FirstTurnID = memory.NewID()
	continued := func(owner memory.Owner, next memory.Conversation, events int64) error {
		return s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.ContinueConversation(ctx, next, events, after(50))
		})
	}
	for _, owner := range []memory.Owner{alice, bob} {
		of := c
		of.Owner = owner
		must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.RestoreConversation(ctx, of, epoch)
		}))
	}
	for what, err := range map[string]error{
		"other events":       continued(alice, next, c.Events+1),
		"another first turn": continued(alice, begun, c.Events),
	} {
		if !errors.Is(err, db.ErrConversationChanged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, continued(alice, next, c.Events))
	want := next
	want.ConsolidatedThrough = c.ConsolidatedThrough // the later one
	wantSame(t, "continued", conversation(t, s, alice, "c"), want)
	c.Owner = bob
	wantSame(t, "another user's", conversation(t, s, bob, "c"), c)
	idle, err := s.Idle(t.Context(), after(51), 10)
	must(t, err)
	wantSame(t, "idle", idle, []memory.Conversation{want})
}

// exerciseExportedConversations is exerciseExported for conversations.
func exerciseExportedConversations(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	for _, user := range []string{"", owner.UserID} {
		paged(t, owner.AppID, user, 3, s.ExportConversations)
	}
	must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		_, _, err := tx.RecordedConversation(ctx, "restored")
		must(t, err)
		_, _, err = tx.RecordedTurn(ctx, memory.NewID())
		must(t, err)
		_, _, err = tx.RecordedConsolidation(ctx, memory.NewID())
		must(t, err)
		c := newConversation(owner, "restored")
		must(t, tx.RestoreConversation(ctx, c, epoch))
		must(t, tx.ContinueConversation(ctx, c, c.Events, epoch))
		must(t, tx.ReviseConversation(ctx, "restored", db.ConversationRevision{From: 1, Title: "a", Retitled: "b"}))
		must(t, tx.Withhold(ctx, memory.NewID(), nil))
		must(t, tx.LeaveOut(ctx, memory.NewID(), nil))
		return tx.RestoreTurn(ctx, settledTurn(owner, "restored", 1, memory.TurnProcessed))
	}))
}
