package dbtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// indexes checks that the latest index is kept as long as the changes after it are known.
func indexes(t *testing.T, s db.Store) {
	stored := func(what string, revision int64, data string) {
		t.Helper()
		got, bytes, err := s.Index(t.Context(), alice)
		must(t, err)
		if got != revision || string(bytes) != data {
			t.Errorf("%s: %q at revision %d is stored, want %q at %d", what, bytes, got, data, revision)
		}
	}
	stored("at first", 0, "")
	a := newMemory(alice, "a")
	insert(t, s, time.Time{}, a)
	revision := changesOf(t, s, 0).Revision
	must(t, s.SaveIndex(t.Context(), alice, revision, []byte("a\x00\xff")))
	stored("one", revision, "a\x00\xff")
	must(t, s.SaveIndex(t.Context(), alice, revision, []byte("in another format")))
	stored("after one of the same revision", revision, "in another format")
	must(t, s.SaveIndex(t.Context(), alice, revision, []byte("a\x00\xff")))
	must(t, s.SaveIndex(t.Context(), alice, revision-1, []byte("earlier")))
	stored("after an earlier one", revision, "a\x00\xff")
	must(t, s.SaveIndex(t.Context(), alice, revision+1, []byte("later")))
	stored("after a later one", revision+1, "later")
	must(t, s.SaveIndex(t.Context(), memory.Owner{AppID: alice.AppID, UserID: "other"}, 9, []byte("other")))
	stored("after one of another owner", revision+1, "later")

	a.Status, a.Revision = memory.Forgotten, 2
	insert(t, s, time.Time{}, newMemory(alice, "b"))
	update(t, s, a)
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: a, Remove: true}}, after(1)))
	last := changesOf(t, s, revision).Revision
	must(t, s.SaveIndex(t.Context(), alice, last-1, []byte("with the purged memory")))
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		insert := tx.Insert(ctx, []memory.Memory{newMemory(alice, "c")}, time.Time{})
		_, err := tx.Purge(ctx, []string{a.ID})
		return errors.Join(insert, err)
	}))
	stored("after a purge of what the index holds", 0, "")
	must(t, s.SaveIndex(t.Context(), alice, last-1, []byte("with the purged memory")))
	stored("with a purged memory", 0, "")
	must(t, s.SaveIndex(t.Context(), alice, last, []byte("without it")))
	stored("without the purged memory", last, "without it")

	e, err := s.BeginErasure(t.Context(), alice, after(4), after(5), eraseUser{alice.AppID, alice.UserID})
	must(t, err)
	if err := s.SaveIndex(t.Context(), alice, last+1, []byte("late")); !errors.Is(err, db.ErrErasing) {
		t.Errorf("an index of a user who is being erased: %v", err)
	}
	_, err = s.EraseSome(t.Context(), e, db.EraseStep{Now: after(4), Limit: 10})
	must(t, err)
	stored("after an erasure", 0, "")
	_, err = s.EndErasure(t.Context(), e, after(5), 0)
	must(t, err)
	must(t, s.SaveIndex(t.Context(), alice, last, []byte("late")))
	stored("after a late write", 0, "")
}
