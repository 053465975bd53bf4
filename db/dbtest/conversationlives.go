package dbtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// conversationEnds checks that a conversation ends once and that a new turn reopens it.
func conversationEnds(t *testing.T, s db.Store) {
	ctx := t.Context()
	for i, id := range []string{"a", "b", "c"} {
		late := talked(alice, id, after(-1000), "hi") // idle time starts at acceptance
		late.AcceptedAt = after(i)
		say(t, s, late)
	}
	idle := func(before, limit int, want ...string) {
		t.Helper()
		list, err := s.Idle(ctx, after(before), limit)
		must(t, err)
		wantSame(t, fmt.Sprintf("idle before %d", before), conversationIDs(list), append([]string{}, want...))
	}
	idle(0, 10)
	idle(2, 10, "a", "b")
	idle(2, 1, "a")
	read := conversation(t, s, alice, "a")
	c, fresh, err := s.EndConversation(ctx, read, after(50), "idle")
	must(t, err)
	want := conversation(t, s, alice, "a")
	wantSame(t, "ended", c, want)
	wantSame(t, "end", []any{fresh, c.EndedAt, c.EndReason}, []any{true, after(50), "idle"})
	c, fresh, err = s.EndConversation(ctx, read, after(60), "client")
	must(t, err)
	wantSame(t, "ended again", []any{fresh, c}, []any{false, want})
	_, _, err = s.EndConversation(ctx, memory.Conversation{
		Owner:       alice,
		ID:          "none",
		FirstTurnID: read.FirstTurnID,
	}, after(60), "client")
	wantKind(t, err, memory.KindNotFound)
	idle(2, 10, "b")

	list := func(state db.ConversationState) []string {
		found, err := s.ListConversations(ctx, db.ConversationFilter{Owner: alice, State: state, Limit: 10})
		must(t, err)
		return conversationIDs(found)
	}
	wantSame(t, "open ones", list(db.ConversationOpen), []string{"c", "b"})
	wantSame(t, "ended ones", list(db.ConversationEnded), []string{"a"})
	say(t, s, talked(alice, "a", after(70), "hi again"))
	wantSame(t, "open ones", list(db.ConversationOpen), []string{"a", "c", "b"})
	opened := conversation(t, s, alice, "a")
	wantSame(t, "open again", []any{opened.EndedAt, opened.EndReason, opened.Turns}, []any{time.Time{}, "", int64(2)})
	idle(2, 10, "b")

	restarted := opened
	restarted.FirstTurnID = memory.NewID()
	for name, stale := range map[string]memory.Conversation{
		"changed by a turn": read, "started again": restarted,
	} {
		if _, _, err := s.EndConversation(ctx, stale, after(80), "idle"); !errors.Is(err, db.ErrConversationChanged) ||
			!memory.IsKind(err, memory.KindConflict) {
			t.Errorf("end of a conversation %s: %v", name, err)
		}
	}
	wantSame(t, "unchanged", conversation(t, s, alice, "a"), opened)
	_, fresh, err = s.EndConversation(ctx, opened, after(80), "idle")
	must(t, err)
	wantSame(t, "ended", fresh, true)
	if _, _, err := s.EndConversation(ctx, read, after(90), "idle"); !errors.Is(err, db.ErrConversationChanged) {
		t.Errorf("ended with an old revision: %v", err)
	}
}

// summarise checks that a summary of an outdated conversation is refused.
func summarise(t *testing.T, s db.Store) {
	ctx := t.Context()
	say(t, s, talked(alice, "c", epoch, "one", "two", "three"))
	c := conversation(t, s, alice, "c")
	next := c
	next.Summary = "one and two 一二"
	next.SummarisedThrough = 2
	next.SummarisedTokens = 20
	must(t, s.Summarise(ctx, c, next))
	wantSame(t, "summarised", conversation(t, s, alice, "c"), next)
	if err := s.Summarise(ctx, c, next); !errors.Is(err, db.ErrSummarised) || !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("summarised twice: %v", err)
	}
	say(t, s, talked(alice, "c", epoch, "four"))
	wantSame(t, "a turn leaves the summary", conversation(t, s, alice, "c").Summary, next.Summary)

	deleted, err := s.DeleteConversation(ctx, alice, "c")
	must(t, err)
	wantSame(t, "deleted", deleted, db.DeletedConversation{Turns: 2})
	wantKind(t, s.Summarise(ctx, c, next), memory.KindNotFound)
	say(t, s, talked(alice, "c", epoch, "one", "two", "three"))
	if err := s.Summarise(ctx, c, next); !errors.Is(err, db.ErrSummarised) {
		t.Errorf("a summary of a conversation that was started again: %v", err)
	}
	wantSame(t, "summary", conversation(t, s, alice, "c").Summary, "")
}

// deleteConversation checks that exactly the turns and candidates are deleted.
func deleteConversation(t *testing.T, s db.Store) {
	ctx := t.Context()
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	deletedTurn, kept := say(t, s, talked(alice, "c", epoch, "hi")), say(t, s, talked(alice, "d", epoch, "hi"))
	other, loose := say(t, s, talked(bob, "c", epoch, "hi")), newTurn(alice, "")
	accepted(t, s, loose)
	from := newMemory(alice, "derived from the turn")
	from.SourceTurnID, from.ConversationID = deletedTurn.ID, "c"
	insert(t, s, time.Time{}, from)
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddCandidates(ctx, []memory.Candidate{
			newCandidate(deletedTurn.ID), newCandidate(deletedTurn.ID), newCandidate(kept.ID),
		})
	}))
	_, err := s.Conversation(ctx, "app", "", "c")
	if !errors.Is(err, db.ErrSeveralUsers) || !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("a conversation of two users: %v", err)
	}
	for _, wrong := range []memory.Owner{{AppID: "other", UserID: "alice"}, {AppID: "app", UserID: "carol"}} {
		_, err := s.DeleteConversation(ctx, wrong, "c")
		wantKind(t, err, memory.KindNotFound)
		_, err = s.Conversation(ctx, wrong.AppID, wrong.UserID, "c")
		wantKind(t, err, memory.KindNotFound)
		_, _, err = s.EndConversation(ctx, memory.Conversation{
			Owner:       wrong,
			ID:          "c",
			FirstTurnID: deletedTurn.ID,
			Events:      1,
		}, epoch, "x")
		wantKind(t, err, memory.KindNotFound)
		_, err = s.SetTitle(ctx, wrong, "c", "x")
		wantKind(t, err, memory.KindNotFound)
	}
	deleted, err := s.DeleteConversation(ctx, alice, "c")
	must(t, err)
	wantSame(t, "deleted", deleted, db.DeletedConversation{Turns: 1, Candidates: 2})
	_, err = s.DeleteConversation(ctx, alice, "c")
	wantKind(t, err, memory.KindNotFound)
	_, err = s.Turn(ctx, "app", deletedTurn.ID)
	wantKind(t, err, memory.KindNotFound)
	for _, id := range []string{kept.ID, other.ID, loose.ID} {
		_, err = s.Turn(ctx, "app", id)
		must(t, err)
	}
	still, err := s.TurnCandidates(ctx, "app", kept.ID)
	must(t, err)
	wantSame(t, "candidates of another conversation", len(still), 1)
	_, err = s.Memory(ctx, "app", from.ID)
	must(t, err)
	found, err := s.Conversation(ctx, "app", "", "c")
	must(t, err)
	wantSame(t, "the remaining conversation", found.Owner, bob)

	first := say(t, s, talked(alice, "c", after(9), "hi"))
	c := conversation(t, s, alice, "c")
	wantSame(t, "started again", []any{c.FirstTurnID, c.Events, c.StartedAt}, []any{first.ID, int64(1), after(9)})
}

// conversationDeletedAtOnce checks that a deletion during concurrent turns leaves
// no turn without its conversation and no conversation without its turns.
func conversationDeletedAtOnce(t *testing.T, s db.Store) {
	var group errgroup.Group
	for range 4 {
		group.Go(func() error {
			for range 12 {
				if _, _, err := s.AcceptTurn(t.Context(), talked(alice, "c", epoch, "one", "two"), after(60), nil); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		for range 12 {
			if _, err := s.DeleteConversation(t.Context(), alice, "c"); err != nil && !memory.IsKind(err, memory.KindNotFound) {
				return err
			}
		}
		return nil
	})
	must(t, group.Wait())
	say(t, s, talked(alice, "c", epoch, "one", "two"))
	c := conversation(t, s, alice, "c")
	turns, err := s.ConversationTurns(t.Context(), alice, "c", 0, 100)
	must(t, err)
	all, err := s.ListTurns(t.Context(), db.TurnFilter{AppID: "app", UserID: "alice", Limit: 100})
	must(t, err)
	wantSame(t, "turns", []int64{int64(len(turns)), int64(len(all))}, []int64{c.Turns, c.Turns})
	for i, turn := range turns {
		wantSame(t, "first event", turn.FirstEvent, int64(2*i+1))
	}
	wantSame(t, "first turn", c.FirstTurnID, turns[0].ID)
}
