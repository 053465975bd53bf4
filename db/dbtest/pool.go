package dbtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// contribute shares a memory, n seconds after epoch, and returns the entry that the store holds.
func contribute(t *testing.T, s db.Store, original memory.Memory, n int) (held memory.Pooled, fresh bool) {
	t.Helper()
	pool := memory.PoolOf(original.AppID)
	copied := newMemory(pool, original.Content)
	must(t, s.InUser(t.Context(), pool, func(ctx context.Context, tx db.UserTx) (err error) {
		held, fresh, err = tx.AddPooled(ctx, memory.Pooled{
			ID: copied.ID, Owner: original.Owner, AgentID: original.AgentID, MemoryID: original.ID, PromotedAt: after(n),
			KeyID: "key",
		})
		if err == nil && fresh {
			err = tx.Insert(ctx, []memory.Memory{copied}, time.Time{})
		}
		return err
	}))
	return held, fresh
}

// openOf lists the open entries of an app, newest first, one by one.
func openOf(t *testing.T, s db.Store, appID string) (open []memory.Pooled) {
	t.Helper()
	f := db.PoolFilter{AppID: appID, Limit: 1}
	for {
		page, err := s.ListPooled(t.Context(), f)
		must(t, err)
		if len(page) == 0 {
			return open
		}
		open = append(open, page[0].Pooled)
		wantSame(t, "the memory of an entry", page[0].Memory.ID, page[0].Pooled.ID)
		f.Before = &db.Position{At: page[0].PromotedAt, ID: page[0].Pooled.ID}
	}
}

// poolLives shares each memory once, hides copies of what was forgotten, and no memory of the pool by its id alone.
func poolLives(t *testing.T, s db.Store) {
	ctx := t.Context()
	tea, jazz := newMemory(alice, "tea"), newMemory(alice, "jazz")
	snow := newMemory(bob, "snow")
	insert(t, s, time.Time{}, tea, jazz)
	insert(t, s, time.Time{}, snow)
	ofTea, fresh := contribute(t, s, tea, 1)
	wantSame(t, "fresh", fresh, true)
	again, fresh := contribute(t, s, tea, 2)
	wantSame(t, "shared again", []any{again, fresh}, []any{ofTea, false})
	ofJazz, _ := contribute(t, s, jazz, 3)
	ofSnow, _ := contribute(t, s, snow, 4)
	wantSame(t, "open", openOf(t, s, "app"), []memory.Pooled{ofSnow, ofJazz, ofTea})
	copied, err := s.ListPooled(ctx, db.PoolFilter{AppID: "app", UserID: alice.UserID, Memory: jazz.ID, Limit: 5})
	must(t, err)
	if len(copied) != 1 || copied[0].Pooled != ofJazz {
		t.Errorf("the copy of a memory: %+v", copied)
	}
	if _, err := s.Memory(ctx, "app", ofTea.ID); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("a memory of the pool by its id: %v", err)
	}
	owners, err := s.Owners(ctx, memory.Owner{}, 10)
	must(t, err)
	wantSame(t, "owners", owners, []memory.Owner{alice, bob})
	users, err := s.Users(ctx, db.UserFilter{AppID: "app", Limit: 10})
	must(t, err)
	wantSame(t, "users", len(users), 2)

	tea.Status, tea.Revision = memory.Forgotten, 2
	jazz.Status, jazz.Faded, jazz.Revision = memory.Forgotten, true, 2
	update(t, s, tea, jazz)
	wantSame(t, "open without what was forgotten", openOf(t, s, "app"), []memory.Pooled{ofSnow, ofJazz})
	found, err := s.OpenPooled(ctx, "app", []string{ofTea.ID, ofJazz.ID, snow.ID, "no id"})
	must(t, err)
	wantSame(t, "open by id", found, map[string]memory.Pooled{ofJazz.ID: ofJazz})
	copies, err := s.CopiesOf(ctx, alice, []string{tea.ID, snow.ID})
	must(t, err)
	wantSame(t, "copies", copies, []memory.Pooled{ofTea})
	err = s.InUser(ctx, memory.PoolOf("app"), func(ctx context.Context, tx db.UserTx) error {
		_, _, err := tx.AddPooled(ctx, memory.Pooled{
			ID: memory.NewID(), Owner: alice, MemoryID: memory.NewID(), PromotedAt: after(5),
		})
		return err
	})
	if !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("sharing a memory that is gone: %v", err)
	}
	exported, err := s.ExportPooled(ctx, db.Extent{AppID: "app", Limit: 2}, &ofTea)
	must(t, err)
	wantSame(t, "exported after the first", exported, []memory.Pooled{ofJazz, ofSnow})
}

// poolErased deletes the copies of a contributor once they are not being pushed, with the rest of the user, or removes
// who contributed them.
func poolErased(t *testing.T, s db.Store) {
	ctx := t.Context()
	tea, snow := newMemory(alice, "tea"), newMemory(bob, "snow")
	insert(t, s, time.Time{}, tea)
	insert(t, s, time.Time{}, snow)
	ofTea, _ := contribute(t, s, tea, 1)
	ofSnow, _ := contribute(t, s, snow, 2)
	_, err := s.ClaimVectors(ctx, []string{ofTea.ID}, after(3), after(60))
	must(t, err)
	e, err := s.BeginErasure(ctx, alice, after(10), after(20), eraseUser{})
	must(t, err)
	err = s.InUser(ctx, memory.PoolOf("app"), func(ctx context.Context, tx db.UserTx) error {
		_, _, err := tx.AddPooled(ctx, memory.Pooled{
			ID: memory.NewID(), Owner: alice, MemoryID: tea.ID, PromotedAt: after(11),
		})
		return err
	})
	if !errors.Is(err, db.ErrErasing) {
		t.Errorf("sharing during the erasure: %v", err)
	}
	some, err := s.EraseSome(ctx, e, db.EraseStep{Now: after(30), Limit: 10})
	must(t, err)
	wantSame(t, "while it is pushed", []any{some.Deleted.Memories, some.Left}, []any{1, 1})
	if _, err := s.EndErasure(ctx, e, after(40), 0); !errors.Is(err, db.ErrLeft) {
		t.Errorf("ending it while a copy is left: %v", err)
	}
	some, err = s.EraseSome(ctx, e, db.EraseStep{Now: after(70), Limit: 10})
	must(t, err)
	wantSame(t, "afterwards", []any{some.Deleted.Memories, some.Left}, []any{1, 0})
	for _, of := range []struct {
		owner memory.Owner
		want  []string
	}{{alice, []string{ofTea.ID}}, {bob, nil}} {
		copies, err := s.ErasedCopies(ctx, of.owner)
		must(t, err)
		wantSame(t, "erased copies of "+of.owner.UserID, copies, of.want)
	}
	_, err = s.EndErasure(ctx, e, after(80), 0)
	must(t, err)
	copies, err := s.ErasedCopies(ctx, alice)
	must(t, err)
	wantSame(t, "erased copies after the end", copies, []string(nil))
	for _, since := range []struct {
		at   time.Time
		want error
	}{{after(79), db.ErrErased}, {after(80), nil}} {
		err := s.InUser(ctx, memory.PoolOf("app"), func(ctx context.Context, tx db.UserTx) error {
			_, _, err := tx.RestorePooled(ctx, ofTea, since.at)
			return err
		})
		if !errors.Is(err, since.want) {
			t.Errorf("restored since %s: %v", since.at, err)
		}
	}

	e, err = s.BeginErasure(ctx, bob, after(90), after(100), eraseUser{})
	must(t, err)
	_, err = s.EraseSome(ctx, e, db.EraseStep{Now: after(100), Limit: 10, Orphan: true})
	must(t, err)
	_, err = s.EndErasure(ctx, e, after(110), 0)
	must(t, err)
	orphan := memory.Pooled{ID: ofSnow.ID, Owner: memory.PoolOf("app"), PromotedAt: ofSnow.PromotedAt}
	wantSame(t, "orphaned", openOf(t, s, "app"), []memory.Pooled{orphan})
}

// exercisePool runs every query about the pool.
func exercisePool(t *testing.T, s db.Store, owner memory.Owner, memories []string) {
	t.Helper()
	ctx := t.Context()
	original := newMemory(owner, "shared by the owner")
	insert(t, s, time.Time{}, original)
	entry, _ := contribute(t, s, original, 1)
	openOf(t, s, owner.AppID)
	for _, of := range []string{"", original.ID} {
		_, err := s.ListPooled(ctx, db.PoolFilter{AppID: owner.AppID, UserID: owner.UserID, Memory: of, Limit: 5})
		must(t, err)
	}
	_, err := s.OpenPooled(ctx, owner.AppID, []string{entry.ID})
	must(t, err)
	_, err = s.CopiesOf(ctx, owner, append(memories, original.ID))
	must(t, err)
	_, err = s.ExportPooled(ctx, db.Extent{AppID: owner.AppID, Limit: 5}, &entry)
	must(t, err)
	must(t, s.InUser(ctx, memory.PoolOf(owner.AppID), func(ctx context.Context, tx db.UserTx) error {
		if _, _, err := tx.RestorePooled(ctx, entry, epoch); err != nil {
			return err
		}
		return tx.OrphanPooled(ctx, []string{memory.NewID()})
	}))
}
