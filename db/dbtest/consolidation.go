package dbtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// newConsolidation returns a pending consolidation of events of a conversation.
func newConsolidation(owner memory.Owner, conversationID string, kind memory.ConsolidationType,
	from, through int64) memory.Consolidation {
	return memory.Consolidation{
		ID: memory.NewID(), Owner: owner, ConversationID: conversationID, Type: kind, Trigger: memory.TriggerEnd,
		State: memory.ConsolidationPending, From: from, Through: through, CreatedAt: epoch,
	}
}

// planAll stores consolidations of one owner.
func planAll(t *testing.T, s db.Store, list ...memory.Consolidation) {
	t.Helper()
	inTx(t, s, list[0].Owner, func(ctx context.Context, tx db.UserTx) error {
		for _, c := range list {
			if err := tx.PlanConsolidation(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

func inTx(t *testing.T, s db.Store, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) {
	t.Helper()
	must(t, s.InUser(t.Context(), owner, f))
}

func consolidationsOf(t *testing.T, s db.Store, owner memory.Owner, conversationID string) []memory.Consolidation {
	t.Helper()
	found, err := s.ListConsolidations(t.Context(), db.ConsolidationFilter{
		Owner:          owner,
		ConversationID: conversationID,
		Limit:          100,
	})
	must(t, err)
	return found
}

// attempt claims a consolidation.
func attempt(s db.Store, owner memory.Owner, id string, now, until time.Time) (c memory.Consolidation, err error) {
	ctx := context.Background()
	err = s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		c, err = tx.ClaimConsolidation(ctx, id, now, until)
		return err
	})
	return c, err
}

func change(s db.Store, c memory.Consolidation) error {
	return s.InUser(context.Background(), c.Owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.ChangeConsolidation(ctx, c)
	})
}

// consolidationLife checks that a consolidation is planned, claimed and ended once.
func consolidationLife(t *testing.T, s db.Store) {
	ctx := t.Context()
	say(t, s, talked(alice, "c", epoch, "one", "two", "three"))
	events := newConsolidation(alice, "c", memory.ConsolidateEvents, 1, 3)
	replay := newConsolidation(alice, "c", memory.FastReplay, 1, 3)
	replay.CreatedAt, replay.Trigger = after(1), memory.TriggerRequest
	planAll(t, s, events, replay)
	wantSame(t, "planned", consolidationsOf(t, s, alice, "c"), []memory.Consolidation{replay, events})
	inTx(t, s, alice, func(ctx context.Context, tx db.UserTx) error {
		planned, err := tx.Planned(ctx, "c")
		wantSame(t, "reach", planned, map[memory.ConsolidationType]int64{memory.ConsolidateEvents: 3, memory.FastReplay: 3})
		return err
	})
	again := newConsolidation(alice, "c", memory.FastReplay, 2, 3)
	err := s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error { return tx.PlanConsolidation(ctx, again) })
	wantKind(t, err, memory.KindConflict)
	nowhere := newConsolidation(alice, "none", memory.FastReplay, 1, 3)
	err = s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error { return tx.PlanConsolidation(ctx, nowhere) })
	wantKind(t, err, memory.KindNotFound)

	claimed, err := attempt(s, alice, events.ID, after(10), after(20))
	must(t, err)
	events.StartedAt = after(10)
	wantSame(t, "claimed", claimed, events)
	for _, id := range []string{events.ID, replay.ID} { // one per conversation at a time
		if _, err := attempt(s, alice, id, after(19), after(30)); !errors.Is(err, db.ErrConsolidating) {
			t.Errorf("claimed while another one is claimed: %v", err)
		}
	}
	if ok, err := s.RenewConsolidation(ctx, claimed, after(24)); err != nil || !ok {
		t.Errorf("renew: %v, %v", ok, err)
	}
	if _, err := attempt(s, alice, events.ID, after(23), after(30)); !errors.Is(err, db.ErrConsolidating) {
		t.Errorf("claimed while the renewed claim lasts: %v", err)
	}
	_, err = attempt(s, alice, events.ID, after(24), after(30))
	must(t, err)
	if ok, err := s.RenewConsolidation(ctx, claimed, after(40)); err != nil || ok {
		t.Errorf("renewed by an attempt whose claim another one took over: %v, %v", ok, err)
	}
	events.StartedAt = after(24)
	events.State = memory.ConsolidationFailed
	events.Error = "nonsense\x00"
	events.Attempts = 1
	events.EndedAt = after(21)
	must(t, change(s, events))
	events.Error = "nonsense\uFFFD"
	wantSame(t, "failed", consolidationsOf(t, s, alice, "c"), []memory.Consolidation{replay, events})
	_, err = attempt(s, alice, events.ID, after(22), after(30)) // the failed attempt released the claim
	must(t, err)
	events.StartedAt = after(22)
	events.State = memory.ConsolidationDone
	events.Error = ""
	events.EndedAt = after(23)
	events.Counts = json.RawMessage(`{"kept":1}`)
	inTx(t, s, alice, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.ChangeConsolidation(ctx, events))
		return tx.ConsolidateThrough(ctx, "c", 3)
	})
	wantSame(t, "done", consolidationsOf(t, s, alice, "c"), []memory.Consolidation{replay, events})
	wantSame(t, "through", conversation(t, s, alice, "c").ConsolidatedThrough, int64(3))
	inTx(t, s, alice, func(ctx context.Context, tx db.UserTx) error { return tx.ConsolidateThrough(ctx, "c", 2) })
	wantSame(t, "does not decrease", conversation(t, s, alice, "c").ConsolidatedThrough, int64(3))
	inTx(t, s, alice, func(ctx context.Context, tx db.UserTx) error { return tx.ConsolidateThrough(ctx, "c", 9) })
	wantSame(t, "limited to the last event", conversation(t, s, alice, "c").ConsolidatedThrough, int64(3))
	err = s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.PlanConsolidation(ctx, newConsolidation(alice, "c", memory.DeepReflection, 1, 4))
	})
	wantKind(t, err, memory.KindNotFound)
	if err := change(s, events); !errors.Is(err, db.ErrConsolidated) {
		t.Errorf("ended twice: %v", err)
	}
	if _, err := attempt(s, alice, events.ID, after(24), after(30)); !errors.Is(err, db.ErrConsolidated) {
		t.Errorf("claimed after its end: %v", err)
	}

	// Consolidations of other users and unknown ids are not found.
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	for _, wrong := range []memory.Consolidation{
		{ID: replay.ID, Owner: bob},
		{ID: memory.NewID(), Owner: alice},
		{ID: "no id", Owner: alice},
	} {
		_, err := attempt(s, wrong.Owner, wrong.ID, after(40), after(50))
		wantKind(t, err, memory.KindNotFound)
		wrong.State = memory.ConsolidationDone
		wantKind(t, change(s, wrong), memory.KindNotFound)
	}
	err = s.InUser(ctx, bob, func(ctx context.Context, tx db.UserTx) error { return tx.ConsolidateThrough(ctx, "c", 1) })
	wantKind(t, err, memory.KindNotFound)
	err = s.InUser(ctx, bob, func(ctx context.Context, tx db.UserTx) error {
		return tx.PlanConsolidation(ctx, newConsolidation(alice, "c", memory.DeepReflection, 1, 3))
	})
	wantKind(t, err, memory.KindNotFound)
	wantSame(t, "of another user", consolidationsOf(t, s, bob, "c"), []memory.Consolidation{})

	// Deleting a conversation deletes its consolidations.
	_, err = s.DeleteConversation(ctx, alice, "c")
	must(t, err)
	wantSame(t, "left", consolidationsOf(t, s, alice, "c"), []memory.Consolidation{})
	wantKind(t, change(s, replay), memory.KindNotFound)
}

// dueConsolidations checks the due consolidations and the unconsolidated conversations.
func dueConsolidations(t *testing.T, s db.Store) {
	ctx := t.Context()
	owners := []memory.Owner{{AppID: "app", UserID: "Z"}, {AppID: "app", UserID: "é"}, alice, {AppID: "zoo", UserID: "a"}}
	var want []string
	for i, owner := range owners {
		say(t, s, talked(owner, "c", epoch, "one", "two"))
		c := newConsolidation(owner, "c", memory.FastReplay, 1, 2)
		c.CreatedAt = after(i)
		planAll(t, s, c)
		want = append(want, c.ID)
		failed := newConsolidation(owner, "c", memory.DeepReflection, 1, 2)
		failed.State = memory.ConsolidationFailed
		failed.Attempts = i
		failed.CreatedAt = after(i)
		failed.EndedAt = after(i)
		planAll(t, s, failed)
		if i < 2 {
			want = append(want, failed.ID)
		}
		ended := newConsolidation(owner, "c", memory.ConsolidateEvents, 1, 2)
		ended.State, ended.EndedAt = memory.ConsolidationSkipped, epoch
		planAll(t, s, ended)
	}
	list := func(now time.Time, limit int) (ids []string) {
		for position := (db.Position{}); ; {
			page, err := s.DueConsolidations(ctx, now, 2, position, limit)
			must(t, err)
			for _, c := range page {
				ids = append(ids, c.ID)
				position = db.Position{At: c.CreatedAt, ID: c.ID}
			}
			if len(page) < limit {
				return ids
			}
		}
	}
	for _, limit := range []int{1, 3, 100} {
		wantSame(t, "due", list(after(5), limit), want)
	}
	_, err := attempt(s, owners[0], want[0], after(5), after(9))
	must(t, err)
	wantSame(t, "without the claimed one", list(after(5), 2), want[1:])
	wantSame(t, "after the claim has ended", list(after(9), 2), want)

	inTx(t, s, alice, func(ctx context.Context, tx db.UserTx) error { return tx.ConsolidateThrough(ctx, "c", 2) })
	for _, limit := range []int{1, 100} {
		var open []string
		for last := (memory.Conversation{}); ; {
			page, err := s.Unconsolidated(ctx, last, limit)
			must(t, err)
			for _, c := range page {
				open, last = append(open, c.AppID+"/"+c.UserID+"/"+c.ID), c
			}
			if len(page) < limit {
				break
			}
		}
		wantSame(t, "unconsolidated", open, []string{"app/Z/c", "app/é/c", "zoo/a/c"})
	}
}

// listConsolidations pages through consolidations, newest first.
func listConsolidations(t *testing.T, s db.Store) {
	say(t, s, talked(alice, "c", epoch, "1", "2", "3", "4", "5"))
	var want []string
	for i := range 5 {
		c := newConsolidation(alice, "c", memory.FastReplay, 1, int64(i+1))
		c.CreatedAt = after(i / 2)
		planAll(t, s, c)
		want = append([]string{c.ID}, want...)
	}
	for _, limit := range []int{1, 2, 100} {
		var got []string
		for filter := (db.ConsolidationFilter{Owner: alice, ConversationID: "c", Limit: limit}); ; {
			page, err := s.ListConsolidations(t.Context(), filter)
			must(t, err)
			for _, c := range page {
				got = append(got, c.ID)
				filter.Before = &db.Position{At: c.CreatedAt, ID: c.ID}
			}
			if len(page) < limit {
				break
			}
		}
		wantSame(t, fmt.Sprint("pages of ", limit), got, want)
	}
}

// everyConsolidation calls each method of db.Consolidations and returns their errors.
func everyConsolidation(ctx context.Context, s db.Store) map[string]error {
	errs := map[string]error{}
	_, errs["ListConsolidations"] = s.ListConsolidations(ctx, db.ConsolidationFilter{
		Owner:          alice,
		ConversationID: "c",
		Limit:          1,
	})
	_, errs["DueConsolidations"] = s.DueConsolidations(ctx, epoch, 3, db.Position{}, 1)
	_, errs["RenewConsolidation"] = s.RenewConsolidation(ctx, memory.Consolidation{ID: memory.NewID()}, epoch)
	_, errs["Unconsolidated"] = s.Unconsolidated(ctx, memory.Conversation{}, 1)
	return errs
}

// loadConsolidations is Load for consolidations: 4 conversations with 10 each.
func loadConsolidations(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	for i := range 4 {
		id := fmt.Sprint("consolidated ", i)
		say(t, s, talked(owner, id, epoch, "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"))
		var list []memory.Consolidation
		for n := range 10 {
			c := newConsolidation(owner, id, memory.FastReplay, 1, int64(n+1))
			c.CreatedAt = after(n)
			if n > 0 {
				c.State, c.EndedAt = memory.ConsolidationDone, after(n)
			}
			list = append(list, c)
		}
		planAll(t, s, list...)
		inTx(t, s, owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.ConsolidateThrough(ctx, id, int64(9+i%2))
		})
	}
}

// exerciseConsolidations is Exercise for db.Consolidations.
func exerciseConsolidations(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	ctx, before := t.Context(), &db.Position{At: after(99), ID: memory.NewID()}
	found, err := s.ListConsolidations(ctx, db.ConsolidationFilter{
		Owner:          owner,
		ConversationID: "consolidated 1",
		Before:         before,
		Limit:          20,
	})
	must(t, err)
	_, err = s.ListConsolidations(ctx, db.ConsolidationFilter{Owner: owner, ConversationID: "consolidated 1", Limit: 20})
	must(t, err)
	_, err = s.DueConsolidations(ctx, after(99), 3, db.Position{}, 5)
	must(t, err)
	_, err = s.DueConsolidations(ctx, after(99), 3, db.Position{At: epoch, ID: found[0].ID}, 5)
	must(t, err)
	_, err = s.Unconsolidated(ctx, memory.Conversation{Owner: owner, ID: "a"}, 5)
	must(t, err)
	inTx(t, s, owner, func(ctx context.Context, tx db.UserTx) error {
		_, err := tx.Planned(ctx, "consolidated 1")
		must(t, err)
		return nil
	})
	_, err = s.RenewConsolidation(ctx, found[0], after(60))
	must(t, err)
	inTx(t, s, owner, func(ctx context.Context, tx db.UserTx) error {
		c := newConsolidation(owner, "consolidated 1", memory.DeepReflection, 1, 2)
		must(t, tx.PlanConsolidation(ctx, c))
		_, err := tx.ClaimConsolidation(ctx, c.ID, after(50), after(60))
		must(t, err)
		must(t, tx.ConsolidateThrough(ctx, "consolidated 1", 10))
		c.State = memory.ConsolidationDone
		return tx.ChangeConsolidation(ctx, c)
	})
}
