package dbtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// isolation calls every method with ids of another user or app.
func isolation(t *testing.T, s db.Store) {
	ctx := t.Context()
	mine := newMemory(alice, "alice's secret")
	insert(t, s, time.Time{}, mine)
	must(t, s.Touch(ctx, []db.Touch{{Owner: mine.Owner, ID: mine.ID, Count: 1, At: after(5)}}))
	turn := newTurn(alice, "client")
	accepted(t, s, turn)
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddEvents(ctx, []memory.Event{newEvent(mine.ID, memory.EventCreated, epoch)})
	}))
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.SetState(ctx, db.UserState{ReflectedAt: epoch})
	}))
	proposal := proposed(t, s, alice, 1)[0]
	before, err := s.Memory(ctx, "app", mine.ID)
	must(t, err)

	for _, other := range []memory.Owner{
		{AppID: "app", UserID: "bob"},
		{AppID: "other", UserID: "alice"},
		{AppID: "alice", UserID: "app"},
		{AppID: "app", UserID: "alice "},
	} {
		if other.AppID != "app" {
			_, err := s.Memory(ctx, other.AppID, mine.ID)
			wantKind(t, err, memory.KindNotFound)
			_, err = s.History(ctx, other.AppID, mine.ID)
			wantKind(t, err, memory.KindNotFound)
		}
		list, err := s.ListMemories(ctx, db.MemoryFilter{Owner: other, Limit: 10})
		must(t, err)
		wantSame(t, "list", ids(list), []string{})
		condensed, err := s.CondensedFacts(ctx, other, 10)
		must(t, err)
		wantSame(t, "condensed facts", ids(condensed), []string{})
		facts, err := s.Facts(ctx, other, after(-1), 10)
		must(t, err)
		wantSame(t, "facts", ids(facts), []string{})
		stale, err := s.Stale(ctx, other, db.StaleFilter{Before: after(99), Accesses: 99, Limit: 10})
		must(t, err)
		wantSame(t, "stale", ids(stale), []string{})
		state, err := s.State(ctx, other)
		must(t, err)
		wantSame(t, "state", state, db.UserState{})
		proposals, err := s.ListCandidates(ctx, db.CandidateFilter{AppID: other.AppID, UserID: other.UserID, Limit: 10})
		must(t, err)
		wantSame(t, "candidates", proposals, []db.Proposal{})
		documents, err := s.Documents(ctx, other)
		must(t, err)
		wantSame(t, "documents", documents, []db.Document{})
		for _, known := range []int64{0, 1} {
			read, err := s.Changes(ctx, other, known, epoch, 10)
			must(t, err)
			wantSame(t, "documents and unconfirmed", len(read.Documents)+len(read.Unconfirmed), 0)
		}
		must(t, s.SaveIndex(ctx, mine.Owner, 9, []byte("mine")))
		_, index, err := s.Index(ctx, other)
		must(t, err)
		wantSame(t, "index", len(index), 0)
		rows, err := s.Hydrate(ctx, other, []string{mine.ID}, []string{mine.ID})
		must(t, err)
		wantSame(t, "hydrate", ids(rows), []string{})
		recalled, err := s.Recalled(ctx, other, []string{mine.ID}, []string{mine.ID})
		must(t, err)
		wantSame(t, "recalled", recalled, db.Recalled{})
		vectors, err := s.Embeddings(ctx, other, "model", []string{mine.ID})
		must(t, err)
		wantSame(t, "embeddings", vectors, map[string][]float32{})
		must(t, s.EachEmbedding(ctx, other, "model", 10, func(id string, _ []float32) {
			t.Errorf("got the embedding of %s", id)
		}))
		rows, err = s.Unconfirmed(ctx, other, epoch, 10)
		must(t, err)
		wantSame(t, "unconfirmed", ids(rows), []string{})
		revision, err := s.Revision(ctx, other)
		must(t, err)
		wantSame(t, "the revision", revision, int64(1))
		rows, err = s.HandedOut(ctx, other, epoch, 10)
		must(t, err)
		wantSame(t, "handed out", ids(rows), []string{})

		try := func(f func(ctx context.Context, tx db.UserTx) error) error { return s.InUser(ctx, other, f) }
		must(t, try(func(ctx context.Context, tx db.UserTx) error {
			rows, err := tx.Memories(ctx, []string{mine.ID})
			must(t, err)
			wantSame(t, "memories", ids(rows), []string{})
			if state, err := tx.State(ctx); err != nil || state != (db.UserState{}) {
				t.Errorf("another user's state: %v, %v", state, err)
			}
			purged, err := tx.Purge(ctx, []string{mine.ID})
			wantSame(t, "purged", purged, []string{})
			must(t, err)
			if standIns, err := tx.StandIns(ctx, []string{mine.ID}); err != nil || len(standIns) > 0 {
				t.Errorf("what stands for another user's memories: %v, %v", standIns, err)
			}
			if _, ok, _ := tx.SameContent(ctx, mine.AgentID, mine.Content); ok {
				t.Error("the same content of another user was found")
			}
			if rows, err := tx.Recent(ctx, epoch, 0, 10); err != nil || len(rows) > 0 {
				t.Errorf("another user's unconfirmed memories: %v, %v", ids(rows), err)
			}
			return err
		}))
		stolen := mine
		stolen.Content = "stolen"
		wantKind(t, try(func(ctx context.Context, tx db.UserTx) error { return tx.Update(ctx, stolen) }), memory.KindNotFound)
		stolen.Owner = other
		wantKind(t, try(func(ctx context.Context, tx db.UserTx) error { return tx.Update(ctx, stolen) }), memory.KindNotFound)
		wantKind(t, try(func(ctx context.Context, tx db.UserTx) error {
			return tx.AddEvents(ctx, []memory.Event{newEvent(mine.ID, memory.EventForgotten, epoch)})
		}), memory.KindNotFound)
		wantKind(t, try(func(ctx context.Context, tx db.UserTx) error {
			return tx.AddCandidates(ctx, []memory.Candidate{newCandidate(turn.ID)})
		}), memory.KindNotFound)
		wantKind(t, try(func(ctx context.Context, tx db.UserTx) error {
			return tx.SettleCandidate(ctx, proposal.Candidate)
		}), memory.KindNotFound)
		wantKind(t, try(func(ctx context.Context, tx db.UserTx) error {
			return tx.FinishTurn(ctx, turn.ID, 1, epoch, memory.Scoring{})
		}), memory.KindNotFound)
	}
	wantSame(t, "alice's candidate", listed(t, s, proposal.ID), []db.Proposal{proposal})
	state, err := s.State(ctx, alice)
	must(t, err)
	wantSame(t, "alice's state", state, db.UserState{ReflectedAt: epoch})
	now, err := s.Memory(ctx, "app", mine.ID)
	must(t, err)
	wantSame(t, "alice's memory", now, before)
}

// hostileIDs uses ids that would break out of a statement without bound parameters.
func hostileIDs(t *testing.T, s db.Store) {
	hostile := []string{
		"alice", "ALICE", "alice ", " alice", "álice", "a\u0301lice", "%", "_", "al%", `alice\`, `"alice"`, "'alice'",
		"' OR '1'='1",
		"alice'; DROP TABLE agent_memories; --", "$1", "?", "?1", ":user", "@user", "{alice}", "[]", "null", "\u202ealice",
		"爱丽丝", "🍵",
		strings.Repeat("é", 128), strings.Repeat("é", 127) + "ex", "%s%n", "`alice`", "*", "..", "/", "a\u200bb",
	}
	want := map[memory.Owner]string{}
	for i, user := range hostile {
		for _, app := range []string{"app", hostile[(i+7)%len(hostile)]} {
			m := newMemory(memory.Owner{AppID: app, UserID: user}, describe(i))
			m.AgentID = user
			m.ConversationID = app
			m.Tags = []string{user, app}
			insert(t, s, time.Time{}, m)
			want[m.Owner] = m.ID
			turn := newTurn(m.Owner, user+app)
			if len(turn.ClientID) > memory.MaxIDBytes {
				turn.ClientID = turn.ClientID[:memory.MaxIDBytes]
			}
			turn.ClientID = strings.ToValidUTF8(turn.ClientID, "")
			accepted(t, s, turn)
			found, err := s.Turn(t.Context(), app, turn.ClientID)
			must(t, err)
			wantSame(t, "turn", found, turn)
			if _, fresh, err := s.AcceptTurn(t.Context(), turn, epoch, nil); fresh || err != nil {
				t.Errorf("client id %q again: fresh %v, %v", turn.ClientID, fresh, err)
			}
		}
	}
	for owner, id := range want {
		list, err := s.ListMemories(t.Context(), db.MemoryFilter{
			Owner:          owner,
			AgentID:        owner.UserID,
			ConversationID: owner.AppID,
			Limit:          10,
		})
		must(t, err)
		wantSame(t, "list of "+owner.UserID, ids(list), []string{id})
		wantSame(t, "tags", list[0].Tags, []string{owner.UserID, owner.AppID})
		documents, err := s.Documents(t.Context(), owner)
		must(t, err)
		if len(documents) != 1 || documents[0].ID != id || documents[0].AgentID != owner.UserID {
			t.Errorf("documents of %q: %v", owner, documents)
		}
	}
	for _, id := range hostile {
		_, err := s.Memory(t.Context(), "app", id)
		wantKind(t, err, memory.KindNotFound)
		_, err = s.History(t.Context(), "app", id)
		wantKind(t, err, memory.KindNotFound)
		_, err = s.KeyByHash(t.Context(), id)
		wantKind(t, err, memory.KindNotFound)
		wantKind(t, s.RevokeKey(t.Context(), id, "", epoch), memory.KindNotFound)
		_, err = s.Relations(t.Context(), "app", id)
		wantKind(t, err, memory.KindNotFound)
		wantSame(t, "proposals", listed(t, s, id), []db.Proposal{})
		rows, err := s.Hydrate(t.Context(), alice, []string{id}, []string{id})
		must(t, err)
		wantSame(t, "hydrate", ids(rows), []string{})
		must(t, s.Touch(t.Context(), []db.Touch{{Owner: alice, ID: id, Count: 1, At: epoch}}))
		tasks, err := s.ClaimVectors(t.Context(), []string{id}, epoch, after(1))
		must(t, err)
		wantSame(t, "claimed", len(tasks), 0)
	}
}
