package dbtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func purgeable(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: "other", UserID: "bob"}
	var want []memory.Memory
	for i := range 6 {
		m := newMemory([]memory.Owner{alice, bob}[i%2], describe(i))
		insert(t, s, time.Time{}, m)
		want = append(want, bare(forgotten(t, s, m, after(10-i))))
	}
	slices.Reverse(want) // oldest first
	waiting := newMemory(alice, "not removed yet")
	restored := newMemory(alice, "restored")
	replaced := newMemory(alice, "replaced")
	insert(t, s, time.Time{}, waiting, restored, replaced)
	waiting.Status, waiting.Revision = memory.Forgotten, 2
	update(t, s, waiting)
	restored = forgotten(t, s, restored, after(1))
	restored.Status, restored.Revision = memory.Active, 3
	replaced = forgotten(t, s, replaced, after(1))
	replaced.Status = memory.Superseded
	update(t, s, restored, replaced)

	for before, n := range map[int]int{5: 0, 6: 1, 8: 3, 99: 6} {
		got, err := s.Purgeable(t.Context(), after(before), 100)
		must(t, err)
		wantSame(t, "purgeable", got, want[:n])
	}
	got, err := s.Purgeable(t.Context(), after(99), 2)
	must(t, err)
	wantSame(t, "limited", got, want[:2])
}

func purge(t *testing.T, s db.Store) {
	ctx := t.Context()
	gone := newMemory(alice, "gone")
	waiting := newMemory(alice, "waiting")
	kept := newMemory(alice, "kept")
	foreign := newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "bob's")
	insert(t, s, time.Time{}, gone, waiting, kept)
	insert(t, s, time.Time{}, foreign)
	relation := memory.Relation{From: kept.ID, To: waiting.ID, Kind: memory.Supports, CreatedAt: epoch}
	event := newEvent(gone.ID, memory.EventForgotten, epoch)
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.AddEvents(ctx, []memory.Event{event}))
		return tx.AddRelations(ctx, []memory.Relation{
			relation,
			{From: kept.ID, To: gone.ID, Kind: memory.DerivedFrom, CreatedAt: epoch},
			{From: gone.ID, To: waiting.ID, Kind: memory.Refines, CreatedAt: epoch},
		})
	}))
	forgotten(t, s, gone, after(1))
	forgotten(t, s, foreign, after(1))
	waiting.Status, waiting.Revision = memory.Forgotten, 2
	update(t, s, waiting)

	all := []string{gone.ID, waiting.ID, kept.ID, foreign.ID, memory.NewID(), "no id", ""}
	purged := newEvent(gone.ID, memory.EventPurged, after(2))
	purgeAll := func(refused error) (deleted []string) {
		t.Helper()
		err := s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
			var err error
			deleted, err = tx.Purge(ctx, all)
			must(t, err)
			must(t, tx.AddEvents(ctx, []memory.Event{purged}))
			return refused
		})
		if !errors.Is(err, refused) {
			t.Error(err)
		}
		return deleted
	}
	purgeAll(errors.New("refused"))
	_, err := s.Memory(ctx, "app", gone.ID)
	must(t, err)
	announced(t, s, db.AnnouncementFilter{AppID: "app"}, 1) // that the memory was forgotten
	wantSame(t, "deleted", purgeAll(nil), []string{gone.ID})
	if n := announcedOf(t, s, gone.ID); n > 0 {
		t.Errorf("%d announcements of a purged memory are left", n)
	}
	_, err = s.Memory(ctx, "app", gone.ID)
	wantKind(t, err, memory.KindNotFound)
	for _, m := range []memory.Memory{waiting, kept, foreign} {
		_, err := s.Memory(ctx, "app", m.ID)
		must(t, err)
	}
	relations, err := s.Relations(ctx, "app", kept.ID)
	must(t, err)
	wantSame(t, "relations left", relations, []memory.Relation{relation})
	events, err := s.History(ctx, "app", gone.ID)
	must(t, err)
	wantSame(t, "the history of a purged memory", events, []memory.Event{event, purged})
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		deleted, err := tx.Purge(ctx, nil)
		wantSame(t, "no ids", deleted, []string{})
		return err
	}))
}

// announcedOf counts the announcements of alice that have an id, without that of a purge.
func announcedOf(t *testing.T, s db.Store, id string) (n int) {
	t.Helper()
	list, err := s.Announced(t.Context(), db.AnnouncementFilter{AppID: alice.AppID, Limit: memory.MaxPage})
	must(t, err)
	for _, a := range list {
		if strings.Contains(string(a.Data), id) && !strings.Contains(string(a.Data), `"purged"`) {
			n++
		}
	}
	return n
}
