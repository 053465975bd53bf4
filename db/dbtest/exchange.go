package dbtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// exported reads all pages of an export.
func exported(t *testing.T, s db.Store, p db.ExportPage) (all []db.Record) {
	t.Helper()
	for {
		page, err := s.Export(t.Context(), p)
		must(t, err)
		all = append(all, page...)
		if len(page) < p.Limit {
			return all
		}
		last := page[len(page)-1].Memory
		p.After = &db.ExportPlace{UserID: last.UserID, Position: db.Position{At: last.CreatedAt, ID: last.ID}}
	}
}

func export(t *testing.T, s db.Store) {
	want := []db.Record{}
	// In byte order: capitals before small letters, other scripts last.
	for _, user := range []string{"Zoe", "alice", "用户"} {
		owner := memory.Owner{AppID: "app", UserID: user}
		var all []memory.Memory
		for i := range 7 {
			m := newMemory(owner, describe(i))
			m.CreatedAt, m.Status = after(i/3), memory.Statuses[i%4] // some share an instant
			all = append(all, m)
		}
		insert(t, s, time.Time{}, all...)
		slices.SortFunc(all, func(a, b memory.Memory) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		})
		events := []memory.Event{
			newEvent(all[2].ID, memory.EventCreated, after(1)), newEvent(all[2].ID, memory.EventUpdated, after(2)),
		}
		purged := newEvent(memory.NewID(), memory.EventPurged, epoch)
		must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.AddEvents(ctx, []memory.Event{events[1], purged, events[0]})
		}))
		forward := memory.Relation{From: all[6].ID, To: all[0].ID, Kind: memory.DerivedFrom, CreatedAt: after(9)}
		back := memory.Relation{From: all[1].ID, To: all[6].ID, Kind: memory.Supports, CreatedAt: after(8)}
		// same instant as back: ordered by id
		tie := memory.Relation{From: all[3].ID, To: all[4].ID, Kind: memory.Refines, CreatedAt: after(8)}
		must(t, relate(t, s, owner, forward, back, tie))
		for i, m := range all {
			r := db.Record{Memory: m}
			switch i {
			case 2:
				r.Events = events
			case 4:
				r.Relations = []memory.Relation{tie}
			case 6:
				r.Relations = []memory.Relation{back, forward}
			}
			want = append(want, r)
		}
	}
	insert(t, s, time.Time{}, newMemory(memory.Owner{AppID: "other", UserID: "alice"}, "another app's"))
	for _, limit := range []int{1, 3, 7, 500} {
		what := fmt.Sprintf("%d a page", limit)
		wantSame(t, what, exported(t, s, db.ExportPage{AppID: "app", Limit: limit, Embeddings: true}), want)
		wantSame(t, "one user, "+what, exported(t, s, db.ExportPage{
			AppID:      "app",
			UserID:     "alice",
			Limit:      limit,
			Embeddings: true,
		}), want[7:14])
	}
	for _, r := range exported(t, s, db.ExportPage{AppID: "app", Limit: 500}) {
		if r.Memory.Embedding != nil {
			t.Fatal("the export has an embedding that was not requested")
		}
	}
	wantSame(t, "unknown app", exported(t, s, db.ExportPage{AppID: "unknown", Limit: 5}), []db.Record{})
}

func recorded(t *testing.T, s db.Store) {
	a := newMemory(alice, "a")
	b := newMemory(alice, "b")
	foreign := newMemory(memory.Owner{AppID: "app", UserID: "bob"},
		"c")
	insert(t, s, time.Time{}, a, b)
	insert(t, s, time.Time{}, foreign)
	created, purged := newEvent(a.ID, memory.EventCreated, epoch), newEvent(memory.NewID(), memory.EventPurged, epoch)
	theirs := newEvent(foreign.ID, memory.EventCreated, epoch)
	relation := memory.Relation{From: a.ID, To: b.ID, Kind: memory.Refines, CreatedAt: epoch}
	must(t, relate(t, s, alice, relation))
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddEvents(ctx, []memory.Event{created, purged})
	}))
	must(t, s.InUser(t.Context(), foreign.Owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddEvents(ctx, []memory.Event{theirs})
	}))
	want := map[string]db.Record{
		a.ID:            {Memory: bare(a), Events: []memory.Event{created}, Relations: []memory.Relation{relation}},
		b.ID:            {Memory: bare(b), Relations: []memory.Relation{relation}},
		purged.MemoryID: {Events: []memory.Event{purged}},
	}
	asked := []string{a.ID, b.ID, foreign.ID, purged.MemoryID, memory.NewID(), "no id"}
	got, err := s.Recorded(t.Context(), alice, asked)
	must(t, err)
	wantSame(t, "recorded", got, want)
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		got, err := tx.Recorded(ctx, asked)
		wantSame(t, "recorded, within a transaction", got, want)
		return err
	}))
	got, err = s.Recorded(t.Context(), alice, nil)
	must(t, err)
	wantSame(t, "nothing", got, map[string]db.Record{})
}

func restore(t *testing.T, s db.Store) {
	put := func(memories ...memory.Memory) error {
		return s.InUser(t.Context(), memories[0].Owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.Restore(ctx, memories, after(100))
		})
	}
	active := newMemory(alice, "active")
	old := newMemory(alice, "superseded")
	bad := newMemory(alice, "bad")
	active.UpdatedAt = after(5)
	active.LastAccessedAt = after(7)
	active.AccessCount = 3
	old.Status = memory.Superseded
	old.SupersededBy = active.ID
	old.Embedding = nil
	old.EmbeddingModel = ""
	old.Metadata, old.Tags = json.RawMessage(`{"z":1,"a":[1.50,"<&>"]}`), nil
	must(t, put(active, old))
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		got, err := tx.Memories(ctx, []string{active.ID, old.ID})
		slices.SortFunc(got, func(a, b memory.Memory) int { return cmp.Compare(a.Content, b.Content) })
		wantSame(t, "restored", got, []memory.Memory{active, old})
		return err
	}))
	stats, err := s.Stats(t.Context(), "app")
	must(t, err)
	wantSame(t, "vector states", stats.Vectors, map[memory.VectorState]int{
		memory.VectorPending: 1, memory.VectorAbsent: 1,
	})
	backlog, err := s.VectorBacklog(t.Context(), nil)
	must(t, err)
	wantSame(t, "oldest", backlog.Oldest, after(100))
	tasks, err := s.ClaimDueVectors(t.Context(), after(100), after(160), 10)
	must(t, err)
	if len(tasks) != 1 || tasks[0].Claim == 1 || tasks[0].Memory.ID != active.ID {
		t.Errorf("claimed %+v: want the active one, not for the first time", tasks)
	}

	wantKind(t, put(newMemory(alice, "new"), active), memory.KindConflict)
	theirs := newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "bob's")
	theirs.ID = active.ID
	wantKind(t, put(theirs), memory.KindConflict)
	bad.AccessCount = -1
	wantKind(t, put(bad), memory.KindInvalid)
	bad.AccessCount, bad.SupersededBy = 0, active.ID
	wantKind(t, put(bad), memory.KindInvalid)
	for _, stranger := range []memory.Owner{theirs.Owner, {AppID: "another app", UserID: alice.UserID}} {
		replaced := newMemory(stranger, "replaced by a memory of alice")
		replaced.Status, replaced.SupersededBy = memory.Superseded, active.ID
		wantKind(t, put(replaced), memory.KindInvalid)
	}
	wantSame(t, "memories after refusals", len(exported(t, s, db.ExportPage{AppID: "app", Limit: 500})), 2)
}

// exerciseExchange is Exercise for exports and imports.
func exerciseExchange(t *testing.T, s db.Store, owner memory.Owner, known []string) {
	t.Helper()
	place := &db.ExportPlace{UserID: owner.UserID, Position: db.Position{At: after(10), ID: memory.NewID()}}
	for _, p := range []db.ExportPage{
		{},
		{After: place},
		{UserID: owner.UserID},
		{UserID: owner.UserID, After: place, Embeddings: true},
	} {
		p.AppID, p.Limit = owner.AppID, 5
		_, err := s.Export(t.Context(), p)
		must(t, err)
	}
	_, err := s.Recorded(t.Context(), owner, known)
	must(t, err)
	former := newMemory(owner, "restored, and superseded")
	former.Status, former.SupersededBy = memory.Superseded, memory.NewID()
	must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.Restore(ctx, []memory.Memory{newMemory(owner, "restored"), former}, after(2000))
	}))
}
