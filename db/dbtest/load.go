package dbtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Load stores rows of at least 8 owners in 20 apps. Each owner has 80 memories, 80
// events, 79 relations, 20 facts, 20 turns and 20 candidates. A planner that uses
// statistics needs some thousand rows before it prefers an index.
func Load(t *testing.T, s db.Store, owners int) {
	t.Helper()
	for u := range owners {
		owner := memory.Owner{AppID: fmt.Sprint("app", u%20), UserID: fmt.Sprint("user", u)}
		loadConversations(t, s, owner)
		var found []memory.Candidate
		for i := range 20 {
			turn := newTurn(owner, fmt.Sprint(u, "/", i))
			turn.AcceptedAt = after(i)
			accepted(t, s, turn)
			found = append(found, newCandidate(turn.ID))
		}
		var all []memory.Memory
		var events []memory.Event
		var relations []memory.Relation
		for i := range 80 {
			m := newMemory(owner, describe(i))
			m.CreatedAt, m.AccessCount = after(i), i%2
			if i%10 == 9 {
				m.Status, m.Faded = memory.Forgotten, i%20 == 9
			}
			all, events = append(all, m), append(events, newEvent(m.ID, memory.EventCreated, m.CreatedAt))
			if i > 0 {
				relations = append(relations, memory.Relation{
					From:      m.ID,
					To:        all[i-1].ID,
					Kind:      memory.DerivedFrom,
					CreatedAt: m.CreatedAt,
				})
			}
		}
		must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			must(t, tx.Insert(ctx, all, time.Time{}))
			must(t, tx.AddEvents(ctx, events))
			must(t, tx.AddRelations(ctx, relations))
			return tx.AddCandidates(ctx, found)
		}))
		loadFacts(t, s, owner)
		loadProcedures(t, s, owner)
		loadFiles(t, s, owner)
		for i := range 20 {
			d := newSource(owner, fmt.Sprint("id:", i))
			d.CreatedAt = after(i)
			if i%10 == 9 {
				d.ForgottenAt = after(i)
			}
			putSource(t, s, d)
		}
		loadConsolidations(t, s, owner)
		loadRecalls(t, s, owner)
		loadReprocessings(t, s, owner)
		tasks, err := s.ClaimVectors(t.Context(), ids(all[:78]), epoch, after(1))
		must(t, err)
		must(t, s.FinishVectors(t.Context(), tasks, epoch))
	}
}

// Exercise calls every method that requests and workers use, with existing ids, on
// a store that Load has filled.
func Exercise(t *testing.T, s db.Store) {
	t.Helper()
	ctx := t.Context()
	owner := memory.Owner{AppID: "app7", UserID: "user7"}
	list, err := s.ListMemories(ctx, db.MemoryFilter{Owner: owner, Limit: 5, Types: memory.Types, Domains: memory.Domains,
		Statuses: memory.Statuses, ConversationID: "conversation", AgentID: "agent", Since: epoch, Until: after(999),
		Before: &db.Position{At: after(999), ID: memory.NewID()}})
	must(t, err)
	_, err = s.ListMemories(ctx, db.MemoryFilter{Owner: owner, AgentID: "agent", Statuses: memory.Statuses[:1], Limit: 5})
	must(t, err)
	_, err = s.ListMemories(ctx, db.MemoryFilter{Owner: owner, Statuses: []memory.Status{memory.Forgotten}, Limit: 5})
	must(t, err)
	_, err = s.Users(ctx, db.UserFilter{AppID: owner.AppID, Prefix: "us", After: "user", Limit: 5})
	must(t, err)
	_, err = s.FadedWords(ctx, owner, 5)
	must(t, err)
	_, err = s.Faded(ctx, owner)
	must(t, err)
	_, err = s.Recollectable(ctx, owner, ids(list))
	must(t, err)
	_, err = s.UserHoldings(ctx, owner)
	must(t, err)
	exerciseModes(t, s, owner)
	exerciseProposed(t, s, owner, ids(list))
	exerciseEpisodes(t, s, owner, ids(list))
	keepProfile(t, s, filledFor(owner, "", "1"))
	exercisePeople(t, s, owner)
	exerciseFeedback(t, s, owner, list[0].ID)
	exercisePool(t, s, owner, ids(list))
	exerciseEvolution(t, s, owner, ids(list))
	must(t, s.AddTokens(ctx, []memory.TokenDay{{AppID: "app7", Day: 7, Kind: memory.ChatTokens, Tokens: 1}}))
	_, err = s.TokensOf(ctx, "app7", 7)
	must(t, err)
	_, err = s.PurgeTokens(ctx, 7)
	must(t, err)
	must(t, s.KeepRefusedField(ctx, memory.RefusedField{Endpoint: "https://7", Model: "m", Field: "max_tokens"}))
	_, err = s.RefusedFields(ctx, "https://7")
	must(t, err)
	turns, err := s.ListTurns(ctx, db.TurnFilter{
		AppID:  owner.AppID,
		UserID: owner.UserID,
		Status: memory.TurnAccepted,
		Limit:  5,
	})
	must(t, err)
	if len(list) != 5 || len(turns) != 5 {
		t.Fatal("the store is not loaded")
	}
	turn, known := turns[0], ids(list)
	before := &db.Position{At: after(10), ID: memory.NewID()}
	for _, f := range []db.TurnFilter{
		{Status: memory.TurnAccepted},
		{UserID: owner.UserID},
		{Before: before},
		{Status: memory.TurnFailed, Before: before},
	} {
		f.AppID, f.Limit = owner.AppID, 5
		_, err = s.ListTurns(ctx, f)
		must(t, err)
	}
	for _, f := range []db.MemoryFilter{
		{},
		{Statuses: memory.Statuses[:1]},
		{ConversationID: "conversation"},
		{Before: before},
		{Types: memory.Types[:1]},
		{Tags: []string{"work"}},
		{AnyTags: []string{"work", "茶"}, Before: before},
		{AsOf: after(20), Statuses: memory.Statuses[:1], Tags: []string{"work"}},
		{Where: where(t, `{"metadata":{"b":{"gt":0}}}`)},
		{Where: where(t, `{"metadata":{"b":{"in":[1,2]},"a":1.5}}`), Before: before},
		{Where: where(t, `{"metadata":{"b":1}}`), AsOf: after(20)},
		{Where: where(t, `{"metadata":{"b":1}}`), Tags: []string{"work"}},
		{Where: where(t, `{"metadata":{"b":{"gt":0}}}`), AgentID: "agent"},
		{Where: where(t, `{"metadata":{"b":{"gt":0}}}`), ConversationID: "c", Statuses: memory.Statuses[:1]},
	} {
		f.Owner, f.Limit = owner, 5
		_, err = s.ListMemories(ctx, f)
		must(t, err)
		_, err = s.EndOfExamined(ctx, f, 3)
		must(t, err)
	}
	_, err = s.TurnCandidates(ctx, owner.AppID, turn.ID)
	must(t, err)
	must(t, s.RenewTurns(ctx, []string{turn.ID}, after(2000)))
	must(t, s.DeferTurn(ctx, turn.ID, 1, "unavailable", after(2000), nil))
	_, _, err = s.AcceptTurn(ctx, turn, epoch, nil)
	must(t, err)
	_, err = s.ClaimTurns(ctx, after(2000), after(2000), 10)
	must(t, err)
	must(t, s.EndTurns(ctx, []db.EndedTurn{{ID: turns[2].ID}}, epoch))
	must(t, s.FailTurn(ctx, turns[1].ID, 1, "unavailable", epoch, nil))
	_, err = s.ReplayTurn(ctx, owner.AppID, turns[1].ID, epoch)
	must(t, err)
	_, err = s.Turn(ctx, owner.AppID, turn.ClientID)
	must(t, err)
	must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		rows, err := tx.Memories(ctx, known)
		must(t, err)
		_, _, err = tx.SameContent(ctx, "agent", rows[0].Content)
		must(t, err)
		_, err = tx.Recent(ctx, after(500), 1, 10)
		must(t, err)
		rows[0].Revision++
		must(t, tx.Update(ctx, rows[0]))
		must(t, tx.AddEvents(ctx, []memory.Event{newEvent(rows[0].ID, memory.EventUpdated, epoch)}))
		must(t, tx.AddCandidates(ctx, []memory.Candidate{newCandidate(turn.ID)}))
		return tx.FinishTurn(ctx, turn.ID, 1, epoch, memory.Scoring{})
	}))
	exerciseReprocessings(t, s, owner, turn.ID)
	_, err = s.Memory(ctx, owner.AppID, known[0])
	must(t, err)
	_, err = s.History(ctx, owner.AppID, known[0])
	must(t, err)
	_, err = s.Documents(ctx, owner)
	must(t, err)
	_, err = s.Hydrate(ctx, owner, known, known[:2])
	must(t, err)
	_, err = s.Recalled(ctx, owner, known[:2], known[2:])
	must(t, err)
	_, err = s.MatchingIDs(ctx, owner, where(t, `{"metadata":{"b":1}}`))
	must(t, err)
	_, err = s.MatchingIDs(ctx, owner, where(t, `{"metadata":{"b":null}}`))
	must(t, err)
	_, err = s.Embeddings(ctx, owner, "model", known)
	must(t, err)
	must(t, s.EachEmbedding(ctx, owner, "model", 100, func(string, []float32) {}))
	all, err := s.Changes(ctx, owner, 0, after(500), 10)
	must(t, err)
	_, err = s.Changes(ctx, owner, all.Revision, after(500), 10)
	must(t, err)
	must(t, s.SaveIndex(ctx, owner, all.Revision, []byte("index")))
	_, _, err = s.Index(ctx, owner)
	must(t, err)
	_, err = s.Unconfirmed(ctx, owner, after(500), 10)
	must(t, err)
	_, err = s.Revision(ctx, owner)
	must(t, err)
	_, err = s.HandedOut(ctx, owner, after(50), 10)
	must(t, err)
	for _, f := range []db.KeyFilter{
		{}, {Before: before}, {AppID: "app7"}, {AppID: "app7", Before: before, WithoutOperators: true},
	} {
		f.Limit = 5
		_, err = s.ListKeys(ctx, f)
		must(t, err)
	}
	exerciseMaintenance(t, s, owner, known, turn.ID)
	exerciseExchange(t, s, owner, known)
	exerciseExported(t, s, owner)
	exerciseFacts(t, s, owner)
	exerciseInstructions(t, s, owner)
	exerciseSkills(t, s, owner)
	exerciseFiles(t, s, owner)
	exerciseConsolidations(t, s, owner)
	exerciseConversations(t, s, owner)
	exerciseRelated(t, s, owner, list)
	exerciseAnnouncements(t, s, owner)
	exerciseRecalls(t, s, owner)
	exerciseMerge(t, s, owner)
	exerciseErasure(t, s, owner)
	for method, err := range every(ctx, s) {
		if err != nil && !memory.IsKind(err, memory.KindNotFound) {
			t.Errorf("%s: %v", method, err)
		}
	}
}
