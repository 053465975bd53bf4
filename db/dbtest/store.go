package dbtest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func stats(t *testing.T, s db.Store) {
	empty, err := s.Stats(t.Context(), "app")
	must(t, err)
	wantSame(t, "stats of an empty app", empty, db.Stats{})
	all := db.Usage{Users: 1, Memories: 1, Bytes: 1, Versions: 1, Webhooks: 1}
	unused, err := s.Usage(t.Context(), "app", all)
	must(t, err)
	wantSame(t, "usage of an empty app", unused, db.Usage{})

	bob, stranger := memory.Owner{AppID: "app", UserID: "bob"}, memory.Owner{AppID: "other", UserID: "eve"}
	a := newMemory(alice, "a")
	b := newMemory(alice, "Bücher")
	c := newMemory(bob, "c")
	d := newMemory(stranger, "d")
	b.Domain, b.Type = memory.Tasks, "task"
	c.Status = memory.Forgotten
	insert(t, s, time.Time{}, a, b)
	insert(t, s, time.Time{}, c)
	insert(t, s, time.Time{}, d)
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: a}}, epoch))
	turn := newTurn(alice, "")
	failed := newTurn(bob, "")
	foreign := newTurn(stranger, "")
	accepted(t, s, turn, failed, foreign)
	refused := newCandidate("")
	refused.Verdict = memory.InvalidAnswer
	must(t, s.FailTurn(t.Context(), failed.ID, 1, "bad", epoch, &refused))
	for i, app := range []string{"app", "app", "other"} {
		must(t, s.CreateWebhook(t.Context(), newWebhook(app, i), 1000))
		appInstructions := memory.Scope{AppID: app, Kind: memory.AppScope}
		publish(t, s, appInstructions, "tone", describe(i))
	}
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddEvents(ctx, []memory.Event{newEvent(a.ID, memory.EventUpdated, after(1))})
	}))
	used, err := s.Usage(t.Context(), "app", all)
	must(t, err)
	wantSame(t, "usage", used, db.Usage{
		Users: 1, Memories: 2, Bytes: len("a" + "Bücher" + "c"), Versions: 1 + 2, Webhooks: 2,
	})
	used, err = s.Usage(t.Context(), "app", db.Usage{Memories: 9})
	must(t, err)
	wantSame(t, "usage, as far as it is bounded", used, db.Usage{Memories: 2})
	got, err := s.Stats(t.Context(), "app")
	must(t, err)
	wantSame(t, "stats", got, db.Stats{
		Users:      2,
		Memories:   map[memory.Status]int{memory.Active: 2, memory.Forgotten: 1},
		Domains:    map[memory.Domain]int{memory.Profession: 1, memory.Tasks: 1},
		Types:      map[memory.Type]int{memory.TypeFact: 1, "task": 1},
		Turns:      map[memory.TurnStatus]int{memory.TurnAccepted: 1, memory.TurnFailed: 1},
		Candidates: map[memory.Verdict]int{memory.InvalidAnswer: 1},
		Vectors:    map[memory.VectorState]int{memory.VectorSynced: 1, memory.VectorPending: 2},
	})
	shelfLives(t, s)
}

func migrateAgain(t *testing.T, s db.Store) {
	insert(t, s, time.Time{}, newMemory(alice, "stays"))
	var group errgroup.Group
	for range 3 {
		group.Go(func() error { return s.Migrate(t.Context()) })
	}
	must(t, group.Wait())
	must(t, s.Ping(t.Context()))
	found, err := s.ListMemories(t.Context(), db.MemoryFilter{Owner: alice, Limit: 10})
	must(t, err)
	wantSame(t, "memories", len(found), 1)
}

// every calls each method that accesses the database and returns their errors.
func every(ctx context.Context, s db.Store) map[string]error {
	id := memory.NewID()
	turn := newTurn(alice, "")
	errs := map[string]error{}
	_, _, errs["AcceptTurn"] = s.AcceptTurn(ctx, turn, epoch, nil)
	_, errs["Turn"] = s.Turn(ctx, "app", id)
	_, errs["TurnCandidates"] = s.TurnCandidates(ctx, "app", id)
	_, errs["ListTurns"] = s.ListTurns(ctx, db.TurnFilter{AppID: "app", Limit: 1})
	_, errs["ClaimTurns"] = s.ClaimTurns(ctx, epoch, epoch, 1)
	_, errs["LongestDue"] = s.LongestDue(ctx)
	errs["RenewTurns"] = s.RenewTurns(ctx, []string{id}, epoch)
	errs["DeferTurn"] = s.DeferTurn(ctx, id, 1, "", epoch, nil)
	errs["EndTurns"] = s.EndTurns(ctx, []db.EndedTurn{{ID: id}}, epoch)
	errs["FailTurn"] = s.FailTurn(ctx, id, 1, "", epoch, nil)
	_, errs["ReplayTurn"] = s.ReplayTurn(ctx, "app", id, epoch)
	_, errs["TurnStatus"] = s.TurnStatus(ctx, "app", id)
	errs["InUser"] = s.InUser(ctx, alice, func(context.Context, db.UserTx) error { return nil })
	_, errs["Memory"] = s.Memory(ctx, "app", id)
	_, errs["ListMemories"] = s.ListMemories(ctx, db.MemoryFilter{Owner: alice, Limit: 1})
	_, errs["Events"] = s.Events(ctx, alice, []string{id})
	_, errs["ConversationNeighbours"] = s.ConversationNeighbours(ctx, alice, "a", "c", db.Position{ID: id}, 1)
	_, errs["CountActive"] = s.CountActive(ctx, alice)
	errs["OwnerAges"] = s.OwnerAges(ctx, alice, func(string, db.Age) error { return nil })
	errs["OldAges"] = s.OldAges(ctx, alice, db.Old{}, func(string, db.Age) error { return nil })
	_, errs["History"] = s.History(ctx, "app", id)
	_, errs["Documents"] = s.Documents(ctx, alice)
	_, errs["Hydrate"] = s.Hydrate(ctx, alice, []string{id}, nil)
	_, errs["Recalled"] = s.Recalled(ctx, alice, []string{id}, []string{id})
	_, errs["MatchingIDs"] = s.MatchingIDs(ctx, alice, nil)
	_, errs["Embeddings"] = s.Embeddings(ctx, alice, "model", []string{id})
	errs["EachEmbedding"] = s.EachEmbedding(ctx, alice, "model", 1, func(string, []float32) {})
	_, errs["Changes"] = s.Changes(ctx, alice, 1, epoch, 1)
	_, _, errs["Index"] = s.Index(ctx, alice)
	errs["SaveIndex"] = s.SaveIndex(ctx, alice, 1, []byte("index"))
	_, errs["Revision"] = s.Revision(ctx, alice)
	_, errs["Unconfirmed"] = s.Unconfirmed(ctx, alice, epoch, 1)
	_, errs["HandedOut"] = s.HandedOut(ctx, alice, epoch, 1)
	errs["LogRecalls"] = s.LogRecalls(ctx, []memory.LoggedRecall{newRecall(alice, 0)})
	_, errs["ListRecalls"] = s.ListRecalls(ctx, db.RecallFilter{Owner: alice, Limit: 1})
	_, errs["PurgeRecalls"] = s.PurgeRecalls(ctx, epoch, 1)
	errs["Touch"] = s.Touch(ctx, []db.Touch{{Owner: alice, ID: id, Count: 1, At: epoch}})
	_, errs["ClaimVectors"] = s.ClaimVectors(ctx, []string{id}, epoch, epoch)
	_, errs["ClaimDueVectors"] = s.ClaimDueVectors(ctx, epoch, epoch, 1)
	errs["FinishVectors"] = s.FinishVectors(ctx, []db.VectorTask{{Memory: memory.Memory{ID: id}}}, epoch)
	errs["RetryVectors"] = s.RetryVectors(ctx, []db.VectorRetry{{ID: id, Due: epoch}})
	errs["CreateKey"] = s.CreateKey(ctx, memory.Key{
		ID:        id,
		Hash:      id,
		AppID:     "app",
		Role:      memory.RoleRead,
		CreatedAt: epoch,
	})
	_, errs["KeyByHash"] = s.KeyByHash(ctx, id)
	_, errs["Key"] = s.Key(ctx, id)
	_, errs["ListKeys"] = s.ListKeys(ctx, db.KeyFilter{Limit: 1})
	errs["RevokeKey"] = s.RevokeKey(ctx, id, "", epoch)
	_, errs["Stats"] = s.Stats(ctx, "app")
	_, errs["ShelfLives"] = s.ShelfLives(ctx, alice, epoch)
	_, errs["Usage"] = s.Usage(ctx, "app", db.Usage{Users: 1})
	_, errs["Users"] = s.Users(ctx, db.UserFilter{AppID: "app", Limit: 1})
	_, errs["ModeOf"] = s.ModeOf(ctx, alice, "")
	_, errs["ExportUserModes"] = s.ExportUserModes(ctx, db.Extent{AppID: "app", Limit: 1}, nil)
	_, errs["UserHoldings"] = s.UserHoldings(ctx, alice)
	_, errs["VectorBacklog"] = s.VectorBacklog(ctx, []time.Time{epoch})
	_, errs["Export"] = s.Export(ctx, db.ExportPage{AppID: "app", Limit: 1})
	_, errs["Recorded"] = s.Recorded(ctx, alice, []string{id})
	maps.Copy(errs, everyExported(ctx, s))
	maps.Copy(errs, everyMaintenance(ctx, s))
	maps.Copy(errs, everyErasure(ctx, s))
	maps.Copy(errs, everyMerge(ctx, s))
	maps.Copy(errs, everyAnnouncement(ctx, s))
	maps.Copy(errs, everyConversation(ctx, s))
	maps.Copy(errs, everyTimeline(ctx, s))
	maps.Copy(errs, everyInstruction(ctx, s))
	maps.Copy(errs, everySkill(ctx, s))
	maps.Copy(errs, everyFile(ctx, s))
	maps.Copy(errs, everyConsolidation(ctx, s))
	maps.Copy(errs, everyProfile(ctx, s))
	errs["Migrate"] = s.Migrate(ctx)
	errs["Ping"] = s.Ping(ctx)
	return errs
}

func endedContext(t *testing.T, s db.Store) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithDeadline(t.Context(), epoch.AddDate(-10, 0, 0))
	defer stop()
	for ctx, cause := range map[context.Context]error{canceled: context.Canceled, late: context.DeadlineExceeded} {
		for method, err := range every(ctx, s) {
			if !memory.IsKind(err, memory.KindUnavailable) || !errors.Is(err, cause) {
				t.Errorf("%s with an ended context: got %v, want an error of kind unavailable caused by %v", method, err, cause)
			}
		}
	}
	for method, err := range every(t.Context(), s) {
		if err != nil && !memory.IsKind(err, memory.KindNotFound) {
			t.Errorf("%s afterwards: %v", method, err)
		}
	}
}

func closed(t *testing.T, s db.Store) {
	must(t, s.Close())
	for method, err := range every(t.Context(), s) {
		if !memory.IsKind(err, memory.KindUnavailable) && !slices.Contains([]string{"Migrate"}, method) {
			t.Errorf("%s of a closed store: got %v, want an error of kind unavailable", method, err)
		}
		if method == "Migrate" && err == nil {
			t.Error("Migrate of a closed store succeeded")
		}
	}
	must(t, s.Close())
}

// touchesAndClaimsMix runs concurrent batches that lock many rows in different
// orders. They must not deadlock.
func touchesAndClaimsMix(t *testing.T, s db.Store) {
	var all []memory.Memory
	for i := range 200 {
		all = append(all, newMemory(alice, describe(i)))
	}
	insert(t, s, time.Time{}, all...)
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	var group errgroup.Group
	for worker := range 6 {
		order := [][]memory.Memory{all, backwards}[worker%2]
		group.Go(func() error {
			for round := range 5 {
				var touches []db.Touch
				for _, m := range order {
					touches = append(touches, db.Touch{Owner: m.Owner, ID: m.ID, Count: 1, At: after(round)})
				}
				if err := s.Touch(t.Context(), touches); err != nil {
					return err
				}
				tasks, err := s.ClaimVectors(t.Context(), ids(order), after(1), after(2))
				if err != nil {
					return err
				}
				if err := s.FinishVectors(t.Context(), tasks, after(2)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, group.Wait())
	m, err := s.Memory(t.Context(), "app", all[0].ID)
	must(t, err)
	wantSame(t, "touches", m.AccessCount, 30)
	wantStates(t, s, map[memory.VectorState]int{memory.VectorSynced: 200})
}
